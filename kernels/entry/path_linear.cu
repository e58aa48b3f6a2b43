// Path tracing of plain scenes, to sums of light and first surfaces.
#define KernelScene Scene
#define BLOCKS 5
namespace polyfly {
#include "path_linear_entries.cuh"
}  // namespace polyfly
