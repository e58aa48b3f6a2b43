// Whitted's ray tracing of scenes that are sampled adaptively, which are rich ones.
#define KernelScene RichScene
#define KernelIntegrator Whitted
namespace polyfly {
#include "adaptive_entries.cuh"
}  // namespace polyfly
