// ZoneLabel: a pod that names a zone goes to nodes of that zone; a pod that names none goes to those of the default
// zones, if there are any, and anywhere otherwise.
//
// It drops nodes in PreFilter, by name: nodes of other zones are never filtered one by one. The price is a walk over
// all nodes for each such pod, and that the search is made afresh every time.
#pragma once

#include <berth/plugin.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace example {

struct ZoneLabelArgs {
  std::string node_label = "topology.kubernetes.io/zone";
  std::string pod_label = "example.com/zone";
  std::vector<std::string> default_zones;
};
const berth::codec::Message& Describe(const ZoneLabelArgs*);

class ZoneLabel final : public berth::framework::Plugin,
                        public berth::framework::PreFilterPlugin,
                        public berth::framework::EnqueueExtensions,
                        public berth::framework::SignPlugin,
                        public berth::framework::ExplainsRejections {
 public:
  static berth::NewPlugin Create(const berth::PluginArgs& given, berth::framework::Handle& handle);

  std::string_view name() const override { return "ZoneLabel"; }
  berth::framework::PreFilterResult PreFilter(berth::framework::CycleState& state,
                                              const berth::framework::PodInfo& pod) const override;
  // A node that comes to a zone the pod may go to.
  std::vector<berth::framework::ClusterEventWithHint> EventsToRegister() const override;
  // Which zones the pod may go to is all that is read of it.
  bool Sign(const berth::framework::PodInfo& pod, berth::framework::SignatureBuilder& signature) const override;
  // For `simulate --explain`: the zones that the pod may go to and the node's, and a pod that asks for the node's zone.
  std::unique_ptr<berth::framework::RejectionExplainer> ExplainRejections(
      const berth::framework::PodInfo& pod) const override;

 private:
  class Explainer;

  ZoneLabel(const ZoneLabelArgs& args, const berth::framework::Handle& handle);

  // Empty: any.
  std::vector<berth::Symbol> ZonesOf(const berth::framework::PodInfo& pod) const;
  bool IsIn(const berth::api::Labels& node_labels, const std::vector<berth::Symbol>& zones) const;

  const berth::Symbol node_label_;
  const berth::Symbol pod_label_;
  std::vector<berth::Symbol> default_zones_;
  const berth::framework::Handle& handle_;
};

}  // namespace example
