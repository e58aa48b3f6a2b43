// Whitted's ray tracing of rich scenes of any size, in arrays.
#define KernelScene RichScene
namespace polyfly {
#include "whitted_entries.cuh"
}  // namespace polyfly
