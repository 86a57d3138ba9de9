// Where objects live below the server's address.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "api/kind.h"

namespace berth::client {

// "/api/v1/pods", "/apis/apps/v1/replicasets": all namespaces.
std::string CollectionPath(api::Kind kind);
// "/api/v1/namespaces/default/pods"; the namespace is not used for kinds that have none.
std::string CollectionPath(api::Kind kind, std::string_view name_space);
// "/api/v1/namespaces/default/pods/web".
std::string ObjectPath(api::Kind kind, std::string_view name_space, std::string_view name);

// Percent-encoded, as a part of a path.
std::string Encoded(std::string_view text);

// "?a=1&b=2", percent-encoded; parameters that are empty are left out. Empty when none is left.
std::string Query(std::initializer_list<std::pair<std::string_view, std::string_view>> parameters);

}  // namespace berth::client
