// kubeconfig files: which API server to talk to, and as whom.
// Read as kube-scheduler reads them (unknown fields are skipped), and checked with its texts, each with its place.
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
  // JSON of the cluster's extension "client.authentication.k8s.io/exec", handed on to the plugin; may be empty.
  std::string cluster_extension;
};

// What the current context names. Paths are absolute or relative to the working directory, no longer to the file.
struct ClusterEntry {
  std::string name;
  std::string server;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority;       // a path
  std::string certificate_authority_data;  // PEM; comes before the path
  std::string proxy_url;
  bool disable_compression = false;
};

struct UserEntry {
  std::string name;
  std::string client_certificate, client_key;            // paths
  std::string client_certificate_data, client_key_data;  // PEM; come before the paths
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

// Reads and checks what `context` of the file names, its current one when that is empty. Absent when the file says
// nothing about a server, which for kube-scheduler is the same as having no file. `master`, unless empty, takes the
// place of the cluster's server, and makes its tls-server-name meaningless. Errors have a line for each mistake:
// "FILE:LINE:COL: FIELD: MISTAKE".
Result<std::optional<KubeconfigChoice>> ReadKubeconfig(const std::string& path, const std::string& master,
                                                       const std::string& context = {});

// The same for several files that are read as one, by client-go's rules: the first that has a current context names it,
// and of clusters, users and contexts of one name the first file's counts, whole. Paths are relative to their own file.
Result<std::optional<KubeconfigChoice>> ReadKubeconfigs(const std::vector<std::string>& paths,
                                                        const std::string& master, const std::string& context = {});

// An error that names the file when it cannot be read.
Result<std::string> ReadFile(const std::string& path);

// Empty, or what is wrong with a proxy's address.
std::string CheckProxyUrl(const std::string& url);

}  // namespace berth::http
