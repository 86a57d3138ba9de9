// VolumeReservation: the writes that bind a pod's claims for its node. Assumed in Reserve, written in PreBind, then
// watched until the volume controller has finished; on release, what was not written is forgotten.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/handle.h"
#include "framework/status.h"
#include "plugins/volume_binding/volume_plan.h"

namespace berth::plugins {

class VolumeReservation {
 public:
  VolumeReservation() = default;

  // Prepares the writes and makes later cycles see them.
  static VolumeReservation Assume(const NodeVolumes& volumes, const std::string& node_name,
                                  const framework::Objects& objects, AssumedStorage& assumed);

  // Stops at the first failure. Touches neither the objects nor the assumptions, since it runs off the scheduling
  // thread.
  framework::Status Write(framework::BindingWriter& api);

  // Whether the claims are bound by now: Success, an Error that requires another attempt, or unset while pending.
  std::optional<framework::Status> Check(const framework::Objects& objects, const framework::NodeInfo* node) const;

  // Idempotent. Written objects stay assumed: the server has them and will report them.
  void Release(AssumedStorage& assumed) const;

 private:
  template <class T>
  struct Change {
    std::shared_ptr<const T> after;
    bool changes = false;  // otherwise the object is already as it should be
    bool written = false;
  };
  struct Binding {
    ClaimPtr claim;
    Change<api::PersistentVolume> volume;
  };

  std::optional<framework::Status> CheckBinding(const Binding& binding, const framework::Objects& objects,
                                                const framework::NodeInfo& node) const;
  std::optional<framework::Status> CheckProvision(const Change<api::PersistentVolumeClaim>& provision,
                                                  const framework::Objects& objects,
                                                  const framework::NodeInfo& node) const;

  std::string node_name_;
  std::vector<Binding> bindings_;
  std::vector<Change<api::PersistentVolumeClaim>> provisions_;
};

}  // namespace berth::plugins
