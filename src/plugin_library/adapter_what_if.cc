// What-ifs and PostFilter: the points that came with version 2 of the ABI.
#include <algorithm>

#include "framework/node_to_status.h"
#include "plugin_library/adapter_run.h"

namespace berth::plugin_library {

using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

Status Adapter::OwnData(CycleState& state) const {
  CycleData* data = state.FindMutable(data_);
  if (data == nullptr || data->pre_filter == nullptr || data->pre_filter.use_count() == 1) return Status::Success();
  void* copy = nullptr;
  const std::string thrown = ThrownBy([&] { copy = table().clone_data(instance_->self(), data->pre_filter.get()); });
  if (!thrown.empty()) return Trouble("CloneData", thrown);
  if (copy == nullptr) return Trouble("CloneData", "gave no copy");
  data->pre_filter = TakeOver(copy);
  return Status::Success();
}

Status Adapter::FollowChange(std::string_view point, ChangeFn change, CycleState& state, const PodInfo& pod,
                             const PodInfo& other, const NodeInfo& node) const {
  if (change == nullptr) return Status::Success();
  if (Status own = OwnData(state); !own.ok()) return own;
  CallFrame frame(pod);
  ShowData(state, frame);
  const berth_pod changed = ViewOf(other);
  const NodeInfo* const row = &node;
  const NodeBatch batch(instance_->handle().cluster(), {&row, 1});
  return Run(point, 0, frame, [&] { return change(instance_->self(), frame.call(), &changed, batch.view()); });
}

Status Adapter::AddPod(CycleState& state, const PodInfo& pod, const PodInfo& other, const NodeInfo& node) const {
  return FollowChange("AddPod", table().add_pod, state, pod, other, node);
}

Status Adapter::RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& other, const NodeInfo& node) const {
  return FollowChange("RemovePod", table().remove_pod, state, pod, other, node);
}

framework::PostFilterResult Adapter::PostFilter(CycleState& state, const PodInfo& pod,
                                                const framework::NodeToStatus& statuses) const {
  const framework::ClusterView& cluster = instance_->handle().cluster();
  const std::span<const NodeInfo* const> rows = cluster.nodes();
  std::vector<berth_code> codes;
  for (const NodeInfo* row : rows) codes.push_back(static_cast<berth_code>(statuses.Get(row->index()).code()));
  CallFrame frame(pod);
  ShowData(state, frame);
  frame.state = &state;
  frame.handle = &instance_->handle();
  const NodeBatch batch(cluster, rows);
  framework::PostFilterResult result = Run("PostFilter", kRejections, frame, [&] {
    return table().post_filter(instance_->self(), frame.call(), batch.view(), codes.data());
  });
  if (!result.status.ok()) return result;
  const NodeInfo* node = cluster.Find(frame.nominated);
  if (node == nullptr) {
    return Trouble("PostFilter", fmt::format("nominated node \"{}\", which does not exist", frame.nominated));
  }
  for (const std::string& uid : frame.victims) {
    const auto found = std::ranges::find_if(node->pods(), [&](const auto& there) { return there->uid() == uid; });
    if (found == node->pods().end()) {
      return Trouble("PostFilter", fmt::format("wants pod {} evicted, which is not on node {}", uid, node->name()));
    }
    result.victims.pods.push_back(*found);
  }
  result.nominated_node_name = frame.nominated;
  return result;
}

}  // namespace berth::plugin_library
