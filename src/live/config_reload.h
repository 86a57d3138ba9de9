// ConfigReload: reloads the configuration while the scheduler runs, and applies it between two cycles.
//
//   Reload (any thread) --load, validate, compare--> scheduling thread --Driver::Reconfigure--> in effect
//                              |                            |
//                              +------- rejected -----------+--> nothing has changed
//
// Either way the result is reported as a log line, an event, metrics, and in /readyz?verbose. A rejected file does not
// make the scheduler unready: it continues with the configuration it had.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "config/types.h"
#include "framework/registry.h"
#include "live/scheduling_loop.h"
#include "metrics/registry.h"

namespace berth::live {

struct LoadedConfiguration {
  config::KubeSchedulerConfiguration configuration;
  framework::Registry registry;
};

// An error that names the first field that differs between the two and takes effect only at startup.
Result<void> CheckReloadable(const config::KubeSchedulerConfiguration& running,
                             const config::KubeSchedulerConfiguration& wanted);

class ConfigReload {
 public:
  struct Options {
    std::function<Result<LoadedConfiguration>()> load;
    // An event about the scheduler: type, reason, note.
    std::function<void(const std::string& type, const std::string& reason, const std::string& note)> announce;
  };

  // All of these must outlive it, and the loop's messages too.
  ConfigReload(config::KubeSchedulerConfiguration running, SchedulingLoop& loop, metrics::Registry& metrics,
               const base::Clock& clock, Options options);

  // Thread-safe from here on. One reload at a time; the result may come later, from the scheduling thread.
  void Reload();
  // Why the last file was rejected; "" if it was not.
  std::string problem() const;
  // The configuration in effect, as JSON.
  std::string RunningJson() const;

 private:
  ConfigReload(config::KubeSchedulerConfiguration running, SchedulingLoop& loop,
               metrics::Family<metrics::Counter>& reloads, metrics::Registry& metrics, const base::Clock& clock,
               Options options);
  void RefuseLocked(const Error& error);
  void Apply(const LoadedConfiguration& loaded);
  void Refuse(const Error& error);

  SchedulingLoop& loop_;
  const base::Clock& clock_;
  const Options options_;
  metrics::Counter& applied_;
  metrics::Counter& refused_;
  metrics::Gauge& successful_;
  metrics::Gauge& applied_at_;
  std::mutex reloading_;
  mutable std::mutex mutex_;
  config::KubeSchedulerConfiguration running_;  // guarded by mutex_
  std::string problem_;                         // guarded by mutex_
};

}  // namespace berth::live
