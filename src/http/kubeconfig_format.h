// A kubeconfig as a person wrote it: kind Config of apiVersion v1. Only kubeconfig.cc should need this.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "codec/schema.h"
#include "codec/value.h"

namespace berth::http {

std::string EncodeBase64(std::string_view bytes);

// Base64 in the file, possibly with line breaks.
struct FileBytes {
  std::string bytes;
  friend bool operator==(const FileBytes&, const FileBytes&) = default;
};

// A part of the document that is not decoded; valid as long as the document.
struct FileRaw {
  codec::Value value;
};

}  // namespace berth::http

namespace berth::codec {

template <>
struct ScalarTraits<http::FileBytes> {
  static std::string FromJson(const Value& value, http::FileBytes& out);
  static void ToJson(const http::FileBytes& value, JsonWriter& writer);
};

template <>
struct ScalarTraits<http::FileRaw> {
  static std::string FromJson(const Value& value, http::FileRaw& out);
  static void ToJson(const http::FileRaw& value, JsonWriter& writer);
  static bool IsEmpty(const http::FileRaw& value) { return value.value.is_null(); }
};

}  // namespace berth::codec

namespace berth::http {

struct FileExtension {
  std::string name;
  FileRaw extension;
};

struct FileCluster {
  std::string server, tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority;
  FileBytes certificate_authority_data;
  std::string proxy_url;
  bool disable_compression = false;
  std::vector<FileExtension> extensions;
};

struct FileEnvVar {
  std::string name, value;
};

struct FileExec {
  std::string command;
  std::vector<std::string> args;
  std::vector<FileEnvVar> env;
  std::string api_version, install_hint;
  bool provide_cluster_info = false;
  std::string interactive_mode;
};

struct FileUser {
  std::string client_certificate;
  FileBytes client_certificate_data;
  std::string client_key;
  FileBytes client_key_data;
  std::string token, token_file;
  std::string as, as_uid;
  std::vector<std::string> as_groups;
  base::FlatMap<std::string, std::vector<std::string>> as_user_extra;
  std::string username, password;
  std::optional<FileRaw> auth_provider;
  std::optional<FileExec> exec;
};

struct FileContext {
  std::string cluster, user, default_namespace;
};

struct FileNamedCluster {
  using Entry = FileCluster;
  std::string name;
  FileCluster entry;
};

struct FileNamedUser {
  using Entry = FileUser;
  std::string name;
  FileUser entry;
};

struct FileNamedContext {
  using Entry = FileContext;
  std::string name;
  FileContext entry;
};

struct FileKubeconfig {
  std::string kind, api_version;
  std::vector<FileNamedCluster> clusters;
  std::vector<FileNamedUser> users;
  std::vector<FileNamedContext> contexts;
  std::string current_context;
};

const codec::Message& Describe(const FileExtension*);
const codec::Message& Describe(const FileCluster*);
const codec::Message& Describe(const FileEnvVar*);
const codec::Message& Describe(const FileExec*);
const codec::Message& Describe(const FileUser*);
const codec::Message& Describe(const FileContext*);
const codec::Message& Describe(const FileNamedCluster*);
const codec::Message& Describe(const FileNamedUser*);
const codec::Message& Describe(const FileNamedContext*);
const codec::Message& Describe(const FileKubeconfig*);

}  // namespace berth::http
