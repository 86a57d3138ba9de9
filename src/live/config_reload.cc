#include "live/config_reload.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/log.h"
#include "config/dump.h"

namespace berth::live {

namespace {

using Configuration = config::KubeSchedulerConfiguration;

// A field that is read only once, when connections, threads and lists are made.
struct FixedField {
  const char* name;
  void (*copy)(const Configuration& from, Configuration& to);
};

constexpr FixedField kFixed[] = {
    {"leaderElection", [](const Configuration& from, Configuration& to) { to.leader_election = from.leader_election; }},
    {"clientConnection",
     [](const Configuration& from, Configuration& to) { to.client_connection = from.client_connection; }},
    {"extenders", [](const Configuration& from, Configuration& to) { to.extenders = from.extenders; }},
    {"pluginLibraries",
     [](const Configuration& from, Configuration& to) { to.plugin_libraries = from.plugin_libraries; }},
    {"delayCacheUntilActive",
     [](const Configuration& from, Configuration& to) { to.delay_cache_until_active = from.delay_cache_until_active; }},
    {"parallelism", [](const Configuration& from, Configuration& to) { to.parallelism = from.parallelism; }},
    {"enableProfiling",
     [](const Configuration& from, Configuration& to) { to.enable_profiling = from.enable_profiling; }},
    {"enableContentionProfiling",
     [](const Configuration& from, Configuration& to) {
       to.enable_contention_profiling = from.enable_contention_profiling;
     }},
};

metrics::Family<metrics::Counter>& AddReloads(metrics::Registry& registry) {
  return registry.Add<metrics::Counter>(
      {.name = "berth_config_reloads_total",
       .help = "Number of times the configuration was read again while running, by result.",
       .labels = {"result"}});
}

}  // namespace

Result<void> CheckReloadable(const Configuration& running, const Configuration& wanted) {
  for (const FixedField& field : kFixed) {
    Configuration before, after;
    field.copy(running, before);
    field.copy(wanted, after);
    if (config::DumpJson(before) == config::DumpJson(after)) continue;
    return Error::InvalidArgument(fmt::format("{}: cannot be changed while running; restart for it", field.name));
  }
  return {};
}

ConfigReload::ConfigReload(Configuration running, SchedulingLoop& loop, metrics::Registry& metrics,
                           const base::Clock& clock, Options options)
    : ConfigReload(std::move(running), loop, AddReloads(metrics), metrics, clock, std::move(options)) {}

ConfigReload::ConfigReload(Configuration running, SchedulingLoop& loop, metrics::Family<metrics::Counter>& reloads,
                           metrics::Registry& metrics, const base::Clock& clock, Options options)
    : loop_(loop),
      clock_(clock),
      options_(std::move(options)),
      applied_(reloads.With("success")),
      refused_(reloads.With("error")),
      successful_(metrics.AddSingle<metrics::Gauge>(
          {.name = "berth_config_last_reload_successful",
           .help = "1 when the configuration that was read last is in effect, 0 when it was refused."})),
      applied_at_(metrics.AddSingle<metrics::Gauge>(
          {.name = "berth_config_last_reload_success_timestamp_seconds",
           .help = "When the configuration in effect was put into effect, in seconds since 1970."})),
      running_(std::move(running)) {
  successful_.Set(1);
  applied_at_.Set(std::chrono::duration<double>(clock_.Now().time_since_epoch()).count());
}

void ConfigReload::Reload() {
  const std::lock_guard one_at_a_time(reloading_);
  Result<LoadedConfiguration> loaded = options_.load();
  if (!loaded) return Refuse(loaded.error());
  {
    const std::lock_guard lock(mutex_);
    if (Result<void> same = CheckReloadable(running_, loaded->configuration); !same) return RefuseLocked(same.error());
  }
  loop_.Post([this, shared = std::make_shared<LoadedConfiguration>(*std::move(loaded))] { Apply(*shared); });
}

void ConfigReload::Apply(const LoadedConfiguration& loaded) {
  if (Result<void> done = loop_.Reconfigure(loaded.configuration, loaded.registry); !done) return Refuse(done.error());
  {
    const std::lock_guard lock(mutex_);
    running_ = loaded.configuration;
    problem_.clear();
  }
  applied_.Add();
  successful_.Set(1);
  applied_at_.Set(std::chrono::duration<double>(clock_.Now().time_since_epoch()).count());
  LOG_INFO(0, "Configuration reloaded", {"profiles", loaded.configuration.profiles.size()});
  options_.announce("Normal", "ConfigurationReloaded", "The configuration was read again and is in effect");
}

void ConfigReload::Refuse(const Error& error) {
  const std::lock_guard lock(mutex_);
  RefuseLocked(error);
}

void ConfigReload::RefuseLocked(const Error& error) {
  problem_ = error.message;
  refused_.Add();
  successful_.Set(0);
  LOG_ERROR("Configuration not reloaded; the one before stays in effect", {"err", error});
  options_.announce("Warning", "ConfigurationRefused",
                    "The configuration was read again and refused; the one before stays in effect: " + error.message);
}

std::string ConfigReload::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::string ConfigReload::RunningJson() const {
  const std::lock_guard lock(mutex_);
  return config::DumpJson(running_);
}

}  // namespace berth::live
