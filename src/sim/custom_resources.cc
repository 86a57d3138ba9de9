// Custom resources in a simulation: those of the input that plugins watch, and what plugins do with them.
#include <fmt/format.h>

#include "api/custom_object.h"
#include "codec/json.h"
#include "codec/json_writer.h"
#include "sim/simulation.h"

namespace berth::sim {

namespace {

using framework::ObjectCall;

std::string ListText(const framework::CustomObjects::Store& store, const std::string& name_space) {
  std::string text;
  codec::JsonWriter writer(text);
  writer.StartObject();
  writer.Key("items");
  writer.StartArray();
  for (const auto& [key, object] : store) {
    if (name_space.empty() || key.first == name_space) writer.Raw(object->json);
  }
  writer.EndArray();
  writer.EndObject();
  return text;
}

// The object in the body; name and namespace come from the call where the body has none.
Result<std::shared_ptr<const api::CustomObject>> ObjectOf(const ObjectCall& call) {
  const Result<codec::Document> document = codec::ParseJson(call.body, "the object to write");
  if (!document) return document.error();
  api::DecodedObjects decoded;
  std::vector<codec::Diagnostic> problems;
  api::DecodeCustomObjects(document->root(), {.keep_json = true}, decoded, problems);
  if (Result<void> sound = codec::ToResult("the object to write", problems); !sound) return sound.error();
  if (decoded.objects.size() != 1) return Error::InvalidArgument("expected one object to write, found a list");
  auto object = std::make_shared<api::CustomObject>(*decoded.objects.front().object.As<api::CustomObject>());
  if (object->metadata.namespace_.empty()) object->metadata.namespace_ = Symbol(call.name_space);
  return std::shared_ptr<const api::CustomObject>(std::move(object));
}

Error NotFound(const ObjectCall& call) {
  return Error::NotFound(fmt::format("{} \"{}\" not found", call.resource.Text(), call.name));
}

}  // namespace

void Simulation::PutCustom(std::shared_ptr<const api::CustomObject> object) {
  const std::string resource = api::GuessResource(object->kind);
  for (const auto& [number, watched] : cluster().custom_objects().watched()) {
    if (watched.resource.ApiVersion() != object->api_version || watched.resource.resource != resource) continue;
    return driver_->PutCustom(number, std::move(object));
  }
}

Result<std::string> Simulation::Call(const ObjectCall& call) {
  const Result<framework::EventResource> number = framework::EventResourceOf(call.resource);
  if (!number) return number.error();
  const auto& watched = cluster().custom_objects().watched();
  if (!watched.contains(*number)) {
    return Error::Unsupported(
        fmt::format("{}: a simulation has only the custom resources that plugins watch", call.resource.Text()));
  }
  const framework::CustomObjects::Store& store = cluster().custom_objects().Of(*number);
  const api::CustomObject* there = store.Find(call.name_space, call.name);
  switch (call.verb) {
    case ObjectCall::Verb::kGet:
      if (!there) return NotFound(call);
      return there->json;
    case ObjectCall::Verb::kList:
      if (!call.label_selector.empty()) return Error::Unsupported("a simulation lists without label selectors");
      return ListText(store, call.name_space);
    case ObjectCall::Verb::kPatch:
      return Error::Unsupported("a simulation knows no patches; update the whole object");
    case ObjectCall::Verb::kDelete:
      if (!there) return NotFound(call);
      driver_->RemoveCustom(*number, api::ObjectMeta(there->metadata));
      return std::string("{}");
    case ObjectCall::Verb::kCreate:
    case ObjectCall::Verb::kUpdate:
      break;
  }
  const Result<std::shared_ptr<const api::CustomObject>> object = ObjectOf(call);
  if (!object) return object.error();
  const api::ObjectMeta& metadata = (*object)->metadata;
  const bool exists = store.Find(metadata.namespace_.str(), metadata.name) != nullptr;
  if (call.verb == ObjectCall::Verb::kUpdate && !exists) return NotFound(call);
  if (call.verb == ObjectCall::Verb::kCreate && exists) {
    return Error::AlreadyExists(fmt::format("{} \"{}\" already exists", call.resource.Text(), metadata.name));
  }
  driver_->PutCustom(*number, *object);
  return (*object)->json;
}

}  // namespace berth::sim
