#include "client/lease_candidate_json.h"

#include "codec/decode.h"
#include "codec/json.h"
#include "codec/json_writer.h"

namespace berth::client {

const api::GroupVersionResource& LeaseCandidateResource() {
  static const api::GroupVersionResource resource{"coordination.k8s.io", "v1beta1", "leasecandidates"};
  return resource;
}

std::string EncodeLeaseCandidate(const api::LeaseCandidate& candidate) {
  std::string out;
  codec::JsonWriter writer(out);
  writer.StartObject();
  writer.Key("apiVersion");
  writer.String(LeaseCandidateResource().ApiVersion());
  writer.Key("kind");
  writer.String("LeaseCandidate");
  writer.Key("metadata");
  writer.Object(candidate.metadata);
  writer.Key("spec");
  writer.Object(candidate.spec);
  writer.EndObject();
  return out;
}

Result<api::LeaseCandidate> DecodeLeaseCandidate(const std::string& json) {
  const Result<codec::Document> document = codec::ParseJson(json, "the LeaseCandidate");
  if (!document) return document.error();
  return codec::DecodeDocument<api::LeaseCandidate>(*document, {});
}

}  // namespace berth::client
