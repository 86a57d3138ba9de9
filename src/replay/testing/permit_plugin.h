// NeedsPermit: a plugin that decides by a custom resource, and asks the API for objects of its own when it binds.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codec/json.h"
#include "engine/testing/scripted_plugins.h"
#include "framework/handle.h"
#include "framework/registry.h"

namespace berth::replay::testing {

inline const api::GroupVersionResource kPermits{"example.com", "v1", "permits"};
inline const api::GroupVersionResource kSecrets{"", "v1", "secrets"};

inline std::string PermitJson(const std::string& name, const std::string& door) {
  return R"({"apiVersion":"example.com/v1","kind":"Permit","metadata":{"name":")" + name +
         R"(","namespace":"default","managedFields":[{"manager":"sesame-manager"}],)"
         R"("annotations":{"kubectl.kubernetes.io/last-applied-configuration":"sesame-applied","kept":"yes"}},)"
         R"("spec":{"door":")" +
         door + R"("}})";
}

inline std::shared_ptr<const api::CustomObject> MakePermit(const std::string& name, const std::string& door) {
  auto permit = std::make_shared<api::CustomObject>();
  permit->api_version = "example.com/v1";
  permit->kind = "Permit";
  permit->metadata.name = name;
  permit->metadata.namespace_ = Symbol("default");
  permit->metadata.labels.Set(Symbol("made-for"), Symbol("tests"));
  permit->json = PermitJson(name, door);
  return permit;
}

// "open" or "shut"; "" when it does not say.
inline std::string DoorOf(const std::string& json) {
  const Result<codec::Document> document = codec::ParseJson(json, "permit");
  const codec::Value* spec = document ? document->root().Find("spec") : nullptr;
  const codec::Value* door = spec ? spec->Find("door") : nullptr;
  return door ? std::string(door->text()) : "";
}

// A pod with the label "permit" needs the Permit of that name, and an open door. With the label "secret" it wants to
// know a Secret when it is bound.
class NeedsPermit final : public engine::testing::Named,
                          public framework::PreFilterPlugin,
                          public framework::PreBindPlugin,
                          public framework::EnqueueExtensions,
                          public framework::SignPlugin {
 public:
  NeedsPermit(framework::Handle& handle, framework::EventResource permits)
      : Named("NeedsPermit"), handle_(handle), permits_(permits) {}

  static void Register(framework::Registry& registry) {
    const Result<void> added = registry.Register(
        "NeedsPermit",
        [](const config::PluginArgs&, framework::Handle& handle) -> Result<std::unique_ptr<framework::Plugin>> {
          const Result<framework::EventResource> number = handle.WatchResource(kPermits, /*keep_json=*/true);
          if (!number) return number.error();
          return std::unique_ptr<framework::Plugin>(std::make_unique<NeedsPermit>(handle, *number));
        },
        "a test");
    CHECK(added.ok());
  }

  framework::PreFilterResult PreFilter(framework::CycleState&, const framework::PodInfo& pod) const override {
    const std::string name = Label(pod, "permit");
    if (name.empty()) return framework::Status::Skip();
    const api::CustomObject* permit = handle_.custom_objects().Of(permits_).Find("default", name);
    if (permit == nullptr) return framework::Status::UnschedulableAndUnresolvable("no permit " + name);
    const std::string door = DoorOf(permit->json);
    if (door == "open") return framework::Status::Success();
    return framework::Status::UnschedulableAndUnresolvable("the door of " + name + " is " + door);
  }
  framework::PreBindPreFlightResult PreBindPreFlight(const framework::CycleState&, const framework::PodInfo& pod,
                                                     const std::string&) override {
    if (Label(pod, "permit").empty()) return {framework::Status::Skip()};
    return {framework::Status::Success()};
  }
  framework::Status PreBind(framework::BindingHandle& handle, framework::CycleState&, const framework::PodInfo& pod,
                            const std::string&) override {
    const Result<std::string> permit =
        handle.api().Call({.resource = kPermits, .name_space = "default", .name = Label(pod, "permit")});
    if (!permit) return framework::Status::Error("permit: " + permit.error().message);
    if (DoorOf(*permit) != "open") return framework::Status::Error("the door has been shut meanwhile");
    if (Label(pod, "secret").empty()) return {};
    const Result<std::string> secret = handle.api().Call({.resource = kSecrets, .name_space = "default", .name = "s"});
    if (!secret) return framework::Status::Error("secret: " + secret.error().message);
    return secret->find("sesame-secret") != std::string::npos ? framework::Status()
                                                              : framework::Status::Error("the wrong word");
  }
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override {
    return {{{permits_, framework::ActionType::kAdd | framework::ActionType::kUpdate}, {}}};
  }
  bool Sign(const framework::PodInfo&, framework::SignatureBuilder&) const override { return false; }

 private:
  static std::string Label(const framework::PodInfo& pod, std::string_view key) {
    const Symbol* value = pod.labels().Find(Symbol(key));
    return value != nullptr ? std::string(value->str()) : "";
  }

  const framework::Handle& handle_;
  const framework::EventResource permits_;
};

}  // namespace berth::replay::testing
