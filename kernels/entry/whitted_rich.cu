// Whitted's ray tracing of rich scenes of any size, in arrays.
#define KernelScene RichScene
#define BLOCKS 6
namespace polyfly {
#include "whitted_entries.cuh"
}  // namespace polyfly
