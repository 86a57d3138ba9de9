#include "input/released_claims.h"

#include <set>
#include <string>

#include "api/resource_claim.h"

namespace berth::input {
namespace {

// Pods as claims refer to them. Pods from files may have no UID.
class Leaving {
 public:
  explicit Leaving(const std::vector<std::shared_ptr<const api::Pod>>& pods) {
    for (const auto& pod : pods) {
      if (pod->metadata.uid.empty()) {
        keys_.insert(api::KeyOf(pod->metadata));
      } else {
        uids_.insert(pod->metadata.uid);
      }
    }
  }

  bool Has(const std::string& uid, const Symbol& name_space, const std::string& name) const {
    return uids_.contains(uid) || keys_.contains(std::string(name_space.str()) + "/" + name);
  }

 private:
  std::set<std::string> uids_;
  std::set<std::string> keys_;
};

}  // namespace

void ReleaseClaims(const std::vector<std::shared_ptr<const api::Pod>>& leaving, ClusterDraft& draft) {
  if (leaving.empty()) return;
  const Leaving pods(leaving);
  const auto is_made_for_one = [&](const api::ResourceClaim& claim) {
    const api::OwnerReference* owner = api::ControllerOf(claim.metadata);
    return owner && owner->kind == "Pod" && pods.Has(owner->uid, claim.metadata.namespace_, owner->name);
  };
  for (size_t i = 0; i < draft.objects().size(); ++i) {
    const auto* claim = draft.objects()[i].object.As<api::ResourceClaim>();
    if (!claim || is_made_for_one(*claim)) continue;
    api::ResourceClaim released = *claim;
    const auto ended = std::erase_if(released.status.reserved_for, [&](const auto& user) {
      return user.resource == "pods" && pods.Has(user.uid, claim->metadata.namespace_, user.name);
    });
    if (ended == 0) continue;
    if (released.status.reserved_for.empty()) released.status = {};
    draft.Replace(i, api::MakeObject(std::move(released)));
  }
  draft.RemoveIf([&](const DraftObject& found) {
    const auto* claim = found.object.As<api::ResourceClaim>();
    return claim && is_made_for_one(*claim);
  });
}

}  // namespace berth::input
