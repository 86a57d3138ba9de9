// How objects of resources that plugins watch are encoded in a recording. Their contents are up to their authors: what
// no plugin needs for a decision, and what is confidential, is left out.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/custom_object.h"
#include "base/result.h"

namespace berth::record {

struct RecordedCustom {
  std::string resource;  // "licencepools.v1.example.com"
  std::shared_ptr<const api::CustomObject> object;
  bool withheld = false;  // it had more than its metadata, and the rest is not in the recording
};

// Only the metadata of Secrets is stored; of other objects, everything but managedFields and the last-applied
// configuration.
std::string EncodeCustom(std::string_view resource, const api::CustomObject& object);
Result<RecordedCustom> DecodeCustom(std::string_view message);

// An object, or a list of objects, as JSON without managedFields and last-applied configurations; "" if the JSON cannot
// be parsed.
std::string WithoutBookkeeping(std::string json);

}  // namespace berth::record
