// Random UUIDs (version 4), for names that must be unique.
#pragma once

#include <string>

#include "base/random.h"

namespace berth::base {

std::string MakeUuid(Random& random);

}  // namespace berth::base
