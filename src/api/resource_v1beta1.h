// The objects of resource.k8s.io/v1beta1 whose form differs from v1: requests and devices are nested differently. They
// are read from files only, and converted to v1.
#pragma once

#include <string>
#include <vector>

#include "api/kind.h"
#include "codec/decode.h"
#include "codec/value.h"

namespace berth::api {

// Whether objects of the kind have another form in that version.
bool HasV1beta1Form(Kind kind, std::string_view api_version);

// Decodes `value` into `object`, which must be of the kind's type.
void DecodeV1beta1(Kind kind, const codec::Value& value, void* object, const codec::DecodeOptions& options,
                   std::vector<codec::Diagnostic>& problems, const std::string& path);

}  // namespace berth::api
