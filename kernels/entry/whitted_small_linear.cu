// Whitted's ray tracing of scenes of few bodies, to sums of light and first surfaces.
#define KernelScene SmallScene
#define BLOCKS 7
namespace polyfly {
#include "whitted_linear_entries.cuh"
}  // namespace polyfly
