// Profile: the plugins of one scheduler name, in order, and the one wrapper through which every extension point runs:
// attribution of verdicts, Skip handling, nominated pods, the metrics hook.
//
// Lives as long as the program. PreEnqueue through Permit on the scheduling thread; PreBind, Bind and PostBind off it.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"
#include "config/types.h"
#include "engine/lane_timing.h"
#include "engine/plugin_observer.h"
#include "framework/handle.h"
#include "framework/node_to_status.h"
#include "framework/posted_work.h"
#include "framework/registry.h"

namespace berth::engine {

class Extender;

// What profiles are built on; everything outlives them.
struct Environment {
  cluster::Cluster& cluster;
  const config::FeatureGates& gates;
  const base::Clock& clock;
  base::Random& random;
  framework::ApiWriter& api;
  framework::WaitingPods& waiting_pods;
  framework::PostedWork& posted;
  // Has a pod that sleeps in the queue tried again; unset where there is no queue. Called on the scheduling thread.
  std::function<void(const std::string& uid)> activate{};
  std::span<Extender* const> extenders{};  // in the order to ask them
  // What Handle::now() tells; null: the clock.
  const base::Clock* input_clock = nullptr;
};

// A plugin at one of its extension points.
template <class Interface>
struct Enabled {
  Interface* plugin = nullptr;
  std::string_view name;
  uint32_t id = 0;     // position among the profile's plugins; the bit in CycleState::skip_*
  int64_t weight = 0;  // of Score
};

// Whether the plugin is among those that said Skip; `mask` is one of CycleState::skip_*.
inline bool IsSkipped(uint64_t mask, uint32_t id) { return (mask >> id) & 1; }

struct PreFilterOutcome {
  framework::Status status;
  std::optional<std::set<std::string>> node_names;  // unset: all nodes
  std::set<std::string, std::less<>> narrowed_by;   // the plugins that gave node names
};

struct PermitOutcome {
  framework::Status status;  // Success, Wait or a rejection
  std::map<std::string, base::Duration> waits;
};

class Profile;

// As long as it lives, the profile's plugins see another picture of the cluster, for a question that begins with "what
// if". Made on the scheduling thread between cycles; CycleStates made meanwhile go before it does.
class [[nodiscard]] OtherPicture {
 public:
  OtherPicture(Profile& profile, const framework::ClusterView& view, const framework::Objects& objects);
  OtherPicture(const OtherPicture&) = delete;
  OtherPicture& operator=(const OtherPicture&) = delete;
  ~OtherPicture();

 private:
  Profile& profile_;
  const framework::ClusterView* const view_before_;
  const framework::Objects* const objects_before_;
};

class Profile final : public framework::Handle, public std::enable_shared_from_this<Profile> {
 public:
  // The configuration has its defaults merged in; multiPoint is expanded here, by what each plugin serves.
  static Result<std::unique_ptr<Profile>> Create(const config::Profile& profile, const framework::Registry& registry,
                                                 const Environment& environment);

  const std::string& scheduler_name() const { return scheduler_name_; }
  // Outlives the profile, or is taken back by null.
  void set_observer(PluginObserver* observer) { observer_ = observer; }
  // Null without one; for those who run plugins past this wrapper.
  PluginObserver* observer() const { return observer_; }
  // Of the plugins' work for lanes, which set_observer's does not see.
  void set_lane_observer(LaneObserver observer) { lane_observer_ = std::move(observer); }
  const LaneObserver& lane_observer() const { return lane_observer_; }
  // The plugins of an extension point in the order they run.
  std::vector<std::string_view> PluginsAt(config::ExtensionPoint point) const;
  // Null when the profile has no such plugin.
  const framework::Plugin* FindPlugin(std::string_view name) const;

  framework::CycleState NewCycleState() const { return framework::CycleState(state_slots_); }

  const framework::QueueSortPlugin& queue_sort() const { return *queue_sort_.front().plugin; }
  // Name of the queue sort plugin; profiles of one program must agree on it.
  std::string_view queue_sort_name() const { return queue_sort_.front().name; }
  // Events each plugin wants to hear about; a plugin that says nothing is woken by everything.
  std::map<std::string, std::vector<framework::ClusterEventWithHint>> EventsToRegister() const;

  framework::Status RunPreEnqueue(const framework::PodInfo& pod) const;
  PreFilterOutcome RunPreFilter(framework::CycleState& state, const framework::PodInfo& pod) const;
  framework::Status RunFilter(const framework::CycleState& state, const framework::PodInfo& pod,
                              const framework::NodeInfo& node) const;
  bool has_post_filter() const { return !post_filter_.empty(); }
  framework::PostFilterResult RunPostFilter(framework::CycleState& state, const framework::PodInfo& pod,
                                            const framework::NodeToStatus& statuses) const;
  framework::Status RunPreScore(framework::CycleState& state, const framework::PodInfo& pod,
                                std::span<const framework::NodeInfo* const> feasible) const;
  // See ReservePlugin::OnNode; the first plugin that has something to say.
  std::shared_ptr<const api::Pod> OnNode(const framework::CycleState& state, const framework::PodInfo& pod,
                                         const std::string& node_name) const;
  framework::Status RunReserve(framework::CycleState& state, const framework::PodInfo& pod,
                               const std::string& node_name);
  // In reverse order; never fails.
  void RunUnreserve(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node_name);
  PermitOutcome RunPermit(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node_name);
  // Pre-flight and PreBind of the plugins that have something to do.
  // Success when some PreBind plugin has something to do, Skip when none has, or an Error. What they said is kept in
  // the state, for RunPreBind.
  framework::Status RunPreBindPreFlight(framework::CycleState& state, const framework::PodInfo& pod,
                                        const std::string& node_name);
  framework::Status RunPreBind(framework::CycleState& state, const framework::PodInfo& pod,
                               const std::string& node_name);
  framework::Status RunBind(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node_name);
  void RunPostBind(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node_name);

  // For the evaluator, which runs these over many nodes.
  std::span<const Enabled<framework::FilterPlugin>> filters() const { return filter_; }
  std::span<const Enabled<framework::ScorePlugin>> scores() const { return score_; }
  // Runs one filter and puts its answer into the form every caller expects.
  framework::Status RunOneFilter(const Enabled<framework::FilterPlugin>& filter, const framework::CycleState& state,
                                 const framework::PodInfo& pod, const framework::NodeInfo& node) const;
  // Pods nominated to the node that `pod` must not push aside.
  bool HasNominatedPodsFor(const framework::PodInfo& pod, const framework::NodeInfo& node) const;
  // The plugin as one that keeps state between cycles; null when it does not.
  const framework::IncrementalState* FindIncremental(uint32_t id) const;
  std::vector<std::pair<uint32_t, const framework::IncrementalState*>> IncrementalPlugins() const;
  std::vector<std::pair<uint32_t, const framework::DeviceFollower*>> DeviceFollowers() const;
  // Runs the plugin's PreFilter again, for a plugin that may change its mind: whether it still says Skip, and whether
  // it still lets all nodes in.
  bool PreFilterSkips(uint32_t id, framework::CycleState& state, const framework::PodInfo& pod) const;
  bool PreFilterPasses(uint32_t id, framework::CycleState& state, const framework::PodInfo& pod) const;
  // Whether no plugin remembers anything that the picture of the cluster does not show.
  bool IsAtRest() const;
  // Whether PreScore of some plugin looks at the feasible nodes.
  bool ReadsFeasibleNodes(const framework::PodInfo& pod) const;
  // Plugins that have a say in PreFilter and none in Filter.
  std::vector<uint32_t> PreFiltersWithoutFilter() const;

  // For metrics: how many nodes each plugin has judged or scored (Filter, Score), and how many pods it has looked at
  // first (PreFilter, PreScore). What was kept from an earlier pod counts as if it had been asked again.
  void CountCycle(const framework::CycleState& state, size_t filtered_nodes, size_t scored_nodes);
  // Calls visit(step, plugin, count) for each of the plugins at these four.
  template <class Visit>
  void ForEachCount(Visit&& visit) const {
    for (const Count& count : counts_) visit(count.step, count.plugin, count.value);
  }

  std::span<Extender* const> extenders() const { return environment_.extenders; }

  // framework::Handle
  const framework::ClusterView& cluster() const override { return *view_; }
  const framework::Objects& objects() const override { return *objects_; }
  const framework::Nominator& nominator() const override { return environment_.cluster.nominator(); }
  dra::Inventory& inventory() const override { return environment_.cluster.inventory(); }
  const config::FeatureGates& gates() const override { return environment_.gates; }
  const base::Clock& clock() const override { return environment_.clock; }
  base::Time now() const override {
    return environment_.input_clock ? environment_.input_clock->Now() : environment_.clock.Now();
  }
  base::Random& random() override { return environment_.random; }
  framework::ApiWriter& api() override { return environment_.api; }
  Result<framework::EventResource> WatchResource(const api::GroupVersionResource& resource, bool keep_json) override {
    return environment_.cluster.custom_objects().Watch(resource, keep_json);
  }
  const framework::CustomObjects& custom_objects() const override { return environment_.cluster.custom_objects(); }
  void RecordEvent(const framework::EventReport& event) override { environment_.api.Record(scheduler_name_, event); }
  void Post(std::function<void()> work) override;
  void Allow(const std::string& uid, const std::string& plugin) override;
  void Reject(const std::string& uid, const std::string& plugin, const std::string& message) override;
  void Activate(const std::vector<std::string>& uids) override;
  framework::WaitingPods& waiting_pods() override { return environment_.waiting_pods; }
  std::span<framework::PreemptionExtender* const> preemption_extenders() const override {
    return preemption_extenders_;
  }
  framework::Status RunFilterWithNominatedPods(framework::CycleState& state, const framework::PodInfo& pod,
                                               const framework::NodeInfo& node) const override;
  framework::Status RunAddPod(framework::CycleState& state, const framework::PodInfo& pod,
                              const framework::PodInfo& other, const framework::NodeInfo& node) const override;
  framework::Status RunRemovePod(framework::CycleState& state, const framework::PodInfo& pod,
                                 const framework::PodInfo& other, const framework::NodeInfo& node) const override;
  bool FiltersJudgeNodesAlone(const framework::CycleState& state) const override {
    return (non_local_filters_ & ~state.skip_filter) == 0;
  }
  uint64_t filters_of_nodes_alone() const override { return filters_of_nodes_alone_; }
  std::optional<std::string> Sign(const framework::PodInfo& pod) const override;

 private:
  friend class OtherPicture;

  explicit Profile(const Environment& environment);

  Result<void> MakePlugins(const config::Profile& profile, const framework::Registry& registry);
  Result<void> ExpandPoints(const config::Profile& profile);
  void FindSigners();
  void FindNonLocalFilters();
  void ListCounts();
  // Calls visit(point, list) for each extension point.
  template <class Self, class Visit>
  static void ForEachPoint(Self& self, Visit&& visit);

  // Runs one plugin's `call`, which gives a Status, and tells the observer when it wants to know.
  template <class Call>
  auto Observed(Step step, std::string_view plugin, Call&& call) const;
  // The same for all plugins of a step together.
  template <class Call>
  auto ObservedStep(Step step, Call&& call) const;

  // Plugins that have nothing to do are added to `skipped`.
  framework::Status AskPreBindPreFlights(const framework::CycleState& state, const framework::PodInfo& pod,
                                         const std::string& node_name, uint64_t& skipped);

  uint32_t NewStateSlot() override { return state_slots_++; }
  void PostAnswer(framework::PostedAnswer answer, std::function<void()> work);

  // Constant after Create.
  Environment environment_;
  std::vector<framework::PreemptionExtender*> preemption_extenders_;  // the environment's, as plugins see them
  std::string scheduler_name_;
  uint32_t state_slots_ = 0;
  std::vector<std::unique_ptr<framework::Plugin>> plugins_;  // by id
  std::map<std::string, uint32_t, std::less<>> id_by_name_;
  std::vector<Enabled<framework::PreEnqueuePlugin>> pre_enqueue_;
  std::vector<Enabled<framework::QueueSortPlugin>> queue_sort_;
  std::vector<Enabled<framework::PreFilterPlugin>> pre_filter_;
  std::vector<Enabled<framework::FilterPlugin>> filter_;
  std::vector<Enabled<framework::PostFilterPlugin>> post_filter_;
  std::vector<Enabled<framework::PreScorePlugin>> pre_score_;
  std::vector<Enabled<framework::ScorePlugin>> score_;
  std::vector<Enabled<framework::ReservePlugin>> reserve_;
  std::vector<Enabled<framework::PermitPlugin>> permit_;
  std::vector<Enabled<framework::PreBindPlugin>> pre_bind_;
  std::vector<Enabled<framework::BindPlugin>> bind_;
  std::vector<Enabled<framework::PostBindPlugin>> post_bind_;
  std::vector<const framework::SignPlugin*> signers_;
  bool all_sign_ = true;
  uint64_t non_local_filters_ = 0;  // plugins, as bits by id, that have a say in filtering and look beyond the node
  uint64_t filters_of_nodes_alone_ = 0;  // likewise, that look at the Node object and no further
  LaneObserver lane_observer_;
  PluginObserver* observer_ = nullptr;
  struct Count {
    Step step;
    std::string_view plugin;
    uint32_t id;
    uint64_t value = 0;
  };
  std::vector<Count> counts_;

  // What plugins see: the environment's cluster, except while there is an OtherPicture.
  const framework::ClusterView* view_;
  const framework::Objects* objects_;
};

}  // namespace berth::engine
