// What Rust hands to the tracer: plain structs and arrays. src/layout.rs holds the same structs, and
// both sides assert sizes and offsets.
#pragma once
#include "compat.cuh"

// A read-only array with its length; every read of scene data goes through at().
template <class T>
struct Array {
  const T* data;
  int len;
  int pad;
  POLYFLY_METHOD const T& at(int i) const {
    POLYFLY_CHECK(i >= 0 && i < len);
    return data[i];
  }
};

// The same for few elements, inside the struct that holds it: a GPU reads these from constant memory.
template <class T, int N>
struct Inline {
  T data[N];
  int len;
  int pad[3];
  POLYFLY_METHOD const T& at(int i) const {
    POLYFLY_CHECK(i >= 0 && i < len);
    return data[i];
  }
};
#ifdef POLYFLY_INLINE_SCENE
#define FEW(T, n) Inline<T, n>
#else
#define FEW(T, n) Array<T>
#endif

// Two parallel planes with the body between them: |n.q - middle| <= half, q from the body's centre.
// Faces lie at hi and lo; a face without an opposite one (the tetrahedron's) has lo far away, and a
// slab that ends a little beyond the opposite corner.
struct alignas(16) Slab {
  float n[3];
  float lo;
  float hi;
  float middle;
  float half;
  float pad;
};

// A convex body: the slabs first_slab .. first_slab + slabs.
struct alignas(16) Body {
  float centre[3];
  float radius;         // of the sphere through the vertices
  float colour[3];      // linear; tints what passes through
  float local;          // weight of the pane's own shading: 1 - R - T, not below 0
  float reflect;        // R
  float transmit;       // T
  float ior;            // index of refraction; 1 goes straight through
  float bar;            // bars reach this far from the neighbouring face's plane; 0 = no bars
  float bar_to_edge;    // times the distance to that plane = distance to the edge within the face
  float lamp_spacing;   // along an edge
  float lamps_a_length; // 1 / lamp_spacing
  float lamp_sharpness; // 1 / square of a lamp's radius
  float lamp_colour[3];
  int lamps;            // on each edge
  float bar_colour[3];
  int code_in;          // Ray::from of rays that run inside this body
  int first_slab;
  int slabs;
  float ior_inward;     // 1 / ior
  float shade;          // what a pane lets through to shadow rays: T, or nothing where path tracing bends light
};

struct alignas(16) Light {
  float position[3];
  float pad0;
  float colour[3];
  float pad1;
};

// One flat piece of the floor; u and v run over the whole floor, 0..1.
struct alignas(16) Patch {
  float n[3];
  float d;  // n.p = d
  float u[4];  // u = u[0..3].p + u[3]
  float v[4];
  int side;  // 0: the whole square; 1: where u <= v; 2: where v <= u
  float density;  // the larger of |grad u|, |grad v|: floor widths a unit of length
  int pad[2];
};

// One level of the floor's picture: texels are two words, linear red|green and blue|0, 16 bits each.
struct alignas(16) Level {
  int first;
  int width;
  int height;
  int pad;
};

#ifndef POLYFLY_INLINE_SCENE
// A node of the tree: its children's boxes. A child that is not negative is a node; bvh.cuh tells what ~child is else.
struct alignas(16) Node {
  float lo0[3];
  int child0;
  float hi0[3];
  int child1;
  float lo1[3];
  int pad0;
  float hi1[3];
  int pad1;
};

struct alignas(16) Ball {
  float centre[3];
  float radius;
};

// Corner a and the edges to the others.
struct alignas(16) Triangle {
  float a[3];
  int paint;  // number of its material
  float ab[3];
  float pad0;
  float ac[3];
  float pad1;
};

// How balls and triangles look.
struct alignas(16) Material {
  float albedo[3];    // of diffuse light: colour times 1 - R - T
  float shine;        // weight of the highlight
  float mirror[3];    // share of light that is mirrored, by colour
  float fuzz;         // spread of mirrored rays, for path tracing
  float transmit[3];  // share that passes
  float ior;
  float emission[3];
  float fresnel;      // above 0: the normal reflectance of glass that mirrors by Schlick's formula
};

// What sends light in path tracing: a glowing ball, a lamp (radius 0), or a triangle (radius -1; centre is its corner a).
struct alignas(16) Emitter {
  float centre[3];
  float radius;
  float colour[3];
  float keep;     // drawn by Walker's alias method: this one below `keep`, else `other`
  int other;
  float inverse;  // 1 / the chance that it is drawn
  int triangle;   // its number
  float pad;
};
#endif

// Scenes up to these sizes fit a kernel's parameters.
#define FEW_SLABS 40
#define FEW_BODIES 8
#define FEW_LIGHTS 8

struct alignas(16) Scene {
  FEW(Slab, FEW_SLABS) slabs;
  FEW(Body, FEW_BODIES) bodies;
  FEW(Light, FEW_LIGHTS) lights;
  FEW(Patch, 2) patches;
  Array<Level> levels;
  Array<int> texels;
  Array<int> glow;       // lamp light on the floor, glow_size x glow_size texels
  Array<int> curve;      // square root of linear light -> 8-bit sRGB
#ifndef POLYFLY_INLINE_SCENE
  Array<Node> nodes;
  Array<Ball> balls;
  Array<int> paints;     // of the balls: numbers of their materials
  Array<Triangle> triangles;
  Array<Material> materials;
  Array<Emitter> emitters;
  Array<i64> sums;       // where a pass of path tracing leaves its light, three a pixel; none: the picture is made at once
#endif
  float floor_tint[3];
  float floor_reflect;
  float ambient[3];
  float cutoff;          // rays lighter than this are dropped
  float zenith[3];
  float highlight;       // weight of the Blinn-Phong highlight
  float horizon[3];
  float glow_scale;
  int glow_size;
  int depth;             // most bounces along a path
  int width, height;
  int samples;           // along each side of a pixel
  float sample_step;     // 1 / samples
  float knee;            // brightness from which the tone curve bends; 1: it is cut off there
  float sky_slope;       // the sky's colour runs from the horizon's to the zenith's with slope * d.z + base
  float sky_base;
  int each;              // samples of a pixel
  int path;              // 1: path tracing
  int root;              // of the tree; TREE_DONE: a scene of few bodies, which are asked in turn
  int shadows;           // 0: lights shine through everything
  int first_sample;      // of a pass
  int pad[2];
};

// One frame's camera: a ray through picture point (x, y), y down, runs along
// forward + (x - width/2) right + (y - height/2) down.
struct Frame {
  float eye[3];
  float spread;          // angle between neighbouring sample rays
  float forward[3];
  int number;            // seeds path tracing
  float right[3];
  float lens;            // its radius, for path tracing
  float down[3];
  float focus;           // focal length in pixels over the distance that is sharp
};

// A GPU adds to COUNTERS of these, so that blocks do not queue for one.
#define COUNTERS 64

struct Counts {
  u64 rays;
  u64 shadow_rays;
  u64 most;  // rays of the busiest thread, on a GPU
  u64 pad;
};

// Ray::from: the surface a ray has just left, which it cannot hit again.
//   4k          outside body k: a convex body is not hit again
//   4k+1, 4k+3  inside body k; 4k+3 when nothing else reaches into body k
//   FROM_FLOOR  floor patches: FROM_FLOOR + patch (0 or 1)
#define FROM_NOWHERE (-8)  // without the bit SEALED, like the floor
#define FROM_FLOOR (-4)
#define SEALED 2
//   FROM_PRIMITIVE + 4i, + 1    outside and inside of ball or triangle i, balls first
#define FROM_PRIMITIVE (1 << 26)
// Ray::bounces: the number, and whether the ray has come from a diffuse surface of path tracing.
#define BOUNCE_MASK 0xff
#define ASKED_EMITTERS 0x100
// Hit::surface of ball or triangle i.
#define PRIMITIVE (1 << 26)

// Radiance is summed in integers, so that the sum does not depend on the order of its terms.
#define FIXED_ONE 1048576.0f
#define FIXED_MOST 2000.0f
#define CURVE_LAST 1023.0f
