#pragma once
/// The only file that includes <napi.h>. External buffers fail at run time in Electron, so they do not compile here
/// (docs/adr/0002): the macro comes from CMakeLists.txt and this check keeps it there.
#if !defined(NODE_API_NO_EXTERNAL_BUFFERS_ALLOWED)
#error "NODE_API_NO_EXTERNAL_BUFFERS_ALLOWED must be defined for the addon"
#endif
#include <napi.h>
