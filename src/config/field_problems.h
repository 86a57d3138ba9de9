// The shapes of a field error that api/field_error.h does not spell: numbers and durations as bad values, required,
// duplicate, forbidden. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/field_error.h"
#include "base/clock.h"

namespace berth::config {

std::string InvalidNumber(std::string_view path, int64_t value, std::string_view detail);
std::string InvalidDuration(std::string_view path, base::Duration value, std::string_view detail);
// `json` is printed as it is.
std::string InvalidJson(std::string_view path, std::string_view json, std::string_view detail);
std::string RequiredField(std::string_view path, std::string_view detail = {});
std::string DuplicateField(std::string_view path, std::string_view value);
std::string ForbiddenField(std::string_view path, std::string_view detail);

}  // namespace berth::config
