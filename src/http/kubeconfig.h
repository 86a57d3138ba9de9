// kubeconfig files: which API server to talk to, and as which user.
// Parsed as kube-scheduler does (unknown fields are skipped) and validated with its messages, each with the position in
// the file.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/result.h"

namespace berth::http {

// How to run a credential plugin.
struct ExecConfig {
  enum class InteractiveMode { kNever, kIfAvailable, kAlways };

  std::string command;  // found through PATH unless it has a slash
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string api_version;
  std::string install_hint;
  bool provide_cluster_info = false;
  InteractiveMode interactive_mode = InteractiveMode::kNever;
  // JSON of the cluster's extension "client.authentication.k8s.io/exec", passed to the plugin; may be empty.
  std::string cluster_extension;
};

// What the current context refers to. Paths are absolute or relative to the working directory, no longer to the file.
struct ClusterEntry {
  std::string name;
  std::string server;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority;       // a path
  std::string certificate_authority_data;  // PEM; takes precedence over the path
  std::string proxy_url;
  bool disable_compression = false;
};

struct UserEntry {
  std::string name;
  std::string client_certificate, client_key;            // paths
  std::string client_certificate_data, client_key_data;  // PEM; take precedence over the paths
  std::string token;
  std::string token_file;
  std::string username, password;
  std::string as, as_uid;
  std::vector<std::string> as_groups;
  base::FlatMap<std::string, std::vector<std::string>> as_user_extra;
  std::optional<ExecConfig> exec;
};

struct KubeconfigChoice {
  ClusterEntry cluster;
  UserEntry user;
  std::string default_namespace;
};

// Reads and validates what the files' `context` refers to, or their current context if that is empty. Absent if they
// name no server, which kube-scheduler treats like having no file. `master`, unless empty, replaces the cluster's
// server, and its tls-server-name no longer applies. Errors have a line for each mistake: "FILE:LINE:COL: FIELD:
// MISTAKE".
//
// Several files are merged by client-go's rules: the first file that has a current context decides it, and the first
// file that has a cluster, user or context of a given name provides all of that entry. Paths are relative to their own
// file.
Result<std::optional<KubeconfigChoice>> ReadKubeconfigs(const std::vector<std::string>& paths,
                                                        const std::string& master, const std::string& context = {});

// If the file cannot be read, the error names it.
Result<std::string> ReadFile(const std::string& path);

// Empty, or what is wrong with a proxy's address.
std::string CheckProxyUrl(const std::string& url);

}  // namespace berth::http
