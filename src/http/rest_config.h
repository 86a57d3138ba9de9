// RestConfig: everything needed to talk to one API server, from flags, a kubeconfig or the service account of the pod
// that this process runs in.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/types.h"
#include "http/credentials.h"
#include "http/exec_credentials.h"
#include "http/transport.h"

namespace berth::http {

struct RestConfig {
  std::string server;  // "https://host:port/prefix", without a slash at the end
  bool insecure = false;
  std::string tls_server_name;  // the name on the server's certificate; empty: the server's host
  std::string ca;               // PEM; empty: the authorities of the system
  std::shared_ptr<CredentialSource> credentials;
  Headers impersonation{};
  std::string proxy_url;  // empty: what the environment says (HTTPS_PROXY, NO_PROXY)
  // kube-scheduler never requests compression: the API server is near, and compressing costs it more than sending.
  bool disable_compression = true;
  double qps = 0;  // below 0: no limit
  int burst = 0;
  std::string content_type;
  std::string accept_content_types;
  std::string user_agent;

  bool is_tls() const { return server.starts_with("https://"); }
};

// What the program reads from its environment; replaced in tests.
struct Surroundings {
  std::function<std::string(const char* name)> environment;  // empty when there is no such variable
  // Files that are merged and used instead of a connection's kubeconfig, such as those of $KUBECONFIG.
  std::vector<std::string> kubeconfigs{};
  std::string context{};  // of the kubeconfig; empty: its current one
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
  CredentialWarning warn{};
  ExecObserver exec_observer{};
};

// The process's own environment.
Surroundings RealSurroundings();

// As in kube-scheduler: uses the kubeconfig of `connection`, with `master` as the server unless that is empty; if both
// are empty, the pod's service account. `clock` must outlive the result.
Result<RestConfig> BuildRestConfig(const config::ClientConnection& connection, const std::string& master,
                                   const std::string& user_agent, const base::Clock& clock,
                                   const Surroundings& surroundings = RealSurroundings());

// "kube-scheduler/berth-0.1.0 (linux/amd64) kubernetes/v1.36", the form that log and audit filters for upstream expect.
std::string UserAgent(const std::string& component, const std::string& version);

}  // namespace berth::http
