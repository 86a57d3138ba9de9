// What the API server fills in when an object is created, as far as scheduling reads it. Objects that come from a
// cluster have it already and pass unchanged.
#pragma once

#include "api/object.h"

namespace berth::input {

api::Object WithDefaults(const api::Object& object);

}  // namespace berth::input
