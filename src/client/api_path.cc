#include "client/api_path.h"

#include <fmt/core.h>

#include "client/object_source.h"

namespace berth::client {
namespace {

std::string GroupPath(std::string_view api_version) {
  const bool core = api_version.find('/') == std::string_view::npos;
  return fmt::format("{}/{}", core ? "/api" : "/apis", api_version);
}

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.' || c == '~';
}

void AppendEncoded(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (IsPlain(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

}  // namespace

std::string CollectionPath(api::Kind kind) {
  const api::KindInfo& info = api::InfoOf(kind);
  return fmt::format("{}/{}", GroupPath(info.api_version()), info.resource);
}

std::string CollectionPath(api::Kind kind, std::string_view name_space) {
  const api::KindInfo& info = api::InfoOf(kind);
  if (!info.namespaced) return CollectionPath(kind);
  std::string path = GroupPath(info.api_version()) + "/namespaces/";
  AppendEncoded(name_space, path);
  return fmt::format("{}/{}", path, info.resource);
}

std::string ObjectPath(api::Kind kind, std::string_view name_space, std::string_view name) {
  std::string path = CollectionPath(kind, name_space) + "/";
  AppendEncoded(name, path);
  return path;
}

std::string CustomSource::CollectionPath() const {
  if (name_space.empty()) return resource.CollectionPath();
  return fmt::format("{}/namespaces/{}/{}", GroupPath(resource.ApiVersion()), Encoded(name_space), resource.resource);
}

std::string Encoded(std::string_view text) {
  std::string encoded;
  AppendEncoded(text, encoded);
  return encoded;
}

std::string Query(std::initializer_list<std::pair<std::string_view, std::string_view>> parameters) {
  std::string query;
  for (const auto& [key, value] : parameters) {
    if (value.empty()) continue;
    query += query.empty() ? '?' : '&';
    query += key;
    query += '=';
    AppendEncoded(value, query);
  }
  return query;
}

}  // namespace berth::client
