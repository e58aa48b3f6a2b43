// Path tracing of plain scenes.
#define KernelScene Scene
#define BLOCKS 5
namespace polyfly {
#include "path_entries.cuh"
}  // namespace polyfly
