// ClusterView: the cluster as plugins see it during a cycle. It does not change while a plugin runs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ticket.h"
#include "framework/node_columns.h"
#include "framework/node_info.h"
#include "framework/recent_changes.h"

namespace berth::framework {

// A pod with volumes that scheduling reads was added to (+1) or removed from (-1) a node.
struct VolumePodChange {
  Symbol node_name;
  PodInfoPtr pod;
  int sign = 0;
};

class ClusterView {
 public:
  virtual ~ClusterView() = default;

  // Every live node. The order is stable between changes but means nothing.
  virtual std::span<const NodeInfo* const> nodes() const = 0;
  virtual const NodeInfo* Find(std::string_view node_name) const = 0;
  // The index must be that of a live node.
  virtual const NodeInfo& row(NodeIndex index) const = 0;
  // Nodes with at least one pod that has affinity (or required anti-affinity) terms.
  virtual std::span<const NodeInfo* const> nodes_with_affinity_pods() const = 0;
  virtual std::span<const NodeInfo* const> nodes_with_required_anti_affinity_pods() const = 0;
  virtual const NodeColumns& columns() const = 0;
  // Values of a label over all nodes by node index; made on first use and kept current afterwards.
  virtual const LabelColumn& label_column(const Symbol& key) const = 0;
  // Whether some node has the image, by normalised name.
  virtual bool HasImage(std::string_view normalized_name) const = 0;
  // Whether the pod with this UID is on a node by the doing of somebody else than this attempt (CycleState::attempt):
  // the API server shows it there, or a later attempt has assumed it, after the pod had left and returned.
  virtual bool IsPlacedByAnother(const std::string& pod_uid, base::Ticket attempt) const = 0;
  // How many pods on nodes use the claim; for ReadWriteOncePod.
  virtual int PodsUsingClaim(std::string_view name_space, std::string_view claim) const = 0;
  // For plugins that track the volumes in use on nodes. Null: this view does not record such changes.
  virtual const RecentChanges<VolumePodChange>* volume_pods() const { return nullptr; }

  // change_count: how many changes to nodes and their pods there have been. ListChangedNodes: the nodes changed since
  // the count was `since`; a node may be listed more than once. False: not known, or no longer known.
  virtual uint64_t change_count() const { return 0; }
  virtual bool ListChangedNodes(uint64_t /*since*/, std::vector<NodeIndex>& /*nodes*/) const { return false; }
};

}  // namespace berth::framework
