// The functions that a library may call.
#pragma once

#include <berth_plugin.h>

namespace berth::plugin_library {

const berth_host& Host();

}  // namespace berth::plugin_library
