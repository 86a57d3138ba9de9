// An object of which only the metadata is known: its deletion was missed while the watch was down.
#pragma once

#include "api/object.h"

namespace berth::api {

Object MakeBareObject(Kind kind, ObjectMeta metadata);

}  // namespace berth::api
