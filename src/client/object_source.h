// Where the objects of a list or a watch come from when their kind is not one of the registry's: any resource that the
// server has, read as CustomObjects.
#pragma once

#include <string>

#include "api/custom_object.h"
#include "api/object.h"
#include "http/transport.h"

namespace berth::client {

struct CustomSource {
  api::GroupVersionResource resource;
  bool keep_json = false;
  std::string name_space{};  // "": of all namespaces

  // "/apis/example.com/v1/licencepools", "/apis/example.com/v1/namespaces/default/licencepools".
  std::string CollectionPath() const;
};

// As JSON: custom resources have no other form, and of built-in kinds only JSON can be kept.
inline http::Headers AcceptCustomObjects() { return {{"Accept", "application/json"}}; }

}  // namespace berth::client
