// How the model API server handles a scheduler's patches of persistent volumes and their claims.
#include <fmt/format.h>

#include "api/storage.h"
#include "codec/decode.h"
#include "codec/json.h"
#include "storm/api_writes.h"

namespace berth::storm {
namespace {

void PatchAnnotations(const codec::Value& patch, api::Annotations& annotations) {
  for (const codec::Member& member : patch.members()) {
    if (member.value.is_null()) {
      annotations.Erase(std::string(member.key));
    } else {
      annotations.Set(std::string(member.key), std::string(member.value.text()));
    }
  }
}

Result<void> PatchSpec(const codec::Value& patch, api::PersistentVolume& volume) {
  const codec::Value* claim = patch.Find("claimRef");
  if (claim == nullptr) return Error::InvalidArgument("expected a claimRef");
  std::vector<codec::Diagnostic> problems;
  codec::Decode(*claim, volume.spec.claim_ref.emplace(), {}, problems);
  if (!problems.empty()) return Error::InvalidArgument(problems.front().ToString());
  return {};
}
Result<void> PatchSpec(const codec::Value&, api::PersistentVolumeClaim&) {
  return Error::InvalidArgument("the spec of a claim is immutable");
}

}  // namespace

template <class T>
Reply ApiWrites::PatchStorage(const http::Request& request, const ApiRequest& parsed, Write& write) {
  const T* found = store_.Find<T>(parsed.Key());
  if (found == nullptr) {
    return RefusalReply(
        {404, "NotFound", fmt::format("{} \"{}\" not found", api::InfoOf(parsed.kind).resource, parsed.name)});
  }
  const Result<codec::Document> document = codec::ParseJson(request.body, "patch");
  if (!document) return RefusalReply({400, "BadRequest", document.error().message});
  T object = *found;
  if (const codec::Value* metadata = document->root().Find("metadata")) {
    const codec::Value* version = metadata->Find("resourceVersion");
    if (version != nullptr && version->text() != object.metadata.resource_version) {
      return RefusalReply({409, "Conflict", "the object has been modified"});
    }
    if (const codec::Value* annotations = metadata->Find("annotations")) {
      PatchAnnotations(*annotations, object.metadata.annotations);
    }
  }
  if (const codec::Value* spec = document->root().Find("spec")) {
    if (Result<void> patched = PatchSpec(*spec, object); !patched) {
      return RefusalReply({422, "Invalid", patched.error().message});
    }
  }
  Tell(write);
  return ObjectReply(200, parsed.protobuf, store_.Put(std::move(object)));
}

Reply ApiWrites::WriteVolume(const http::Request& request, const ApiRequest& parsed, Write& write) {
  if (request.method == "PATCH" && parsed.kind == api::Kind::kPersistentVolume) {
    return PatchStorage<api::PersistentVolume>(request, parsed, write);
  }
  if (request.method == "PATCH" && parsed.kind == api::Kind::kPersistentVolumeClaim) {
    return PatchStorage<api::PersistentVolumeClaim>(request, parsed, write);
  }
  return RefusalReply({405, "MethodNotAllowed", "the model does not do this"});
}

}  // namespace berth::storm
