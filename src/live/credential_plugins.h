// CredentialPlugins: what becomes of the programs that kubeconfigs name for credentials, under client-go's metrics.
// Their calls are counted as they happen; how long their certificates are still good is worked out when somebody asks.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "http/rest_config.h"
#include "metrics/component_metrics.h"

namespace berth::live {

// Thread-safe. Must outlive the credentials that were made with its surroundings, and the registry's last exposition.
class CredentialPlugins {
 public:
  CredentialPlugins(metrics::Registry& registry, const base::Clock& clock);

  // `surroundings` with warnings to the log and plugin calls to the metrics.
  http::Surroundings Watching(http::Surroundings surroundings);
  // No-op for credentials that no plugin makes.
  void Follow(const std::shared_ptr<http::CredentialSource>& credentials);

 private:
  // Seconds, negative when over; infinite when no plugin has a certificate.
  double ShortestLife() const;

  const base::Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<http::CredentialSource>> plugins_;  // guarded by mutex_
  metrics::ExecPluginMetrics metrics_;
};

}  // namespace berth::live
