#include "config/field_problems.h"

#include <fmt/format.h>

#include "api/time.h"

namespace berth::config {

std::string InvalidNumber(std::string_view path, int64_t value, std::string_view detail) {
  return fmt::format("{}: Invalid value: {}: {}", path, value, detail);
}

std::string InvalidDuration(std::string_view path, base::Duration value, std::string_view detail) {
  return fmt::format("{}: Invalid value: \"{}\": {}", path, api::FormatDuration(value), detail);
}

std::string InvalidJson(std::string_view path, std::string_view json, std::string_view detail) {
  return fmt::format("{}: Invalid value: {}: {}", path, json, detail);
}

std::string RequiredField(std::string_view path, std::string_view detail) {
  return fmt::format("{}: Required value{}{}", path, detail.empty() ? "" : ": ", detail);
}

std::string DuplicateField(std::string_view path, std::string_view value) {
  return fmt::format("{}: Duplicate value: {}", path, api::Quote(value));
}

std::string ForbiddenField(std::string_view path, std::string_view detail) {
  return fmt::format("{}: Forbidden: {}", path, detail);
}

}  // namespace berth::config
