// Licences: a pod with the label example.com/licence=NAME needs a seat of the LicencePool NAME (a custom resource) and
// waits while all of them are taken. A seat is a LicenceGrant, which the plugin creates before the pod is bound; it is
// owned by the pod, so that Kubernetes' garbage collector frees the seat when the pod goes.
//
// Everything but PreBind and PostBind runs on the scheduling thread, so the reservations need no lock. Those two get a
// handle that any thread may use: writing to the API waits for an answer, and happens there.
#pragma once

#include <berth/plugin.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace example {

class Licences final : public berth::framework::Plugin,
                       public berth::framework::PreFilterPlugin,
                       public berth::framework::EnqueueExtensions,
                       public berth::framework::ReservePlugin,
                       public berth::framework::PreBindPlugin,
                       public berth::framework::PostBindPlugin,
                       public berth::framework::SignPlugin {
 public:
  static berth::NewPlugin Create(const berth::PluginArgs& given, berth::framework::Handle& handle);

  std::string_view name() const override { return "Licences"; }

  berth::framework::PreFilterResult PreFilter(berth::framework::CycleState& state,
                                              const berth::framework::PodInfo& pod) const override;
  // A pool that is new or has changed, a grant that is gone.
  std::vector<berth::framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const berth::framework::PodInfo& pod, berth::framework::SignatureBuilder& signature) const override;

  berth::framework::Status Reserve(berth::framework::CycleState& state, const berth::framework::PodInfo& pod,
                                   const std::string& node_name) override;
  void Unreserve(berth::framework::CycleState& state, const berth::framework::PodInfo& pod,
                 const std::string& node_name) override;
  berth::framework::PreBindPreFlightResult PreBindPreFlight(const berth::framework::CycleState& state,
                                                            const berth::framework::PodInfo& pod,
                                                            const std::string& node_name) override;
  berth::framework::Status PreBind(berth::framework::BindingHandle& handle, berth::framework::CycleState& state,
                                   const berth::framework::PodInfo& pod, const std::string& node_name) override;
  void PostBind(berth::framework::BindingHandle& handle, berth::framework::CycleState& state,
                const berth::framework::PodInfo& pod, const std::string& node_name) override;

 private:
  using GrantKey = std::pair<std::string, std::string>;  // namespace and name

  Licences(const berth::framework::Handle& handle, berth::framework::EventResource pools,
           berth::framework::EventResource grants)
      : handle_(handle), pools_(pools), grants_(grants) {}

  // Unset when the pod asks for none.
  static std::string LicenceOf(const berth::framework::PodInfo& pod);
  static GrantKey KeyOf(const berth::framework::PodInfo& pod);
  // How many seats of the licence are granted, or about to be, to others than this pod.
  int64_t Taken(const std::string& licence, const berth::framework::PodInfo& pod) const;

  const berth::framework::Handle& handle_;
  const berth::framework::EventResource pools_;
  const berth::framework::EventResource grants_;
  // Seats whose grant may not be there yet. Stays beside the grant until the pod goes: a seat is counted by its name.
  std::map<GrantKey, std::string> reserved_;
};

}  // namespace example
