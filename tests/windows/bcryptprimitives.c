// The one function of Windows' bcryptprimitives.dll that Rust's library calls, for versions of Wine without that DLL.
#include <windows.h>

#include <ntsecapi.h>

__declspec(dllexport) BOOL ProcessPrng(PBYTE data, SIZE_T length) { return RtlGenRandom(data, (ULONG)length); }
