// A kubeconfig as a person wrote it: kind Config of apiVersion v1. Only kubeconfig.cc should need this.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "codec/file_values.h"
#include "codec/schema.h"

namespace berth::http {

struct FileExtension {
  std::string name;
  codec::FileRaw extension;
};

struct FileCluster {
  std::string server, tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority;
  codec::FileBytes certificate_authority_data;
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
  codec::FileBytes client_certificate_data;
  std::string client_key;
  codec::FileBytes client_key_data;
  std::string token, token_file;
  std::string as, as_uid;
  std::vector<std::string> as_groups;
  base::FlatMap<std::string, std::vector<std::string>> as_user_extra;
  std::string username, password;
  std::optional<codec::FileRaw> auth_provider;
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
