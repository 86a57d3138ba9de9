// Objects of resources that plugins watch, in a recording. What they say is up to their makers: what no plugin decides
// by, and what is meant to be hidden, is left out.
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
  bool withheld = false;  // it had more than its metadata, which is not in the recording
};

// Secrets keep their metadata alone; of others managedFields and the last-applied configuration are left out.
std::string EncodeCustom(std::string_view resource, const api::CustomObject& object);
Result<RecordedCustom> DecodeCustom(std::string_view message);

// An object, or a list of objects, as JSON without managedFields and last-applied configurations; "" when it cannot be
// told where these would be.
std::string WithoutBookkeeping(std::string json);

}  // namespace berth::record
