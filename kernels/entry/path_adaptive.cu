// Path tracing of scenes that are sampled adaptively, which are rich ones.
#define KernelScene RichScene
#define KernelIntegrator PathTracing
namespace polyfly {
#include "adaptive_entries.cuh"
}  // namespace polyfly
