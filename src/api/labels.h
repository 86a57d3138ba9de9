// Label and annotation maps as objects carry them.
#pragma once

#include <string>

#include "base/flat_map.h"
#include "base/symbol.h"

namespace berth::api {

using Labels = base::FlatMap<Symbol, Symbol>;
// Annotations are read once or never: interning them would only fill the pool.
using Annotations = base::FlatMap<std::string, std::string>;

}  // namespace berth::api
