// The objects of resource.k8s.io/v1beta1 whose form differs from that of v1: requests and devices nest less there, or
// more. They are read from files only, and become what v1 has.
#pragma once

#include <string>
#include <vector>

#include "api/kind.h"
#include "codec/decode.h"
#include "codec/value.h"

namespace berth::api {

// Whether objects of the kind look different in that version.
bool HasV1beta1Form(Kind kind, std::string_view api_version);

// Decodes `value` into `object`, which is of the kind's type.
void DecodeV1beta1(Kind kind, const codec::Value& value, void* object, const codec::DecodeOptions& options,
                   std::vector<codec::Diagnostic>& problems, const std::string& path);

}  // namespace berth::api
