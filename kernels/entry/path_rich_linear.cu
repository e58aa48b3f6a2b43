// Path tracing of rich scenes, to sums of light and first surfaces.
#define KernelScene RichScene
#define BLOCKS 7
namespace polyfly {
#include "path_linear_entries.cuh"
}  // namespace polyfly
