// The entries of every set, with a count of the operations of each function. One thread counts at a time.
#include "../../kernels/entry/render.cpp"

#define NOT_COUNTED __attribute__((no_instrument_function))

extern "C" {

// A function: its address, how often it was called, and its operations by kind, without those of functions that it calls.
struct PolyflyCounted {
  void* function;
  unsigned long long calls, operations[4];
};

unsigned long long polyfly_counting_now[4];

constexpr int PLACES = 8192, DEEPEST = 4096;
static PolyflyCounted table[PLACES];
static PolyflyCounted* stack[DEEPEST] = {&table[0]};
static int depth;

// What was counted since the last call of this function goes to the function on top.
NOT_COUNTED static void settle() {
  for (int kind = 0; kind < 4; ++kind) {
    stack[depth]->operations[kind] += polyfly_counting_now[kind];
    polyfly_counting_now[kind] = 0;
  }
}

NOT_COUNTED void __cyg_profile_func_enter(void* function, void*) {
  settle();
  // The place 0 is for operations outside of all functions.
  unsigned long long place = ((unsigned long long)function >> 4) % (PLACES - 1) + 1;
  while (table[place].function && table[place].function != function) place = place % (PLACES - 1) + 1;
  table[place].function = function;
  ++table[place].calls;
  if (++depth == DEEPEST) __builtin_trap();
  stack[depth] = &table[place];
}

NOT_COUNTED void __cyg_profile_func_exit(void*, void*) {
  settle();
  --depth;
}

// The table, and the number of its places; those without a function are free.
NOT_COUNTED const PolyflyCounted* polyfly_counting_table(int* places) {
  settle();
  *places = PLACES;
  return table;
}
}
