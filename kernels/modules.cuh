// The rows of modules.def as types, whitted_integrator and rich_scene, and the integrators' codes: whitted_code.
#pragma once
#include "integrators/ao.cuh"
#include "integrators/path.cuh"
#include "integrators/whitted.cuh"

#define SCENE(name, type, allowed) \
  typedef type name##_scene;       \
  static_assert((SceneTraits<type>::features & allowed) == allowed, "modules.def says otherwise");
#define INTEGRATOR(name, type, rays) typedef type name##_integrator;
#include "modules.def"

enum IntegratorCode {
#define INTEGRATOR(name, type, rays) name##_code,
#include "modules.def"
};
