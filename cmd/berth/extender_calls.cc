#include "extender_calls.h"

#include <fmt/format.h>

#include "http/rest_config.h"
#include "input_flags.h"
#include "live/extender_connection.h"

namespace berth::cmd {

void AddExtendersFlag(FlagSet& flags, bool* wanted) {
  flags.Add(wanted, "extenders", 0,
            "call the extenders of the configuration, which are skipped by default, since they answer for the cluster "
            "they watch and may answer differently each time");
}

Result<ExtenderCalls> ExtenderCalls::Make(const config::KubeSchedulerConfiguration& configuration, bool wanted) {
  ExtenderCalls calls;
  std::vector<config::Extender> extenders = configuration.extenders;
  if (extenders.empty()) return calls;
  if (!wanted) {
    PrintWarnings(
        {"extenders are not called, and all is decided without them: they speak for the cluster they watch, which is "
         "not the one simulated here, and may answer differently each time; --extenders calls them"});
    return calls;
  }
  for (config::Extender& extender : extenders) {
    if (extender.bind_verb.empty()) continue;
    PrintWarnings({fmt::format("extender {} is not asked to bind: nothing is bound here", extender.url_prefix)});
    extender.bind_verb.clear();
  }
  auto made = live::MakeHttpExtenders(extenders, http::UserAgent("kube-scheduler", BERTH_VERSION), *calls.clock_);
  if (!made) return made.error();
  calls.made_ = *std::move(made);
  return calls;
}

std::vector<engine::Extender*> ExtenderCalls::extenders() const {
  std::vector<engine::Extender*> extenders;
  for (const auto& extender : made_) extenders.push_back(extender.get());
  return extenders;
}

}  // namespace berth::cmd
