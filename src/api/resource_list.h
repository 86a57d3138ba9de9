// Amounts by resource name, as in requests, limits, capacity and allocatable.
#pragma once

#include "api/quantity.h"
#include "base/flat_map.h"
#include "base/symbol.h"

namespace berth::api {

using ResourceList = base::FlatMap<Symbol, Quantity>;

}  // namespace berth::api
