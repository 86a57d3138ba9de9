// The URL paths of objects on the API server.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "api/kind.h"

namespace berth::client {

// "/api/v1/pods", "/apis/apps/v1/replicasets": all namespaces.
std::string CollectionPath(api::Kind kind);
// "/api/v1/namespaces/default/pods"; the namespace is ignored for cluster-scoped kinds.
std::string CollectionPath(api::Kind kind, std::string_view name_space);
// "/api/v1/namespaces/default/pods/web".
std::string ObjectPath(api::Kind kind, std::string_view name_space, std::string_view name);

// Percent-encoded, for use in a path.
std::string Encoded(std::string_view text);

// "?a=1&b=2", percent-encoded; empty parameters are omitted. Empty if none is left.
std::string Query(std::initializer_list<std::pair<std::string_view, std::string_view>> parameters);

}  // namespace berth::client
