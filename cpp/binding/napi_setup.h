#pragma once
/// The only file that includes <napi.h>. External buffers fail at run time in Electron, so code that uses them must not
/// compile (docs/adr/0002): CMakeLists.txt defines the macro, and this check makes sure of it.
#if !defined(NODE_API_NO_EXTERNAL_BUFFERS_ALLOWED)
#error "NODE_API_NO_EXTERNAL_BUFFERS_ALLOWED must be defined for the addon"
#endif
#include <napi.h>
