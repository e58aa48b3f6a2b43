// Path tracing of rich scenes.
#define KernelScene RichScene
#define BLOCKS 7
namespace polyfly {
#include "path_entries.cuh"
}  // namespace polyfly
