// Applies what the alpha versions set for every profile to its plugins and their arguments. Internal to this folder.
#pragma once

#include "config/load.h"
#include "config/types.h"

namespace berth::config {

void ApplySettings(const OldSettings& settings, Profile& profile);

}  // namespace berth::config
