// Random UUIDs (version 4), for names that must be unique.
#pragma once

#include <string>

#include "base/random.h"

namespace berth::client {

std::string MakeUuid(base::Random& random);

}  // namespace berth::client
