// Whitted's ray tracing of plain scenes of any size, in arrays.
#define KernelScene Scene
#define BLOCKS 5
namespace polyfly {
#include "whitted_entries.cuh"
}  // namespace polyfly
