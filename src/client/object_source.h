// Where the objects of a list or a watch come from if their kind is not registered: any resource that the server has,
// read as CustomObjects.
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

// As JSON: custom resources have no other encoding, and built-in kinds can be kept undecoded only as JSON.
inline http::Headers AcceptCustomObjects() { return {{"Accept", "application/json"}}; }

}  // namespace berth::client
