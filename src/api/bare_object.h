// An object of which only the metadata is known: it was deleted while nobody looked.
#pragma once

#include "api/object.h"

namespace berth::api {

Object MakeBareObject(Kind kind, ObjectMeta metadata);

}  // namespace berth::api
