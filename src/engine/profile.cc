// Building a profile: making its plugins, expanding multiPoint, weights. Running it is in profile_run.cc.
#include "engine/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/resolve.h"
#include "engine/extender.h"
#include "framework/kept_state.h"

namespace berth::engine {

using config::ExtensionPoint;
using framework::Plugin;

template <class Self, class Visit>
void Profile::ForEachPoint(Self& self, Visit&& visit) {
  visit(ExtensionPoint::kPreEnqueue, self.pre_enqueue_);
  visit(ExtensionPoint::kQueueSort, self.queue_sort_);
  visit(ExtensionPoint::kPreFilter, self.pre_filter_);
  visit(ExtensionPoint::kFilter, self.filter_);
  visit(ExtensionPoint::kPostFilter, self.post_filter_);
  visit(ExtensionPoint::kPreScore, self.pre_score_);
  visit(ExtensionPoint::kScore, self.score_);
  visit(ExtensionPoint::kReserve, self.reserve_);
  visit(ExtensionPoint::kPermit, self.permit_);
  visit(ExtensionPoint::kPreBind, self.pre_bind_);
  visit(ExtensionPoint::kBind, self.bind_);
  visit(ExtensionPoint::kPostBind, self.post_bind_);
}

Profile::Profile(const Environment& environment)
    : environment_(environment),
      preemption_extenders_(environment.extenders.begin(), environment.extenders.end()),
      view_(&environment.cluster),
      objects_(&std::as_const(environment.cluster).objects()) {}

OtherPicture::OtherPicture(Profile& profile, const framework::ClusterView& view, const framework::Objects& objects)
    : profile_(profile),
      view_before_(std::exchange(profile.view_, &view)),
      objects_before_(std::exchange(profile.objects_, &objects)) {}

OtherPicture::~OtherPicture() {
  profile_.view_ = view_before_;
  profile_.objects_ = objects_before_;
}

Result<std::unique_ptr<Profile>> Profile::Create(const config::Profile& config, const framework::Registry& registry,
                                                 const Environment& environment) {
  std::unique_ptr<Profile> profile(new Profile(environment));
  profile->scheduler_name_ = config.scheduler_name;
  if (Result<void> made = profile->MakePlugins(config, registry); !made) return made.error();
  if (Result<void> expanded = profile->ExpandPoints(config); !expanded) return expanded.error();
  profile->FindSigners();
  profile->ListCounts();
  profile->FindNonLocalFilters();
  return profile;
}

Result<void> Profile::MakePlugins(const config::Profile& config, const framework::Registry& registry) {
  std::map<std::string, config::PluginArgs> args;
  for (const config::PluginConfig& entry : config.plugin_config) {
    const bool unread = std::holds_alternative<std::monostate>(entry.args) && !entry.raw_args.empty();
    if (!args.emplace(entry.name, unread ? config::RawArgs{entry.raw_args} : entry.args).second) {
      return Error::InvalidArgument(fmt::format("repeated config for plugin {}", entry.name));
    }
  }
  std::set<std::string> needed;
  for (const config::Plugin& plugin : config.plugins.multi_point.enabled) needed.insert(plugin.name);
  for (const config::PluginSet& set : config.plugins.points) {
    for (const config::Plugin& plugin : set.enabled) needed.insert(plugin.name);
  }
  static const config::PluginArgs kNoArgs;
  for (const std::string& name : needed) {
    const framework::PluginFactory* factory = registry.Find(name);
    if (!factory) continue;  // ResolvePlugins reports it, with the extension point that names it
    const auto found = args.find(name);
    Result<std::unique_ptr<Plugin>> plugin = (*factory)(found == args.end() ? kNoArgs : found->second, *this);
    if (!plugin) {
      return Error{plugin.error().code, fmt::format("initializing plugin \"{}\": {}", name, plugin.error().message)};
    }
    id_by_name_.emplace(name, static_cast<uint32_t>(plugins_.size()));
    plugins_.push_back(std::move(*plugin));
  }
  // CycleState keeps the plugins that skip a cycle as bits of one word.
  if (plugins_.size() > 64) {
    return Error::InvalidArgument(
        fmt::format("a profile may have at most 64 plugins, \"{}\" has {}", scheduler_name_, plugins_.size()));
  }
  return {};
}

// The interfaces of a plugin say which points it implements; the configuration's rules then say what runs where.
Result<void> Profile::ExpandPoints(const config::Profile& config) {
  std::vector<config::KnownPlugin> known;
  for (const auto& [name, id] : id_by_name_) {
    known.push_back({name, {}});
    const Plugin& plugin = *plugins_[id];
    ForEachPoint(*this, [&]<class Interface>(ExtensionPoint point, const std::vector<Enabled<Interface>>&) {
      if (dynamic_cast<const Interface*>(&plugin) && plugin.Serves(point)) known.back().points.Add(point);
    });
  }
  const Result<config::ResolvedPlugins> resolved = config::ResolvePlugins(config, known);
  if (!resolved) return resolved.error();
  ForEachPoint(*this, [&]<class Interface>(ExtensionPoint point, std::vector<Enabled<Interface>>& list) {
    for (const config::Plugin& plugin : resolved->at(point)) {
      const auto it = id_by_name_.find(plugin.name);
      list.push_back({dynamic_cast<Interface*>(plugins_[it->second].get()), it->first, it->second, plugin.weight});
    }
  });
  return {};
}

// Only plugins that filter or score matter to a signature; if one of them cannot sign, no pods share evaluations.
void Profile::FindSigners() {
  std::set<uint32_t> ids;
  for (const auto& filter : filter_) ids.insert(filter.id);
  for (const auto& score : score_) ids.insert(score.id);
  for (const auto& pre_filter : pre_filter_) ids.insert(pre_filter.id);
  for (const auto& pre_score : pre_score_) ids.insert(pre_score.id);
  for (const uint32_t id : ids) {
    if (const auto* signer = dynamic_cast<const framework::SignPlugin*>(plugins_[id].get())) {
      signers_.push_back(signer);
    } else {
      all_sign_ = false;
    }
  }
}

// What PreFilter, AddPod and RemovePod read is known from the plugin's Filter; without one it may be anything.
void Profile::FindNonLocalFilters() {
  uint64_t node_alone = 0;
  for (const auto& filter : filter_) {
    const framework::DependsOn what = filter.plugin->filter_depends_on();
    const bool alone = what == framework::DependsOn::kNode || what == framework::DependsOn::kNodeAndPods;
    (alone ? node_alone : non_local_filters_) |= uint64_t{1} << filter.id;
    if (what == framework::DependsOn::kNode) filters_of_nodes_alone_ |= uint64_t{1} << filter.id;
  }
  for (const auto& pre_filter : pre_filter_) non_local_filters_ |= (uint64_t{1} << pre_filter.id) & ~node_alone;
}

void Profile::ListCounts() {
  const auto list = [&](Step step, const auto& plugins) {
    for (const auto& enabled : plugins) counts_.push_back({step, enabled.name, enabled.id, 0});
  };
  list(Step::kPreFilter, pre_filter_);
  list(Step::kFilter, filter_);
  list(Step::kPreScore, pre_score_);
  list(Step::kScore, score_);
}

void Profile::CountCycle(const framework::CycleState& state, size_t filtered_nodes, size_t scored_nodes) {
  for (Count& count : counts_) {
    const bool filters = count.step == Step::kPreFilter || count.step == Step::kFilter;
    if (IsSkipped(filters ? state.skip_filter : state.skip_score, count.id)) continue;
    if (!filters && scored_nodes == 0) continue;
    count.value += count.step == Step::kFilter ? filtered_nodes : count.step == Step::kScore ? scored_nodes : 1;
  }
}

const framework::IncrementalState* Profile::FindIncremental(uint32_t id) const {
  return dynamic_cast<const framework::IncrementalState*>(plugins_[id].get());
}

std::vector<std::pair<uint32_t, const framework::IncrementalState*>> Profile::IncrementalPlugins() const {
  std::vector<std::pair<uint32_t, const framework::IncrementalState*>> found;
  for (uint32_t id = 0; id < plugins_.size(); ++id) {
    if (const framework::IncrementalState* plugin = FindIncremental(id)) found.emplace_back(id, plugin);
  }
  return found;
}

bool Profile::ReadsFeasibleNodes(const framework::PodInfo& pod) const {
  return std::ranges::any_of(pre_score_, [&](const auto& enabled) { return enabled.plugin->ReadsFeasibleNodes(pod); });
}

std::vector<std::pair<uint32_t, const framework::DeviceFollower*>> Profile::DeviceFollowers() const {
  std::vector<std::pair<uint32_t, const framework::DeviceFollower*>> found;
  for (uint32_t id = 0; id < plugins_.size(); ++id) {
    if (const auto* plugin = dynamic_cast<const framework::DeviceFollower*>(plugins_[id].get())) {
      found.emplace_back(id, plugin);
    }
  }
  return found;
}

bool Profile::IsAtRest() const {
  return std::all_of(plugins_.begin(), plugins_.end(), [](const std::unique_ptr<Plugin>& plugin) {
    const auto* keeps = dynamic_cast<const framework::KeepsState*>(plugin.get());
    return keeps == nullptr || keeps->IsAtRest();
  });
}

std::vector<std::string_view> Profile::PluginsAt(ExtensionPoint wanted) const {
  std::vector<std::string_view> names;
  ForEachPoint(*this, [&](ExtensionPoint point, const auto& list) {
    if (point != wanted) return;
    for (const auto& enabled : list) names.push_back(enabled.name);
  });
  return names;
}

const Plugin* Profile::FindPlugin(std::string_view name) const {
  const auto found = id_by_name_.find(name);
  return found == id_by_name_.end() ? nullptr : plugins_[found->second].get();
}

std::map<std::string, std::vector<framework::ClusterEventWithHint>> Profile::EventsToRegister() const {
  std::map<std::string, std::vector<framework::ClusterEventWithHint>> events;
  for (const auto& [name, id] : id_by_name_) {
    const auto* extensions = dynamic_cast<const framework::EnqueueExtensions*>(plugins_[id].get());
    events[name] = extensions ? extensions->EventsToRegister() : std::vector<framework::ClusterEventWithHint>{{}};
  }
  // No event is known to change an extender's answer, so every event may.
  if (!environment_.extenders.empty()) events.emplace(kExtenderName, std::vector<framework::ClusterEventWithHint>{{}});
  return events;
}

}  // namespace berth::engine
