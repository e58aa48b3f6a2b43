// Whitted's ray tracing of rich scenes of any size, in arrays.
#define KernelScene RichScene
#define KernelIntegrator Whitted
namespace polyfly {
#include "whitted_entries.cuh"
#include "adaptive_entries.cuh"
}  // namespace polyfly
