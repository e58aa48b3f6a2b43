// A library of Open Image Denoise's interface (the functions of oidn.h, version 2, that polyfly calls), which mixes its
// images so that a test can tell what it was given. With POLYFLY_STUB=oidn:fail it fails at each picture.
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct {
  const char* name;
  float* data;
  size_t width, height;
} images[4] = {{"color"}, {"albedo"}, {"normal"}, {"output"}};
static bool hdr, committed, failed;

void* oidnNewDevice(int type) { return type == 1 ? (void*)images : NULL; }
void oidnSetDeviceInt(void* device, const char* name, int value) {}
void oidnSetDeviceBool(void* device, const char* name, bool value) {}
void oidnCommitDevice(void* device) { committed = true; }
void* oidnNewFilter(void* device, const char* type) { return committed && !strcmp(type, "RT") ? device : NULL; }
void oidnSetSharedFilterImage(void* filter, const char* name, void* data, int format, size_t width, size_t height,
                              size_t offset, size_t pixel_stride, size_t row_stride) {
  for (int i = 0; i < 4; ++i) {
    if (strcmp(images[i].name, name) || format != 3) continue;
    images[i].data = data;
    images[i].width = width;
    images[i].height = height;
  }
}
void oidnSetFilterBool(void* filter, const char* name, bool value) { hdr |= value && !strcmp(name, "hdr"); }
void oidnCommitFilter(void* filter) {}
void oidnExecuteFilter(void* filter) {
  const char* behaviour = getenv("POLYFLY_STUB");
  failed = !hdr || (behaviour && !strcmp(behaviour, "oidn:fail"));
  for (size_t i = 0; i < 3 * images[3].width * images[3].height && !failed; ++i)
    images[3].data[i] = 0.5f * images[0].data[i] + 0.25f * images[1].data[i] + 0.125f * images[2].data[i];
}
int oidnGetDeviceError(void* device, const char** words) {
  *words = "the stub is out of paint";
  const int code = failed ? 4 : 0;
  failed = false;
  return code;
}
void oidnReleaseFilter(void* filter) {}
void oidnReleaseDevice(void* device) {}
