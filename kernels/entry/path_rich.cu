// Path tracing of rich scenes.
#define KernelScene RichScene
#define KernelIntegrator PathTracing
namespace polyfly {
#include "path_entries.cuh"
#include "adaptive_entries.cuh"
}  // namespace polyfly
