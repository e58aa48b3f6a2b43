// Path tracing of rich scenes.
#define KernelScene RichScene
namespace polyfly {
#include "path_entries.cuh"
}  // namespace polyfly
