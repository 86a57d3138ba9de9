// CredentialPlugins: client-go's metrics for the credential plugins that kubeconfigs name. Calls are counted as they
// happen; the remaining lifetime of certificates is computed when the metrics are read.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "http/rest_config.h"
#include "metrics/component_metrics.h"

namespace berth::live {

// Thread-safe. Must outlive the credentials made with its surroundings, and the registry's last exposition.
class CredentialPlugins {
 public:
  CredentialPlugins(metrics::Registry& registry, const base::Clock& clock);

  // `surroundings` with warnings sent to the log and plugin calls to the metrics.
  http::Surroundings Watching(http::Surroundings surroundings);
  // No-op for credentials that do not come from a plugin.
  void Follow(const std::shared_ptr<http::CredentialSource>& credentials);

 private:
  // In seconds, negative if expired; infinite if no plugin has a certificate.
  double ShortestLife() const;

  const base::Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<http::CredentialSource>> plugins_;  // guarded by mutex_
  metrics::ExecPluginMetrics metrics_;
};

}  // namespace berth::live
