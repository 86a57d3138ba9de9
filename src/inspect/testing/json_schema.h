// For tests: validates a JSON document against its published schema (docs/schemas/live). Supports the part of JSON
// Schema that those use.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/file.h"
#include "codec/json.h"

namespace berth::inspect::testing {

// "" if `value` matches `schema`; otherwise where it does not.
inline std::string SchemaProblem(const codec::Value& value, const codec::Value& schema, const codec::Value& root,
                                 const std::string& path = "$") {
  if (const codec::Value* reference = schema.Find("$ref")) {
    const std::string_view name = reference->text().substr(reference->text().rfind('/') + 1);
    const codec::Value* definition = root.Find("$defs") ? root.Find("$defs")->Find(name) : nullptr;
    if (!definition) return fmt::format("{}: no definition {}", path, name);
    return SchemaProblem(value, *definition, root, path);
  }
  const auto same = [&](const codec::Value& other) {
    return value.kind() == other.kind() && value.text() == other.text() && value.boolean() == other.boolean();
  };
  if (const codec::Value* only = schema.Find("const"); only && !same(*only)) return path + ": not the constant";
  if (const codec::Value* choice = schema.Find("enum")) {
    if (std::none_of(choice->items().begin(), choice->items().end(), same)) {
      return fmt::format("{}: \"{}\" is none of the values", path, value.text());
    }
  }
  if (const codec::Value* type = schema.Find("type")) {
    const std::string_view name = type->text();
    const bool right = (name == "object" && value.is_object()) || (name == "array" && value.is_array()) ||
                       (name == "string" && value.is_string()) || (name == "boolean" && value.is_bool()) ||
                       (name == "number" && value.is_number()) ||
                       (name == "integer" && value.is_number() && value.text().find('.') == std::string_view::npos);
    if (!right) return fmt::format("{}: expected {}, found {}", path, name, value.Description());
  }
  if (schema.Find("minimum") && value.text().starts_with('-')) return path + ": below zero";
  if (const codec::Value* required = schema.Find("required")) {
    for (const codec::Value& key : required->items()) {
      if (!value.Find(key.text())) return fmt::format("{}: {} is missing", path, key.text());
    }
  }
  for (const codec::Member& member : value.members()) {
    const codec::Value* properties = schema.Find("properties");
    const codec::Value* inner = properties ? properties->Find(member.key) : nullptr;
    const std::string below = fmt::format("{}.{}", path, member.key);
    if (!inner && schema.Find("additionalProperties")) return below + " is not in the schema";
    if (!inner) continue;
    if (std::string problem = SchemaProblem(member.value, *inner, root, below); !problem.empty()) return problem;
  }
  const codec::Value* items = schema.Find("items");
  for (size_t i = 0; items && i < value.items().size(); ++i) {
    std::string problem = SchemaProblem(value.items()[i], *items, root, fmt::format("{}[{}]", path, i));
    if (!problem.empty()) return problem;
  }
  return "";
}

// Chooses the schema by the document's kind.
inline std::string SchemaProblem(const std::string& json) {
  const Result<codec::Document> document = codec::ParseJson(json, "document");
  if (!document) return document.error().message;
  const codec::Value* kind = document->root().Find("kind");
  if (!kind) return "the document has no kind";
  const bool is_problem = kind->text() == "Problems";
  const std::string file =
      fmt::format("{}/docs/schemas/{}{}.json", BERTH_SOURCE_DIR, is_problem ? "" : "live/", kind->text());
  Result<std::string> text = base::ReadFile(file);
  if (!text) return text.error().message;
  const Result<codec::Document> schema = codec::ParseJson(*std::move(text), file);
  CHECK(schema.ok());
  return SchemaProblem(document->root(), schema->root(), schema->root());
}

}  // namespace berth::inspect::testing
