// The functions that a library may call.
#pragma once

#include <berth_plugin.h>

namespace berth::plugin_library {

const berth_host& Host();
// As libraries of ABI 1 expect it.
const berth_host& HostOfVersion1();

}  // namespace berth::plugin_library
