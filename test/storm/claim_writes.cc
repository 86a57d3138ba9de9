// How the model API server handles writes of resource claims: merge patches of finalizers and status, the strategic one
// that removes a reservation, and deletions.
#include <fmt/format.h>

#include <algorithm>

#include "api/resource_claim.h"
#include "codec/decode.h"
#include "codec/json.h"
#include "storm/api_writes.h"
#include "storm/process.h"

namespace berth::storm {
namespace {

using References = std::vector<api::ResourceClaimConsumerReference>;

// Null removes a field; a list replaces it, unless its items say what to delete.
void PatchReservations(const codec::Value& patch, References& reserved_for, std::vector<codec::Diagnostic>& problems) {
  if (patch.is_null()) return reserved_for.clear();
  References wanted;
  for (const codec::Value& item : patch.items()) {
    api::ResourceClaimConsumerReference reference;
    const codec::Value* directive = item.Find("$patch");
    if (directive == nullptr) {
      codec::Decode(item, reference, {}, problems);
      wanted.push_back(std::move(reference));
      continue;
    }
    const std::string_view uid = item.Find("uid")->text();
    std::erase_if(reserved_for, [&](const api::ResourceClaimConsumerReference& found) { return found.uid == uid; });
    return;
  }
  reserved_for = std::move(wanted);
}

void PatchStatus(const codec::Value& patch, api::ResourceClaimStatus& status,
                 std::vector<codec::Diagnostic>& problems) {
  if (const codec::Value* allocation = patch.Find("allocation")) {
    status.allocation.reset();
    if (!allocation->is_null()) codec::Decode(*allocation, status.allocation.emplace(), {}, problems);
  }
  if (const codec::Value* reserved = patch.Find("reservedFor")) {
    PatchReservations(*reserved, status.reserved_for, problems);
  }
}

}  // namespace

Reply ApiWrites::WriteClaim(const http::Request& request, const ApiRequest& parsed, Write& write) {
  const api::ResourceClaim* found = store_.Find<api::ResourceClaim>(parsed.Key());
  if (found == nullptr)
    return RefusalReply({404, "NotFound", fmt::format("resourceclaims \"{}\" not found", parsed.name)});
  if (request.method != "PATCH") return RefusalReply({405, "MethodNotAllowed", "the model does not do this"});
  const Result<codec::Document> document = codec::ParseJson(request.body, "patch");
  if (!document) return RefusalReply({400, "BadRequest", document.error().message});
  api::ResourceClaim claim = *found;
  if (const codec::Value* metadata = document->root().Find("metadata")) {
    const codec::Value* uid = metadata->Find("uid");
    const codec::Value* version = metadata->Find("resourceVersion");
    if ((uid != nullptr && uid->text() != claim.metadata.uid) ||
        (version != nullptr && version->text() != claim.metadata.resource_version)) {
      return RefusalReply({409, "Conflict", "the object has been modified"});
    }
    if (const codec::Value* finalizers = metadata->Find("finalizers"); finalizers && parsed.subresource.empty()) {
      claim.metadata.finalizers.clear();
      for (const codec::Value& item : finalizers->items()) claim.metadata.finalizers.emplace_back(item.text());
    }
  }
  if (const codec::Value* status = document->root().Find("status"); status && parsed.subresource == "status") {
    std::vector<codec::Diagnostic> problems;
    PatchStatus(*status, claim.status, problems);
    if (!problems.empty()) return RefusalReply({400, "BadRequest", problems.front().ToString()});
  }
  Tell(write);
  return ObjectReply(200, parsed.protobuf, store_.Put(std::move(claim)));
}

}  // namespace berth::storm
