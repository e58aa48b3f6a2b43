// Path tracing of plain scenes.
#define KernelScene Scene
namespace polyfly {
#include "path_entries.cuh"
}  // namespace polyfly
