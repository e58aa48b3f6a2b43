// Renders a device scene or develops light that src/tests/exported.rs writes down, by kernels that were compiled for another kind of
// CPU (`scripts/try arm`) or with sanitizers (`scripts/try sanitize`), and compares every byte with what the CPU there made: picture, video
// planes, features; every step of development. The sets are WIDE and `scalar`.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace polyfly {
#include "../kernels/types.cuh"

#define PASTE(name, set) polyfly_##name##_##set
#define NAMED(name, set) PASTE(name, set)
#define QUOTE(set) #set
#define NAME(set) QUOTE(set)

#define ENTRY(result, name, ...)                     \
  extern "C" result NAMED(name, WIDE)(__VA_ARGS__);  \
  extern "C" result NAMED(name, scalar)(__VA_ARGS__);
#define TEST_ENTRY ENTRY
#include "../kernels/entries.def"

struct Set {
  const char* set;
#define ENTRY(result, name, ...) result (*name)(__VA_ARGS__);
#define TEST_ENTRY ENTRY
#include "../kernels/entries.def"
};
const Set SETS[] = {
    {NAME(WIDE),
#define ENTRY(result, name, ...) NAMED(name, WIDE),
#define TEST_ENTRY ENTRY
#include "../kernels/entries.def"
    },
    {"scalar",
#define ENTRY(result, name, ...) NAMED(name, scalar),
#define TEST_ENTRY ENTRY
#include "../kernels/entries.def"
    },
};

struct Freed {
  void operator()(void* memory) const { operator delete(memory, std::align_val_t(64)); }
};
// What was copied for the file.
std::vector<std::unique_ptr<void, Freed>> copies;

// A copy of values, aligned and as long as they are.
template <class T>
T* copied(const T* values, size_t count) {
  copies.emplace_back(operator new(count * sizeof(T), std::align_val_t(64)));
  std::copy((const char*)values, (const char*)(values + count), (char*)copies.back().get());
  return (T*)copies.back().get();
}

struct File {
  std::vector<char> bytes;
  size_t at = 0;
  template <class T>
  T* take(size_t count) {
    if (at + count * sizeof(T) > bytes.size()) {
      printf("cut short\n");
      exit(2);
    }
    at += count * sizeof(T);
    return copied((const T*)(bytes.data() + at) - count, count);
  }
};

// From places in the blob to addresses: every array of a struct, as types.def lists them. Each has memory of its own, so that AddressSanitizer
// sees what is read beside it.
template <class T>
void move_to(T&, const char*) {}

template <class T>
void move_to(Array<T>& array, const char* blob) {
  array.data = copied((const T*)(blob + (size_t)array.data), array.len);
}

#define CONSTANT(name, value)
#define REAL_CONSTANT(name, value)
#define FEATURE(name, bit)
#define FEATURES(name, features)
#define STRUCT(name) inline void move_arrays([[maybe_unused]] name& s, [[maybe_unused]] const char* blob) {
#define PLAIN_STRUCT STRUCT
#define FIELD(type, name) move_to(s.name, blob);
#define FIELDS(type, name, count)
#define INLINE(type, name, most)
#define ABSENT(type, name)
#define END(name, bytes) }
#include "../kernels/types.def"

// Whether the tree of a scene finds what asking everything finds, for rays from all around.
bool finds(const Set& set, const std::string& name, const Scene& scene) {
  constexpr int n = 1000;
  std::vector<float> origins, directions;
  u32 state = 1;
  const auto draw = [&] { return (float)((state = state * 1664525 + 1013904223) >> 8) / (float)(1 << 23) - 1.0f; };
  for (int i = 0; i < n; ++i) {
    float d[3] = {draw(), draw(), draw()};
    const float length = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) + 1e-6f;
    for (const float x : d) origins.push_back(6.0f * draw()), directions.push_back(x / length);
  }
  std::vector<float> t[2] = {std::vector<float>(n), std::vector<float>(n)};
  std::vector<int> surface[2] = {std::vector<int>(n), std::vector<int>(n)};
  for (int way = 0; way < 2; ++way)
    set.closest_hits(&scene, origins.data(), directions.data(), n, way, t[way].data(), surface[way].data());
  if (t[0] == t[1] && surface[0] == surface[1]) return true;
  printf("%s: the tree finds something else\n", name.c_str());
  return false;
}

bool same(const std::string& what, const void* want, const void* got, size_t n) {
  if (!memcmp(want, got, n)) return true;
  size_t i = 0;
  while (((const char*)want)[i] == ((const char*)got)[i]) ++i;
  printf("%s: byte %zu of %zu differs\n", what.c_str(), i, n);
  return false;
}

// Whether a set of kernels makes the bytes that the file has.
bool renders(const Set& set, const std::string& name, File file) {
  const u64* head = file.take<u64>(4);
  Scene* scene = file.take<Scene>(1);
  SmallScene* small = head[1] ? file.take<SmallScene>(1) : nullptr;
  const FrameParams* frame = file.take<FrameParams>(1);
  const Launch* launches = file.take<Launch>(2);  // of the picture, of the features
  const char* blob = file.take<char>(head[0]);
  const int width = scene->constants.width, height = scene->constants.height, pixels = width * height;
  const u32* picture = file.take<u32>(pixels);
  const u8* planes = file.take<u8>(head[2]);
  const Features* features = file.take<Features>(pixels);
  if (head[3] != pixels * sizeof(Features) || file.at != file.bytes.size()) {
    printf("%s: not of this version\n", name.c_str());
    return false;
  }
  move_arrays(*scene, blob);
  if (small) move_arrays(*small, blob);
  std::vector<u32> rgba(pixels);
  std::vector<Features> first(pixels);
  char* scratch = copied(std::vector<char>(set.scratch_bytes(scene)).data(), set.scratch_bytes(scene));
  FilmBuffers toned = {}, surfaces = {};
  toned.rgba = rgba.data();
  surfaces.features = first.data();
  std::vector<i64> pilot_sums(launches[0].min_samples ? 3 * pixels : 0);
  std::vector<u32> trial_shown(launches[0].min_samples ? pixels : 0);
  FilmBuffers pilot = {};
  pilot.pilot_sums = toned.pilot_sums = pilot_sums.data();
  pilot.pilot = toned.pilot = trial_shown.data();
  Counts counts = {};
  const auto trace = [&](const Launch& launch, const FilmBuffers& film) {
    for (int top = 0; top < height; top += TILE)
      for (int left = 0; left < width; left += TILE)
        set.trace_tile(scene, small, frame, &launch, &film, left, top, scratch, &counts);
  };
  if (launches[0].min_samples) trace(launches[0], pilot);
  trace(launches[0], toned);
  trace(launches[1], surfaces);
  const int wide = (width + 1) / 2 * 2, tall = (height + 1) / 2 * 2;
  std::vector<u8> yuv(wide * tall * 3 / 2);
  set.convert(rgba.data(), width, height, 0, tall / 2, yuv.data(), yuv.data() + wide * tall,
              yuv.data() + wide * tall * 5 / 4);
  bool ok = same(name + ", the picture", picture, rgba.data(), 4ull * pixels);
  ok &= head[2] == yuv.size() && same(name + ", the planes", planes, yuv.data(), yuv.size());
  ok &= same(name + ", the features", features, first.data(), head[3]);
  return finds(set, name, *scene) && ok;
}

// Whether a set develops the file's light to what the file has: src/tests/post.rs's steps, in its order.
bool develops(const Set& set, const std::string& name, File file) {
  const u64* head = file.take<u64>(3);
  const int width = (int)head[0], height = (int)head[1], half = (width + 1) / 2, values = 3 * width * height;
  const double* display = file.take<double>(DISPLAY_LAST + 1);
  const i64* sums = file.take<i64>(values);
  const Features* features = file.take<Features>(width * height);
  const LendingView* view = file.take<LendingView>(1);
  const BodyMotion* motions = file.take<BodyMotion>(3);
  const float* expected = file.take<float>(head[2]);
  std::vector<float> all, light(values), down(3 * width), near(half), other(half), wide(width);
  const auto keep = [&](const std::vector<float>& step) { all.insert(all.end(), step.begin(), step.end()); };
  set.mean(sums, values, 0.25f / FIXED_ONE, light.data());
  keep(light);
  const auto row = [&](int y) { return light.data() + 3 * width * (y % height); };
  for (int y = 0; y < 6; y += 3) {
    std::vector<float>& across = y == 0 ? near : other;
    set.downsample_rows(row(y), row(y + 1), row(y + 2), row(y + 3), 3 * width, down.data());
    keep(down);
    set.downsample_columns(down.data() + 1, width, 3, across.data());
    keep(across);
  }
  set.upsample(near.data(), other.data(), half, width, wide.data());
  keep(wide);
  std::vector<float> blend = wide;
  set.mix(blend.data(), row(1), width, 0.7f, 0.3f);
  keep(blend);
  std::vector<float> plane(values / 3);
  for (int i = 0; i < values / 3; ++i) plane[i] = light[3 * i];
  const int rows[3][2] = {{0, 0}, {1, 1}, {height - 1, 1}};
  for (const auto& [y, adds] : rows) {
    const GlareTaps taps = {{0, -1, 3, 5, -9, 64, 0, -200},
                            {0, 1, 0, -1, 2, 0, -70, 1},
                            {0.3f, 0.2f, 0.1f, 0.1f, 0.1f, 0.1f, 0.05f, 0.05f},
                            adds};
    std::vector<float> glare = wide;
    set.glare(&taps, plane.data(), width, height, y, glare.data());
    keep(glare);
  }
  const float per_square = 4.0f / ((float)width * (float)width + (float)height * (float)height);
  for (int y = 0; y < height; ++y) {
    set.mix_pixels(row(y), wide.data(), blend.data(), wide.data(), width, 0.8f, 0.2f);
    set.vignette(row(y), width, height, y, 0.4f, per_square);
    set.grain(row(y), width, y, 7, 0.3f);
  }
  keep(light);
  struct Curve {
    int kind;
    float punch[2];
  };
  const Curve curves[] = {
      {CURVE_NEUTRAL, {1.0f, 1.0f}}, {CURVE_FILMIC, {1.0f, 1.0f}}, {CURVE_AGX, {1.0f, 1.0f}}, {CURVE_AGX, {1.25f, 1.4f}}};
  for (const Curve& curve : curves) {
    std::vector<float> shown(values);
    set.curve(curve.kind, curve.punch, display, light.data(), values / 3, shown.data());
    keep(shown);
  }
  // The denoiser, row by row.
  const auto each_row = [&](int channels, auto make) {
    std::vector<float> picture(channels * width * height);
    for (int y = 0; y < height; ++y) make(y, picture.data() + y * channels * width);
    keep(picture);
    return picture;
  };
  const auto at = [&](const std::vector<float>& picture, int channels, int y) {
    return picture.data() + y * channels * width;
  };
  const auto guides = each_row(DENOISE_GUIDES, [&](int y, float* out) { set.denoise_guides(features, 2, width, height, y, out); });
  const std::vector<i64> reversed(std::reverse_iterator(sums + values), std::reverse_iterator(sums));
  const DenoiseFilm film = {sums, reversed.data(), nullptr, 3, 1};
  const auto first = each_row(DENOISE_LIGHT, [&](int y, float* out) {
    set.denoise_light(&film, at(guides, DENOISE_GUIDES, y), width, y, out);
  });
  const auto noise = each_row(DENOISE_LIGHT, [&](int y, float* out) { set.denoise_noise(first.data(), width, height, y, out); });
  const auto smooth = each_row(DENOISE_LIGHT, [&](int y, float* out) {
    set.smooth_variance(noise.data(), guides.data(), width, height, y, out);
  });
  const auto weighed = each_row(1, [&](int y, float* out) {
    set.denoise_weigh(smooth.data(), guides.data(), width, height, y, 2, out);
  });
  const auto pass = each_row(DENOISE_LIGHT, [&](int y, float* out) {
    set.denoise(smooth.data(), guides.data(), weighed.data(), width, height, y, 2, out);
  });
  const auto filtered = each_row(1, [&](int y, float* out) { set.denoise_luminance(at(pass, DENOISE_LIGHT, y), width, out); });
  const SeenFrame own = {first.data(), guides.data(), filtered.data()};
  const SeenFrame lender = {smooth.data(), guides.data(), filtered.data()};
  const auto samples = each_row(DENOISE_SAMPLES, [&](int y, float* out) { set.look_up(view, motions, &own, &lender, y, out); });
  const auto begun = each_row(DENOISE_SUMS, [&](int y, float* out) {
    set.blend(samples.data(), at(first, DENOISE_LIGHT, y), width, height, y, 1, out);
  });
  const auto blended = each_row(DENOISE_SUMS, [&](int y, float* out) {
    memcpy(out, at(begun, DENOISE_SUMS, y), 4ull * DENOISE_SUMS * width);
    set.blend(samples.data(), at(first, DENOISE_LIGHT, y), width, height, y, 0, out);
  });
  const auto shared = each_row(DENOISE_LIGHT, [&](int y, float* out) { set.share(at(blended, DENOISE_SUMS, y), width, out); });
  each_row(3, [&](int y, float* out) {
    set.denoise_clean(at(shared, DENOISE_LIGHT, y), at(guides, DENOISE_GUIDES, y), width, out);
  });
  if (all.size() != head[2] || file.at != file.bytes.size()) {
    printf("%s: not of this version\n", name.c_str());
    return false;
  }
  return same(name + ", the light", expected, all.data(), 4 * all.size());
}
}  // namespace polyfly

int main(int count, char** names) {
  FILE* from = count == 2 ? fopen(names[1], "rb") : nullptr;
  if (!from) return printf("one file, which can be read\n"), 2;
  polyfly::File file;
  fseek(from, 0, SEEK_END);
  file.bytes.resize(ftell(from));
  rewind(from);
  if (fread(file.bytes.data(), 1, file.bytes.size(), from) != file.bytes.size()) return 2;
  fclose(from);
  const bool is_light = std::string(names[1]).find(".light") != std::string::npos;
  int wrong = 0;
  for (const polyfly::Set& set : polyfly::SETS) {
    const std::string name = std::string(names[1]) + " on " + set.set;
    if (!(is_light ? polyfly::develops(set, name, file) : polyfly::renders(set, name, file))) ++wrong;
  }
  return wrong;
}
