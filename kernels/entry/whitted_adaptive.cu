// Whitted's ray tracing of scenes that are sampled adaptively, which are rich ones.
#define KernelScene RichScene
#define BLOCKS 5
#define KernelIntegrator Whitted
namespace polyfly {
#include "adaptive_entries.cuh"
}  // namespace polyfly
