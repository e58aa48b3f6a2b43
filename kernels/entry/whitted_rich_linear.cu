// Whitted's ray tracing of rich scenes of any size, to sums of light and first surfaces.
#define KernelScene RichScene
#define BLOCKS 6
namespace polyfly {
#include "whitted_linear_entries.cuh"
}  // namespace polyfly
