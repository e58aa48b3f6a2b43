// A libcuda of our own making for machines without a GPU. Its launches run the GPU's own text on one lane of the CPU;
// streams are queues that nothing takes from until somebody waits, so that a read that comes too early gets nothing.
//
// POLYFLY_STUB chooses what is wrong with it: old, init, empty, ptx, post (its post steps), denoise (its denoiser), cells
// (its grids), tree (its trees), lost:N (the N-th launch), memory:BYTES (all there is).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#define POLYFLY_LANES 1
namespace polyfly {
namespace {
#include "../../kernels/drivers/depth_first.cuh"
#include "../../kernels/modules.cuh"
#include "../../kernels/post/pixel.cuh"
// Pixels of a thread, as in kernels/entry/denoise.cuh.
constexpr int PIECE = 1;
#include "../../kernels/post/steady.cuh"
#include "../../kernels/post/yuv.cuh"
#include "../../kernels/shapes/cells.cuh"
namespace tree {
#include "../../kernels/shapes/tree.cuh"
}

template <class Integrator, class S>
void trace_pixels(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int first,
                  int end, Counts* counts) {
  std::vector<PendingRay> stack(MAX_DEPTH);
  const int across = tiles_across(scene.constants, launch);
  for (int q = first; q < end; ++q) {
    int x, y;
    pixel_at(launch, q, across, x, y);
    if (x >= scene.constants.width || y >= scene.constants.height) continue;
    RadianceSum sum = {0, 0, 0};
    RayCounts here = {0, 0};
    for (int i = 0; i < launch.samples_per_pixel; ++i)
      trace_sample<Integrator>(scene, frame, x, y, i * launch.stride + launch.first_sample, stack.data(), sum, here);
    store_pixel(scene, film, film.sums, mean_scale(launch.samples_per_pixel), x, y, sum);
    Counts& to = counts[q % COUNTERS];
    to.rays += here.rays;
    to.shadow_rays += here.shadow_rays;
    to.busiest = here.rays > to.busiest ? here.rays : to.busiest;
  }
}

// Adaptive sampling by the protocol of kernels/entry/gpu.cuh: lists of pixels, queue[1] of them now and queue[3] next.
template <class Integrator, class S, class Do>
void each_pixel(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int first,
                int end, Counts* counts, Do work) {
  std::vector<PendingRay> stack(MAX_DEPTH);
  const int across = tiles_across(scene.constants, launch);
  for (int q = first; q < end; ++q) {
    int x, y;
    pixel_at(launch, q, across, x, y);
    if (x >= scene.constants.width || y >= scene.constants.height) continue;
    OnePixel<Integrator, S> pixel = {scene, frame, launch, film, stack.data(), x, y, {0, 0, 0}, {0, 0}};
    work(pixel);
    counts->rays += pixel.counts.rays;
    counts->shadow_rays += pixel.counts.shadow_rays;
  }
}
template <class S>
void judge(const S& scene, const Launch& launch, const FilmBuffers& film, int x, int y, int taken, int error,
           int* queue) {
  const RadianceSum sum = pilot_sum(scene.constants, film, x, y);
  if (ErrorLimit::after(launch, taken).allows(error) || taken >= launch.samples_per_pixel) {
    store_adaptive(scene, launch, film, film.sums, x, y, sum, taken);
    return;
  }
  const Codes codes = sum_codes(scene, launch, sum, taken);
  film.next_active[queue[3]++] = {(u32)x | (u32)y << 16, error, {(int)codes.r, (int)codes.g, (int)codes.b}};
}
template <class Integrator, class S>
void update_active(const S& scene, const Launch& launch, const FilmBuffers& film, int taken, int* queue) {
  const int now = taken + next_round(launch, taken);
  for (int i = 0; i < queue[1]; ++i) {
    const ActivePixel one = film.active_pixels[i];
    const int x = (int)(one.pixel & 0xffffu), y = (int)(one.pixel >> 16);
    const Codes before = {Int(one.codes[0]), Int(one.codes[1]), Int(one.codes[2])};
    const Codes codes = sum_codes(scene, launch, pilot_sum(scene.constants, film, x, y), now);
    judge(scene, launch, film, x, y, now,
                (int)next_error<Integrator>(max_difference(before, codes), Int(one.error)), queue);
  }
}
template <class Integrator, class S>
void trace_active(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film, int taken,
                  int* queue, Counts* counts) {
  std::vector<PendingRay> stack(MAX_DEPTH);
  for (int i = 0; i < queue[1]; ++i) {
    const int x = (int)(film.active_pixels[i].pixel & 0xffffu), y = (int)(film.active_pixels[i].pixel >> 16);
    OnePixel<Integrator, S> pixel = {scene, frame, launch, film, stack.data(), x, y, {0, 0, 0}, {0, 0}};
    pixel.trace(taken, next_round(launch, taken), 1);
    i64* sums = film.pilot_sums + 3 * pilot_index(scene.constants, film, x, y);
    sums[0] += pixel.sum.r;
    sums[1] += pixel.sum.g;
    sums[2] += pixel.sum.b;
    counts->rays += pixel.counts.rays;
    counts->shadow_rays += pixel.counts.shadow_rays;
  }
}

template <class Integrator, class S>
void trace_feature_pixels(const S& scene, const FrameParams& frame, const Launch& launch, const FilmBuffers& film,
                          int first, int end) {
  const int across = tiles_across(scene.constants, launch);
  for (int q = first; q < end; ++q) {
    int x, y;
    pixel_at(launch, q, across, x, y);
    if (x < scene.constants.width && y < scene.constants.height)
      trace_features<Integrator>(scene, frame, launch, x, y, true,
                                 &film.features[film_index(scene.constants, film, x, y)]);
  }
}
}  // namespace
}  // namespace polyfly
using namespace polyfly;

namespace {
const int FAILED = 999, OUT_OF_MEMORY = 2, JIT_FAILED = 218, ILLEGAL_ADDRESS = 700;

bool is(const char* what) {
  const char* mode = getenv("POLYFLY_STUB");
  return mode && !strcmp(mode, what);
}
// The number after `what:`, or -1.
long number(const char* what) {
  const char* mode = getenv("POLYFLY_STUB");
  const size_t n = strlen(what);
  return mode && !strncmp(mode, what, n) && mode[n] == ':' ? atol(mode + n + 1) : -1;
}

typedef std::function<void()> Work;
struct Stream {
  std::deque<Work> work;
};
struct Event {
  Stream* on = nullptr;
  long recorded = 0, passed = 0;
};
// Makes the work of a launch, by the entry's name and its arguments.
typedef Work (*Kernel)(const std::string& name, void** arguments);
struct Module {
  Kernel kernel;
};
struct Function {
  std::string name;
  Kernel kernel;
};
std::recursive_mutex lock;
std::vector<Stream*> streams;
std::map<unsigned long long, size_t> allocated;
size_t in_use = 0;
long launches = 0;

// Does a stream's work until `done` says so, or all of it.
void advance(Stream* stream, std::function<bool()> done) {
  while (!done() && !stream->work.empty()) {
    Work work = stream->work.front();
    stream->work.pop_front();
    work();
  }
}
void wait(Event* event) {
  const long wanted = event->recorded;
  if (event->on) advance(event->on, [=] { return event->passed >= wanted; });
}

template <class T>
T argument(void** arguments, int i) {
  T value;
  memcpy(&value, arguments[i], sizeof(T));
  return value;
}

template <class Integrator, class S>
Work kernel(const std::string& name, void** a) {
  const S scene = argument<S>(a, 0);
  const FrameParams frame = argument<FrameParams>(a, 1);
  const Launch launch = argument<Launch>(a, 2);
  const FilmBuffers film = argument<FilmBuffers>(a, 3);
  const int first = argument<int>(a, 4), end = argument<int>(a, 5);
  int* queue = argument<int*>(a, 6);
  Counts* counts = argument<Counts*>(a, 7);
  if constexpr ((SceneTraits<S>::features & FEATURE_ADAPTIVE) != 0) {
    if (name == "polyfly_pilot")
      return [=] {
        each_pixel<Integrator>(scene, frame, launch, film, first, end, counts, [](auto& pixel) { pixel.pilot(); });
      };
    if (name == "polyfly_trace_active")
      return [=] { trace_active<Integrator>(scene, frame, launch, film, first, queue, counts); };
    if (name == "polyfly_update_active_after_pilot")
      return [=] {
        each_pixel<Integrator>(scene, frame, launch, film, first, end, counts, [=](auto& pixel) {
          const int error = pilot_error<Integrator>(scene.constants, film, pixel.x, pixel.y);
          judge(scene, launch, film, pixel.x, pixel.y, launch.min_samples, error, queue);
        });
      };
    if (name == "polyfly_update_active")
      return [=] { update_active<Integrator>(scene, launch, film, first, queue); };
  }
  if (name == "polyfly_features")
    return [=] { trace_feature_pixels<Integrator>(scene, frame, launch, film, first, end); };
  return [=] { trace_pixels<Integrator>(scene, frame, launch, film, first, end, counts); };
}
Work convert_kernel(void** a) {
  const u32* rgba = argument<const u32*>(a, 0);
  const int width = argument<int>(a, 1), height = argument<int>(a, 2);
  u8 *y = argument<u8*>(a, 3), *u = argument<u8*>(a, 4), *v = argument<u8*>(a, 5);
  return [=] {
    for (int by = 0; by < (height + 1) / 2; ++by)
      for (int bx = 0; bx < (width + 1) / 2; ++bx) convert_block(rgba, width, height, bx, by, y, u, v);
  };
}
template <class F>
void each(int width, int height, F pixel) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) pixel(x, y);
}
template <class F>
Work work(int width, int height, F pixel) {
  return [=] { each(width, height, pixel); };
}
// The denoiser: kernels/entry/denoise.cuh.
Work denoise_kernel(const std::string& name, void** a) {
  const auto row = [](float* picture, int channels, int width, int y) { return picture + (i64)y * channels * width; };
  const auto pointer = [=](int i) { return argument<float*>(a, i); };
  const auto number = [=](int i) { return argument<int>(a, i); };
  if (name == "polyfly_denoise_guides") {
    const Features* features = argument<const Features*>(a, 0);
    const int samples = number(1), width = number(2), height = number(3);
    float* guides = pointer(4);
    return work(width, height, [=](int x, int y) {
      guides_piece(features, samples, width, height, y, x, row(guides, DENOISE_GUIDES, width, y));
    });
  }
  if (name == "polyfly_denoise_light") {
    const DenoiseFilm film = argument<DenoiseFilm>(a, 0);
    float *guides = pointer(1), *light = pointer(5);
    const int width = number(2), first = number(3), rows = number(4);
    return work(width, rows, [=](int x, int y) {
      light_piece(film, y, row(guides, DENOISE_GUIDES, width, first + y), width, x,
                  row(light, DENOISE_LIGHT, width, first + y));
    });
  }
  if (name == "polyfly_denoise_noise" || name == "polyfly_denoise_luminance") {
    const bool is_noise = name == "polyfly_denoise_noise";
    float *light = pointer(0), *out = pointer(3);
    const int width = number(1), height = number(2);
    return work(width, height, [=](int x, int y) {
      if (is_noise)
        noise_piece(light, width, height, y, x, row(out, DENOISE_LIGHT, width, y));
      else
        luminance_piece(row(light, DENOISE_LIGHT, width, y), width, x, row(out, 1, width, y));
    });
  }
  if (name == "polyfly_smooth_variance") {
    float *light = pointer(0), *guides = pointer(1), *out = pointer(4);
    const int width = number(2), height = number(3);
    return work(width, height, [=](int x, int y) {
      smooth_piece(light, guides, width, height, y, x, row(out, DENOISE_LIGHT, width, y));
    });
  }
  if (name == "polyfly_denoise_weigh") {
    float *light = pointer(0), *guides = pointer(1), *out = pointer(5);
    const int width = number(2), height = number(3), step = number(4);
    return work(width, height, [=](int x, int y) {
      weigh_piece(light, guides, width, height, y, x, step, row(out, 1, width, y));
    });
  }
  if (name == "polyfly_denoise") {
    float *light = pointer(0), *guides = pointer(1), *weighed = pointer(2), *out = pointer(6);
    const int width = number(3), height = number(4), step = number(5);
    return work(width, height, [=](int x, int y) {
      denoise_piece(light, guides, weighed, width, height, y, x, step, row(out, DENOISE_LIGHT, width, y));
    });
  }
  if (name == "polyfly_look_up") {
    const LendingView view = argument<LendingView>(a, 0);
    const BodyMotion* motions = argument<const BodyMotion*>(a, 1);
    const SeenFrame own = argument<SeenFrame>(a, 2), other = argument<SeenFrame>(a, 3);
    float* samples = pointer(4);
    return work(view.width, view.height, [=](int x, int y) {
      look_up_piece(view, motions, own, other, y, x, row(samples, DENOISE_SAMPLES, view.width, y));
    });
  }
  if (name == "polyfly_blend") {
    float *samples = pointer(0), *light = pointer(1), *sums = pointer(5);
    const int width = number(2), height = number(3), begins = number(4);
    return work(width, height, [=](int x, int y) {
      blend_piece(samples, row(light, DENOISE_LIGHT, width, y), width, height, y, x, begins,
                  row(sums, DENOISE_SUMS, width, y));
    });
  }
  if (name == "polyfly_share") {
    float *sums = pointer(0), *light = pointer(3);
    const int width = number(1), height = number(2);
    return work(width, height, [=](int x, int y) {
      share_piece(row(sums, DENOISE_SUMS, width, y), width, x, row(light, DENOISE_LIGHT, width, y));
    });
  }
  // polyfly_denoise_clean
  const PostParams post = argument<PostParams>(a, 0);
  float *light = pointer(1), *guides = pointer(2), *image = pointer(5);
  const int width = number(3), height = number(4);
  return work(width, height, [=](int x, int y) {
    for (int c = 0; c < 3; ++c)
      image[c * ((i64)width * height) + (i64)y * width + x] =
          clean_light(row(light, DENOISE_LIGHT, width, y), row(guides, DENOISE_GUIDES, width, y), width, c, x) *
          post.gain[c];
  });
}
// The other post steps: kernels/entry/post.cuh.
Work post_kernel(const std::string& name, void** a) {
  if (name == "polyfly_resolve") {
    const PostParams post = argument<PostParams>(a, 0);
    const i64* sums = argument<const i64*>(a, 1);
    const u32* taken = argument<const u32*>(a, 2);
    const int samples = argument<int>(a, 3), width = argument<int>(a, 4), height = argument<int>(a, 5);
    const int first_row = argument<int>(a, 6), rows = argument<int>(a, 7);
    float* image = argument<float*>(a, 8);
    return [=] {
      each(width, rows, [&](int x, int y) {
        resolve_pixel(post, sums, taken, samples, width, height, first_row, image, x, y);
      });
    };
  }
  if (name == "polyfly_downsample") {
    const float* image = argument<const float*>(a, 0);
    const int width = argument<int>(a, 1), height = argument<int>(a, 2);
    float* half = argument<float*>(a, 3);
    return [=] {
      each((width + 1) / 2, (height + 1) / 2,
           [&](int x, int y) { downsample_pixel(image, width, height, half, x, y); });
    };
  }
  if (name == "polyfly_upsample") {
    const float* coarse = argument<const float*>(a, 0);
    float* fine = argument<float*>(a, 1);
    const int width = argument<int>(a, 2), height = argument<int>(a, 3);
    const float own = argument<float>(a, 4), rest = argument<float>(a, 5);
    return [=] {
      each(width, height, [&](int x, int y) { upsample_level(coarse, fine, width, height, own, rest, x, y); });
    };
  }
  if (name == "polyfly_glare") {
    const GlareTaps taps = argument<GlareTaps>(a, 0);
    const float* image = argument<const float*>(a, 1);
    const int width = argument<int>(a, 2), height = argument<int>(a, 3);
    float* out = argument<float*>(a, 4);
    return [=] {
      each(width, height, [&](int x, int y) { glare_pixel(taps, image, width, height, out, x, y); });
    };
  }
  if (name != "polyfly_finish") return convert_kernel(a);
  const Scene scene = argument<Scene>(a, 0);
  const PostParams post = argument<PostParams>(a, 1);
  const int frame = argument<int>(a, 2);
  const double* display = argument<const double*>(a, 3);
  const float *image = argument<const float*>(a, 4), *glow = argument<const float*>(a, 5);
  u32* rgba = argument<u32*>(a, 6);
  return [=] {
    const int width = scene.constants.width;
    each(width, scene.constants.height, [&](int x, int y) {
      rgba[(i64)y * width + x] = finish_pixel(scene, post, frame, display, image, glow, x, y);
    });
  };
}
// The cells of a grid: kernels/entry/cells.cuh. The balls come last to first, as threads have no order.
Work cells_kernel(const std::string& name, void** a) {
  const CellPlan plan = argument<CellPlan>(a, 0);
  if (name == "polyfly_place_cells") {
    u32* cells = argument<u32*>(a, 1);
    CellTotals* totals = argument<CellTotals*>(a, 2);
    return [=] {
      for (int run = plan.runs; run-- > 0;) place_cells(plan, cells, totals, run);
    };
  }
  const Sphere* spheres = argument<const Sphere*>(a, 1);
  u32* cells = argument<u32*>(a, 2);
  if (name == "polyfly_count_balls")
    return [=] {
      for (int i = plan.balls; i-- > 0;) count_ball(plan, spheres, cells, i);
    };
  // polyfly_list_balls
  int* list = argument<int*>(a, 3);
  return [=] {
    for (int i = plan.balls; i-- > 0;) list_ball(plan, spheres, cells, list, i);
  };
}
// The tree over many shapes: kernels/entry/tree.cuh. Threads come last to first, as they have no order.
Work tree_kernel(const std::string& name, void** a) {
  const TreeWork of = argument<TreeWork>(a, 0);
  const int threads = argument<int>(a, 1);
#define TREE_STEP(step)                                     \
  if (name == "polyfly_" #step)                             \
    return [=] {                                            \
      for (int i = threads; i-- > 0;) tree::step(of, i);    \
    };
#include "../../kernels/shapes/tree_steps.def"
#undef TREE_STEP
  return [] {};
}
}  // namespace

#define API extern "C" __attribute__((visibility("default"))) int
#define LOCKED std::lock_guard<std::recursive_mutex> guard(lock)

API cuDriverGetVersion(int* v) {
  *v = is("old") ? 12020 : 12080;
  return 0;
}
API cuInit(unsigned) { return is("init") ? FAILED : 0; }
API cuDeviceGetCount(int* n) {
  *n = is("empty") ? 0 : 2;
  return 0;
}
API cuDeviceGet(int* d, int i) {
  *d = i;
  return 0;
}
API cuDeviceGetName(char* s, int n, int) {
  strncpy(s, "Stub GPU", n);
  return 0;
}
API cuDeviceTotalMem_v2(size_t* b, int) {
  *b = 8ull << 30;
  return 0;
}
API cuDeviceGetAttribute(int* v, int, int) {
  *v = 4;
  return 0;
}
API cuDevicePrimaryCtxRetain(void** c, int d) {
  *c = (void*)(size_t)(16 + d);
  return 0;
}
API cuCtxSetCurrent(void*) { return 0; }
API cuCtxSynchronize(void) {
  LOCKED;
  for (Stream* s : streams) advance(s, [] { return false; });
  return 0;
}
API cuGetErrorString(int e, const char** s) {
  *s = e == OUT_OF_MEMORY    ? "out of memory"
      : e == JIT_FAILED      ? "a PTX JIT compilation failed"
      : e == ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
                             : "stub failure";
  return 0;
}
API cuMemAlloc_v2(unsigned long long* p, size_t n) {
  LOCKED;
  const long most = number("memory");
  if (most >= 0 && in_use + n > (size_t)most) return OUT_OF_MEMORY;
  *p = (unsigned long long)aligned_alloc(64, (n + 63) / 64 * 64);
  memset((void*)*p, 0xa5, n);
  allocated[*p] = n;
  in_use += n;
  return 0;
}
API cuMemFree_v2(unsigned long long p) {
  LOCKED;
  if (!allocated.count(p)) return FAILED;
  in_use -= allocated[p];
  allocated.erase(p);
  free((void*)p);
  return 0;
}
API cuMemHostAlloc(void** p, size_t n, unsigned) {
  *p = aligned_alloc(64, (n + 63) / 64 * 64);
  return 0;
}
API cuMemFreeHost(void* p) {
  free(p);
  return 0;
}
API cuMemcpyHtoD_v2(unsigned long long d, const void* s, size_t n) {
  memcpy((void*)d, s, n);
  return 0;
}
// From memory that is not page-locked: the driver has copied it when the call returns.
API cuMemcpyHtoDAsync_v2(unsigned long long d, const void* s, size_t n, void* stream) {
  LOCKED;
  const std::string bytes((const char*)s, n);
  ((Stream*)stream)->work.push_back([=] { memcpy((void*)d, bytes.data(), n); });
  return 0;
}
API cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t n, void* stream) {
  LOCKED;
  ((Stream*)stream)->work.push_back([=] { memcpy(to, (void*)from, n); });
  return 0;
}
API cuMemsetD8Async(unsigned long long d, unsigned char c, size_t n, void* stream) {
  LOCKED;
  ((Stream*)stream)->work.push_back([=] { memset((void*)d, c, n); });
  return 0;
}
API cuModuleLoadDataEx(void** m, const void* image, unsigned, int*, void** v) {
  if (is("ptx")) {
    strcpy((char*)v[0], "ptxas fatal: stub does not like line 7");
    return JIT_FAILED;
  }
  const std::string header((const char*)image, strcspn((const char*)image, "\n"));
  Kernel found = nullptr;
#define MODULE(integrator, scene, threads, blocks, adaptive_blocks) \
  if (header == "// " #integrator "_" #scene) found = kernel<integrator##_integrator, scene##_scene>;
#define POST_MODULE(name) \
  if (header == "// " #name) found = name##_kernel;
#include "../../kernels/modules.def"
  if (!found) return FAILED;
  *m = new Module{found};
  return 0;
}
API cuModuleUnload(void* m) {
  delete (Module*)m;
  return 0;
}
API cuModuleGetFunction(void** f, void* m, const char* name) {
  *f = new Function{name, ((Module*)m)->kernel};
  return 0;
}
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, size_t) {
  *blocks = 5;
  return 0;
}
API cuStreamCreate(void** s, unsigned) {
  LOCKED;
  streams.push_back(new Stream());
  *s = streams.back();
  return 0;
}
API cuStreamDestroy_v2(void* s) {
  LOCKED;
  advance((Stream*)s, [] { return false; });
  return 0;
}
API cuStreamWaitEvent(void* s, void* e, unsigned) {
  LOCKED;
  Event* event = (Event*)e;
  const long wanted = event->recorded;
  Stream* on = event->on;
  if (on && on != s) ((Stream*)s)->work.push_back([=] { advance(on, [=] { return event->passed >= wanted; }); });
  return 0;
}
API cuEventCreate(void** e, unsigned) {
  *e = new Event();
  return 0;
}
API cuEventDestroy_v2(void* e) {
  delete (Event*)e;
  return 0;
}
API cuEventRecord(void* e, void* s) {
  LOCKED;
  Event* event = (Event*)e;
  event->on = (Stream*)s;
  const long number = ++event->recorded;
  event->on->work.push_back([=] { event->passed = number; });
  return 0;
}
API cuEventSynchronize(void* e) {
  LOCKED;
  wait((Event*)e);
  return 0;
}
API cuEventElapsedTime(float* ms, void*, void*) {
  *ms = 0.5f;
  return 0;
}
API cuLaunchKernel(void* f, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream,
                   void** a, void**) {
  LOCKED;
  const Function& function = *(Function*)f;
  if (number("lost") >= 0 && ++launches >= number("lost")) return ILLEGAL_ADDRESS;
#define POST_MODULE(name) \
  if (is(#name) && function.kernel == name##_kernel) return ILLEGAL_ADDRESS;
#include "../../kernels/modules.def"
  const Work work = function.kernel(function.name, a);
  ((Stream*)stream)->work.push_back(work);
  return 0;
}
