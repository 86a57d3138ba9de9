#include "licences.h"

#include <codec/json.h>
#include <fmt/format.h>

namespace example {

using berth::Result;
using berth::Symbol;
using berth::api::CustomObject;
using berth::framework::ActionType;
using berth::framework::EventObject;
using berth::framework::ObjectCall;
using berth::framework::PodInfo;
using berth::framework::QueueingHint;
using berth::framework::Status;

namespace {

const berth::api::GroupVersionResource kPools{"example.com", "v1", "licencepools"};
const berth::api::GroupVersionResource kGrants{"example.com", "v1", "licencegrants"};

// A field of spec, as text; "" when it is not there.
std::string SpecOf(const CustomObject& object, std::string_view field) {
  const Result<berth::codec::Document> document = berth::codec::ParseJson(object.json, object.metadata.name);
  if (!document) return "";
  const berth::codec::Value* spec = document->root().Find("spec");
  const berth::codec::Value* value = spec != nullptr ? spec->Find(field) : nullptr;
  return value != nullptr ? std::string(value->text()) : "";
}

int64_t SeatsOf(const CustomObject& pool) {
  const std::string seats = SpecOf(pool, "seats");
  return seats.empty() ? 0 : std::strtoll(seats.c_str(), nullptr, 10);
}

}  // namespace

berth::NewPlugin Licences::Create(const berth::PluginArgs&, berth::framework::Handle& handle) {
  const auto pools = handle.WatchResource(kPools, /*keep_json=*/true);
  if (!pools) return pools.error();
  const auto grants = handle.WatchResource(kGrants, /*keep_json=*/true);
  if (!grants) return grants.error();
  return std::unique_ptr<berth::framework::Plugin>(new Licences(handle, *pools, *grants));
}

std::string Licences::LicenceOf(const PodInfo& pod) {
  static const Symbol kLabel("example.com/licence");
  const Symbol* licence = pod.labels().Find(kLabel);
  return licence != nullptr ? std::string(licence->str()) : "";
}

Licences::GrantKey Licences::KeyOf(const PodInfo& pod) {
  return {std::string(pod.namespace_().str()), pod.name() + "-licence"};
}

int64_t Licences::Taken(const std::string& licence, const PodInfo& pod) const {
  std::map<GrantKey, std::string> taken = reserved_;
  for (const auto& [key, grant] : handle_.custom_objects().Of(grants_)) taken[key] = SpecOf(*grant, "pool");
  taken.erase(KeyOf(pod));
  int64_t count = 0;
  for (const auto& [key, pool] : taken) count += pool == licence ? 1 : 0;
  return count;
}

berth::framework::PreFilterResult Licences::PreFilter(berth::framework::CycleState&, const PodInfo& pod) const {
  const std::string licence = LicenceOf(pod);
  if (licence.empty()) return Status::Skip();
  const CustomObject* pool = handle_.custom_objects().Of(pools_).Find(licence);
  if (pool == nullptr) return Status::UnschedulableAndUnresolvable("there is no licence pool " + licence);
  const int64_t seats = SeatsOf(*pool);
  const int64_t taken = Taken(licence, pod);
  if (taken < seats) return Status::Success();
  // Evicting pods does free seats, but not on any particular node: preemption would not know whom to choose.
  return Status::UnschedulableAndUnresolvable(fmt::format("all {} seat(s) of licence {} are taken", seats, licence));
}

std::vector<berth::framework::ClusterEventWithHint> Licences::EventsToRegister() const {
  const auto is_pool = [](const PodInfo& pod, const EventObject&, const EventObject& after) {
    const auto* pool = after.As<CustomObject>();
    return pool == nullptr || pool->metadata.name == LicenceOf(pod) ? QueueingHint::kQueue : QueueingHint::kSkip;
  };
  const auto was_grant = [](const PodInfo& pod, const EventObject& before, const EventObject&) {
    const auto* grant = before.As<CustomObject>();
    return grant == nullptr || SpecOf(*grant, "pool") == LicenceOf(pod) ? QueueingHint::kQueue : QueueingHint::kSkip;
  };
  return {{{pools_, ActionType::kAdd | ActionType::kUpdate}, is_pool}, {{grants_, ActionType::kDelete}, was_grant}};
}

bool Licences::Sign(const PodInfo& pod, berth::framework::SignatureBuilder& signature) const {
  signature.Add("Licences", LicenceOf(pod));
  return true;
}

Status Licences::Reserve(berth::framework::CycleState&, const PodInfo& pod, const std::string&) {
  if (const std::string licence = LicenceOf(pod); !licence.empty()) reserved_[KeyOf(pod)] = licence;
  return Status::Success();
}

void Licences::Unreserve(berth::framework::CycleState&, const PodInfo& pod, const std::string&) {
  reserved_.erase(KeyOf(pod));
}

berth::framework::PreBindPreFlightResult Licences::PreBindPreFlight(const berth::framework::CycleState&,
                                                                    const PodInfo& pod, const std::string&) {
  return {LicenceOf(pod).empty() ? Status::Skip() : Status::Success()};
}

Status Licences::PreBind(berth::framework::BindingHandle& handle, berth::framework::CycleState&, const PodInfo& pod,
                         const std::string&) {
  const GrantKey key = KeyOf(pod);
  ObjectCall create{.verb = ObjectCall::Verb::kCreate, .resource = kGrants, .name_space = key.first};
  create.body = fmt::format(
      R"({{"apiVersion":"{}","kind":"LicenceGrant","metadata":{{"name":"{}","namespace":"{}","ownerReferences":[)"
      R"({{"apiVersion":"v1","kind":"Pod","name":"{}","uid":"{}"}}]}},"spec":{{"pool":"{}"}}}})",
      kGrants.ApiVersion(), key.second, key.first, pod.name(), pod.uid(), LicenceOf(pod));
  const Result<std::string> created = handle.api().Call(create);
  // There already: an earlier attempt got this far.
  if (created || created.error().code == berth::ErrorCode::kAlreadyExists) return Status::Success();
  return Status::FromError(created.error());
}

void Licences::PostBind(berth::framework::BindingHandle& handle, berth::framework::CycleState&, const PodInfo& pod,
                        const std::string&) {
  const std::string licence = LicenceOf(pod);
  if (licence.empty()) return;
  handle.RecordEvent({.regarding = berth::framework::ReferenceTo(pod),
                      .reason = "LicenceGranted",
                      .action = "Binding",
                      .note = "Got a seat of licence " + licence});
}

}  // namespace example
