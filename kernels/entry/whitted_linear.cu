// Whitted's ray tracing of plain scenes of any size, to sums of light and first surfaces.
#define KernelScene Scene
#define BLOCKS 5
namespace polyfly {
#include "whitted_linear_entries.cuh"
}  // namespace polyfly
