// The entries of entries.def, declared for the instruction set that POLYFLY_ISA names.
#pragma once
#define POLYFLY_PASTE2(a, b) a##b
#define POLYFLY_PASTE(a, b) POLYFLY_PASTE2(a, b)
#define POLYFLY_NAME(name) POLYFLY_PASTE(polyfly_##name##_, POLYFLY_ISA)

extern "C" {
#define ENTRY(result, name, ...) result POLYFLY_NAME(name)(__VA_ARGS__);
#define TEST_ENTRY(result, name, ...) result POLYFLY_NAME(name)(__VA_ARGS__);
#define TEST_ENTRY_OF(set, result, name, ...) result polyfly_##name##_##set(__VA_ARGS__);
#include "../entries.def"
}
