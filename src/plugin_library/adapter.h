// Adapter: a library's plugin behind the framework's interfaces. It implements all of them; Serves says which ones the
// library's class provides.
//
// No fault of the library gets past this class, short of a signal: exceptions, codes that a function may not return,
// and verdicts and scores out of range become Error statuses that name the plugin and the library. Passes over many
// nodes cannot return an Error; they decline instead, and the engine then calls the plugin node by node, where the
// Error is reported.
#pragma once

#include <memory>
#include <string>

#include "framework/registry.h"
#include "plugin_library/instance.h"

namespace berth::plugin_library {

// For the registry; each call makes an instance.
framework::PluginFactory FactoryFor(std::shared_ptr<const PluginClass> plugin_class);

// What PreFilter and PreScore have stored. Clones share it until one of them has to change it (Adapter::OwnData).
struct CycleData final : framework::CopyableState<CycleData> {
  std::shared_ptr<void> pre_filter;
  std::shared_ptr<void> pre_score;
};

class Adapter final : public framework::Plugin,
                      public framework::QueueSortPlugin,
                      public framework::PreEnqueuePlugin,
                      public framework::EnqueueExtensions,
                      public framework::PreFilterPlugin,
                      public framework::FilterPlugin,
                      public framework::PostFilterPlugin,
                      public framework::PreScorePlugin,
                      public framework::ScorePlugin,
                      public framework::ReservePlugin,
                      public framework::PermitPlugin,
                      public framework::SignPlugin,
                      public framework::ExplainsRejections {
 public:
  explicit Adapter(std::shared_ptr<Instance> instance);

  std::string_view name() const override { return instance_->plugin_class().name; }
  bool Serves(config::ExtensionPoint point) const override;

  bool Less(const framework::QueuedPodView& a, const framework::QueuedPodView& b) const override;
  framework::Status PreEnqueue(const framework::PodInfo& pod) const override;
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;

  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  framework::DependsOn filter_depends_on() const override;
  bool FilterRange(const framework::CycleState& state, const framework::PodInfo& pod,
                   const framework::NodeColumns& columns, framework::NodeIndex begin,
                   std::span<uint8_t> verdicts) const override;
  void FilterList(const framework::CycleState& state, const framework::PodInfo& pod,
                  const framework::NodeColumns& columns, std::span<const framework::NodeIndex> nodes,
                  std::span<uint8_t> verdicts) const override;

  framework::Status AddPod(framework::CycleState& state, const framework::PodInfo& pod, const framework::PodInfo& other,
                           const framework::NodeInfo& node) const override;
  framework::Status RemovePod(framework::CycleState& state, const framework::PodInfo& pod,
                              const framework::PodInfo& other, const framework::NodeInfo& node) const override;
  framework::PostFilterResult PostFilter(framework::CycleState& state, const framework::PodInfo& pod,
                                         const framework::NodeToStatus& statuses) const override;

  // Must not outlive the adapter.
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

  framework::Status PreScore(framework::CycleState& state, const framework::PodInfo& pod,
                             std::span<const framework::NodeInfo* const> feasible) const override;
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  framework::DependsOn score_depends_on() const override;
  bool ScoreRange(const framework::CycleState& state, const framework::PodInfo& pod,
                  const framework::NodeColumns& columns, framework::NodeIndex begin,
                  std::span<int64_t> scores) const override;
  bool ScoreList(const framework::CycleState& state, const framework::PodInfo& pod,
                 const framework::NodeColumns& columns, std::span<const framework::NodeIndex> nodes,
                 std::span<int64_t> scores) const override;
  framework::Normalization normalization() const override;
  framework::Status NormalizeScore(const framework::CycleState& state, const framework::PodInfo& pod,
                                   std::span<framework::NodeScore> scores) const override;

  framework::Status Reserve(framework::CycleState& state, const framework::PodInfo& pod,
                            const std::string& node_name) override;
  void Unreserve(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node_name) override;
  framework::PermitResult Permit(framework::CycleState& state, const framework::PodInfo& pod,
                                 const std::string& node_name) override;

 private:
  class Explainer;

  const berth_plugin_class& table() const { return instance_->table(); }
  framework::Status Trouble(std::string_view point, std::string_view what) const;
  // `call` returns the code; `allowed` are codes as bits, besides success and error.
  template <class Call>
  framework::Status Run(std::string_view point, uint32_t allowed, CallFrame& frame, Call&& call) const;
  void ShowData(const framework::CycleState& state, CallFrame& frame) const;
  // Memory of the library, which is freed by the library after its last use.
  std::shared_ptr<void> TakeOver(void* data) const;

  // The data of PreFilter, for AddPod and RemovePod to change: copied first if other states share it.
  framework::Status OwnData(framework::CycleState& state) const;
  using ChangeFn = berth_code (*)(void* self, berth_call*, const berth_pod* other, const berth_nodes* node);
  framework::Status FollowChange(std::string_view point, ChangeFn change, framework::CycleState& state,
                                 const framework::PodInfo& pod, const framework::PodInfo& other,
                                 const framework::NodeInfo& node) const;

  framework::Status RunFilter(const framework::CycleState& state, const framework::PodInfo& pod, const NodeBatch& nodes,
                              std::span<uint8_t> verdicts) const;
  bool FilterBatch(const framework::CycleState& state, const framework::PodInfo& pod, const NodeBatch& nodes,
                   std::span<uint8_t> verdicts) const;
  framework::Status RunScore(const framework::CycleState& state, const framework::PodInfo& pod, const NodeBatch& nodes,
                             std::span<int64_t> scores) const;
  bool ScoreBatch(const framework::CycleState& state, const framework::PodInfo& pod, const NodeBatch& nodes,
                  std::span<int64_t> scores) const;

  std::shared_ptr<Instance> instance_;
  framework::StateKey<CycleData> data_;
};

}  // namespace berth::plugin_library
