// The in-tree plugins.
#pragma once

#include "framework/registry.h"

namespace berth::plugins {

framework::Registry InTreeRegistry();

}  // namespace berth::plugins
