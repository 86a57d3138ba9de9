// Profile: the plugins of one scheduler name, in order, and the one wrapper through which every extension point runs:
// attribution of verdicts, Skip handling, nominated pods, the metrics hook.
//
// Lives until the configuration is replaced and its last binding cycle has ended. PreEnqueue through Permit run on the
// scheduling thread; PreBind, Bind and PostBind off it.
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

// What profiles are built on; everything must outlive them.
struct Environment {
  cluster::Cluster& cluster;
  const config::FeatureGates& gates;
  const base::Clock& clock;
  base::Random& random;
  framework::ApiWriter& api;
  framework::WaitingPods& waiting_pods;
  framework::PostedWork& posted;
  // Makes an unschedulable or backing-off pod active at once; unset where there is no queue. Called on the scheduling
  // thread.
  std::function<void(const std::string& uid)> activate{};
  std::span<Extender* const> extenders{};  // in the order in which they are asked
  // The source of Handle::now(); null: the clock.
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

// Whether the plugin returned Skip; `mask` is one of CycleState::skip_*.
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

// While it exists, the profile's plugins see another view of the cluster, for what-if questions. Made on the scheduling
// thread between cycles; CycleStates made meanwhile must be destroyed before it.
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
  // The configuration has its defaults merged in; multiPoint is expanded here, by the points each plugin implements.
  static Result<std::unique_ptr<Profile>> Create(const config::Profile& profile, const framework::Registry& registry,
                                                 const Environment& environment);

  const std::string& scheduler_name() const { return scheduler_name_; }
  // Must outlive the profile, or be reset with null.
  void set_observer(PluginObserver* observer) { observer_ = observer; }
  // Null when there is none; for code that runs plugins without this wrapper.
  PluginObserver* observer() const { return observer_; }
  // Reports the plugins' work for lanes, which set_observer's observer does not see.
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
  // The events each plugin registers for; without EnqueueExtensions, every event requeues the pods that it rejected.
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
  // See ReservePlugin::OnNode; the first plugin that returns a pod decides.
  std::shared_ptr<const api::Pod> OnNode(const framework::CycleState& state, const framework::PodInfo& pod,
                                         const std::string& node_name) const;
  framework::Status RunReserve(framework::CycleState& state, const framework::PodInfo& pod,
                               const std::string& node_name);
  // In reverse order; never fails.
  void RunUnreserve(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node_name);
  PermitOutcome RunPermit(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node_name);
  // RunPreBindPreFlight: Success when some PreBind plugin has something to do, Skip when none has, or an Error. The
  // answers are kept in the state, for RunPreBind.
  framework::Status RunPreBindPreFlight(framework::CycleState& state, const framework::PodInfo& pod,
                                        const std::string& node_name);
  framework::Status RunPreBind(framework::CycleState& state, const framework::PodInfo& pod,
                               const std::string& node_name);
  framework::Status RunBind(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node_name);
  void RunPostBind(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node_name);

  // For the evaluator, which runs them over many nodes.
  std::span<const Enabled<framework::FilterPlugin>> filters() const { return filter_; }
  std::span<const Enabled<framework::ScorePlugin>> scores() const { return score_; }
  // Runs one filter and normalises its status as every caller expects.
  framework::Status RunOneFilter(const Enabled<framework::FilterPlugin>& filter, const framework::CycleState& state,
                                 const framework::PodInfo& pod, const framework::NodeInfo& node) const;
  // Whether pods are nominated to the node that `pod` must not displace.
  bool HasNominatedPodsFor(const framework::PodInfo& pod, const framework::NodeInfo& node) const;
  // The plugin's IncrementalState interface; null when it has none.
  const framework::IncrementalState* FindIncremental(uint32_t id) const;
  std::vector<std::pair<uint32_t, const framework::IncrementalState*>> IncrementalPlugins() const;
  std::vector<std::pair<uint32_t, const framework::DeviceFollower*>> DeviceFollowers() const;
  // Runs the plugin's PreFilter again, for a plugin whose answer may have changed: whether it still returns Skip, and
  // whether it still allows all nodes.
  bool PreFilterSkips(uint32_t id, framework::CycleState& state, const framework::PodInfo& pod) const;
  bool PreFilterPasses(uint32_t id, framework::CycleState& state, const framework::PodInfo& pod) const;
  // Whether no plugin holds state that the cluster view does not show.
  bool IsAtRest() const;
  // Whether some plugin's PreScore reads the feasible nodes.
  bool ReadsFeasibleNodes(const framework::PodInfo& pod) const;
  // Plugins with PreFilter but no Filter.
  std::vector<uint32_t> PreFiltersWithoutFilter() const;

  // For metrics: how many nodes each plugin has filtered or scored (Filter, Score), and for how many pods it has run
  // PreFilter and PreScore. Answers kept from an earlier pod count as if the plugin had been called again.
  void CountCycle(const framework::CycleState& state, size_t filtered_nodes, size_t scored_nodes);
  // Calls visit(step, plugin, count) for each plugin at these four points.
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
  using framework::Handle::Allow;
  using framework::Handle::Reject;
  void Allow(const std::string& uid, const std::string& plugin, base::Ticket attempt) override;
  void Reject(const std::string& uid, const std::string& plugin, const std::string& message,
              base::Ticket attempt) override;
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

  // Runs one plugin's `call`, which returns a Status, and reports it to the observer if that wants it.
  template <class Call>
  auto Observed(Step step, std::string_view plugin, Call&& call) const;
  // The same for all plugins of a step together.
  template <class Call>
  auto ObservedStep(Step step, Call&& call) const;

  // Plugins that have nothing to do are added to `skipped`.
  framework::Status AskPreBindPreFlights(const framework::CycleState& state, const framework::PodInfo& pod,
                                         const std::string& node_name, uint64_t& skipped);

  uint32_t NewStateSlot() override { return state_slots_++; }
  void PostAnswer(framework::PostedAnswer answer, std::function<void()> work, std::function<bool()> is_wanted = {});
  // Whether that attempt still waits, so that an answer about it is wanted.
  std::function<bool()> IfWaits(const std::string& uid, base::Ticket attempt) const;

  // Constant after Create.
  const std::shared_ptr<const int> alive_ = std::make_shared<const int>(0);  // goes with the profile
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
  uint64_t non_local_filters_ = 0;       // plugins, as bits by id, that take part in filtering and look beyond the node
  uint64_t filters_of_nodes_alone_ = 0;  // likewise, those that read the Node object only
  LaneObserver lane_observer_;
  PluginObserver* observer_ = nullptr;
  struct Count {
    Step step;
    std::string_view plugin;
    uint32_t id;
    uint64_t value = 0;
  };
  std::vector<Count> counts_;

  // What plugins see: the environment's cluster, except while an OtherPicture exists.
  const framework::ClusterView* view_;
  const framework::Objects* objects_;
};

}  // namespace berth::engine
