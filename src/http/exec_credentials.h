// Credentials from another program, by Kubernetes' client.authentication.k8s.io protocol: the program gets the
// cluster in KUBERNETES_EXEC_INFO and prints an ExecCredential.
#pragma once

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "http/credentials.h"
#include "http/kubeconfig.h"

namespace berth::http {

// How a plugin's run ended, for metrics: upstream's call_status ("no_error", "plugin_not_found_error",
// "plugin_execution_error", "client_internal_error") and the exit code.
using ExecObserver = std::function<void(std::string_view call_status, int exit_code)>;

// The plugin's output is kept until its expirationTimestamp, or until the server answers 401 to it. The plugin runs at
// most once at a time, however many callers there are.
class ExecCredentials final : public CredentialSource {
 public:
  // `cluster` is passed to a plugin with provideClusterInfo, with the PEM of its authorities in place of their path.
  ExecCredentials(ExecConfig config, ClusterEntry cluster, const base::Clock& clock, ExecObserver observer = {});
  ~ExecCredentials() override { Interrupt(); }

  CredentialsPtr Current() override;
  Result<CredentialsPtr> Fetch() override;
  bool Refuse(const CredentialsPtr& refused) override;
  void Interrupt() override;

 private:
  Result<bool> IsInteractive() const;
  // The environment, with the plugin's own variables and KUBERNETES_EXEC_INFO.
  std::vector<std::string> Environment(bool interactive) const;
  Result<std::string> Run(bool interactive);
  Result<pid_t> Spawn(bool interactive, int output);
  Error NotFound();
  Result<CredentialsPtr> Parse(std::string output, std::optional<base::Time>& expires) const;

  // Constant after construction.
  const ExecConfig config_;
  const ClusterEntry cluster_;
  const base::Clock& clock_;
  const ExecObserver observer_;

  std::mutex running_;  // held while the plugin runs

  std::mutex mutex_;
  // Guarded by mutex_.
  CredentialsPtr current_;
  std::optional<base::Time> expires_;
  pid_t child_ = 0;
  bool child_leads_group_ = false;
  int hints_given_ = 0;  // in the hour that began at hints_since_
  base::Time hints_since_{};
};

}  // namespace berth::http
