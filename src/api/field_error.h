// Texts of validation errors, spelled as Kubernetes spells them: "spec.key: Invalid value: \"x\": reason".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/symbol.h"

namespace berth::api {

// Paths to a field: "a" + "b" is "a.b", the empty path is the root.
std::string FieldChild(std::string_view path, std::string_view name);
std::string FieldIndex(std::string_view path, size_t index);
std::string FieldKey(std::string_view path, std::string_view key);

std::string InvalidField(std::string_view path, std::string_view value, std::string_view detail);
// Lists print as JSON; an empty one prints as null, like an absent list.
std::string InvalidField(std::string_view path, std::span<const Symbol> values, std::string_view detail);
std::string InvalidNumber(std::string_view path, int64_t value, std::string_view detail);
std::string InvalidDuration(std::string_view path, base::Duration value, std::string_view detail);
// `json` is printed as it is.
std::string InvalidJson(std::string_view path, std::string_view json, std::string_view detail);
std::string UnsupportedField(std::string_view path, std::string_view value,
                             std::span<const std::string_view> supported);
std::string RequiredField(std::string_view path, std::string_view detail = {});
std::string DuplicateField(std::string_view path, std::string_view value);
std::string ForbiddenField(std::string_view path, std::string_view detail);

// One error prints alone, several print as "[a, b]"; repeated texts count once.
std::string JoinErrors(std::span<const std::string> errors);

// Quoted and escaped like Go's %q.
std::string Quote(std::string_view text);

}  // namespace berth::api
