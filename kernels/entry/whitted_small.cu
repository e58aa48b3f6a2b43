// Whitted's ray tracing of scenes of few bodies, in the kernels' parameters.
#define KernelScene SmallScene
#define BLOCKS 7
namespace polyfly {
#include "whitted_entries.cuh"
}  // namespace polyfly
