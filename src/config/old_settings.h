// Applies the alpha versions' settings for all profiles to the plugins and arguments of each. Internal to this folder.
#pragma once

#include "config/load.h"
#include "config/types.h"

namespace berth::config {

void ApplySettings(const OldSettings& settings, Profile& profile);

}  // namespace berth::config
