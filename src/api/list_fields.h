// The parts of a protobuf list and of its envelope, for those who decode a whole one (object.cc) and those who decode
// it while it arrives (list_decoder.cc).
#pragma once

#include <cstdint>
#include <string_view>

#include "api/envelope.h"
#include "api/object.h"
#include "base/result.h"

namespace berth::api {

// The kind of the items of such a list; null when it is not a list of a kind in the registry.
const KindInfo* FindListItem(std::string_view api_version, std::string_view list_kind);

// One field of a list: an item, its metadata, or one that is of no interest.
Result<void> DecodeListField(const KindInfo& item, std::string_view api_version, uint32_t number,
                             std::string_view bytes, DecodedObjects& out);

}  // namespace berth::api
