// What the fuzzers of this layer run: each takes arbitrary bytes and must neither crash nor hang, and whatever it
// accepts must survive a round trip. test/fuzz_corpus replays them over the inputs kept there.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api/envelope.h"
#include "api/kind.h"
#include "api/node_selector.h"
#include "api/object.h"
#include "api/quantity.h"
#include "api/selector.h"
#include "base/check.h"
#include "codec/json.h"

namespace berth::api {

inline void FuzzQuantity(std::string_view input) {
  const Result<Quantity> parsed = Quantity::Parse(input);
  if (!parsed) return;
  const std::string text = parsed->ToString();
  const Result<Quantity> again = Quantity::Parse(text);
  CHECK(again.ok());
  CHECK(*again == *parsed && again->ToString() == text);
  // Rounding is away from zero, so no accessor may return less than the amount.
  const Quantity floor = Quantity::FromScaled(parsed->MilliValue(), Quantity::kMilli);
  const bool within_milli = parsed->MilliValue() != INT64_MAX && parsed->MilliValue() != INT64_MIN;
  if (within_milli) CHECK(parsed->Sign() >= 0 ? floor >= *parsed : floor <= *parsed);
  CHECK((parsed->Value() > 0) == (parsed->Sign() > 0) && (parsed->Value() < 0) == (parsed->Sign() < 0));
  Quantity difference = *parsed;
  difference.Sub(*parsed);
  CHECK(difference.IsZero());
  Quantity twice = *parsed;
  twice.Add(*parsed);
  CHECK(twice.Sign() == parsed->Sign());
}

inline std::vector<std::string_view> SplitBy(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end; (end = text.find(separator)) != std::string_view::npos; text.remove_prefix(end + 1)) {
    parts.push_back(text.substr(0, end));
  }
  parts.push_back(text);
  return parts;
}

// A line "key operator value value" as a condition of a node selector, and of a label selector.
inline void AddConditions(std::string_view line, NodeSelectorTerm& term, LabelSelector& selector) {
  const std::vector<std::string_view> words = SplitBy(line, ' ');
  NodeSelectorRequirement condition;
  condition.key = Symbol(words[0]);
  if (words.size() > 1) condition.op = std::string(words[1]);
  for (size_t i = 2; i < words.size(); ++i) condition.values.push_back(Symbol(words[i]));
  selector.match_expressions.push_back({condition.key, condition.op, condition.values});
  const bool is_field = words[0].starts_with("metadata.");
  (is_field ? term.match_fields : term.match_expressions).push_back(std::move(condition));
}

// The first line is the text form of a label selector and of a field selector; the second labels, as "a=b,c=d"; each
// other one a condition.
inline void FuzzSelector(std::string_view input) {
  const std::vector<std::string_view> lines = SplitBy(input, '\n');
  Labels labels;
  for (std::string_view label : SplitBy(lines.size() > 1 ? lines[1] : std::string_view(), ',')) {
    const size_t equals = std::min(label.find('='), label.size());
    labels[Symbol(label.substr(0, equals))] = Symbol(label.substr(std::min(equals + 1, label.size())));
  }
  if (const Result<Selector> parsed = Selector::Parse(lines[0])) {
    const Result<Selector> again = Selector::Parse(parsed->ToString());
    CHECK(again.ok());
    CHECK(again->ToString() == parsed->ToString());
    CHECK(again->Matches(labels) == parsed->Matches(labels));
  }
  if (const Result<FieldSelector> parsed = FieldSelector::Parse(lines[0])) {
    const Result<FieldSelector> again = FieldSelector::Parse(parsed->ToString());
    CHECK(again.ok());
    // Terms are ordered by how they were written, and "==" is printed as "=": only the order may change.
    CHECK(std::is_permutation(again->terms().begin(), again->terms().end(), parsed->terms().begin(),
                              parsed->terms().end()));
    parsed->MatchesBy([&](std::string_view field) { return field; });
  }
  NodeSelector nodes{{NodeSelectorTerm{}}};
  LabelSelector selector;
  for (size_t i = 2; i < lines.size(); ++i) AddConditions(lines[i], nodes.node_selector_terms[0], selector);
  if (const Result<Selector> compiled = Selector::Compile(selector)) {
    CHECK(compiled->Matches(labels) == Selector(*compiled).Matches(labels));
    CHECK(Selector::Parse(compiled->ToString()).ok());
  }
  const CompiledNodeSelector lazy = CompiledNodeSelector::CompileLazily(nodes, "terms");
  const Result<CompiledNodeSelector> strict = CompiledNodeSelector::Compile(nodes, "terms");
  CHECK(strict.ok() == lazy.error().empty());
  if (strict) CHECK(strict->Match(labels, "node-1") == lazy.Match(labels, "node-1"));
}

// What was decoded reads the same after a round trip through JSON, and through protobuf.
inline void CheckRoundTrips(const DecodedObjects& decoded) {
  for (const LocatedObject& found : decoded.objects) {
    const std::string json = EncodeJson(found.object);
    const Result<codec::Document> document = codec::ParseJson(json, "again");
    CHECK(document.ok());
    const Result<DecodedObjects> again = DecodeObjects(*document, {.strict = true, .allow_generate_name = true});
    CHECK(again.ok() && again->objects.size() == 1);
    CHECK(EncodeJson(again->objects[0].object) == json);
    const Result<DecodedObjects> wired = DecodeProtobufObjects(EncodeProtobuf(found.object));
    CHECK(wired.ok() && wired->objects.size() == 1);
    CHECK(EncodeJson(wired->objects[0].object) == json);
  }
}

inline void FuzzObjectJson(std::string_view input) {
  const Result<codec::Document> document = codec::ParseJson(std::string(input), "input");
  if (!document) return;
  for (const ObjectOptions& options : {ObjectOptions{}, ObjectOptions{.strict = true, .allow_generate_name = true}}) {
    if (const Result<DecodedObjects> decoded = DecodeObjects(*document, options)) CheckRoundTrips(*decoded);
  }
}

// In Kubernetes' envelope as an API server sends it; without one, the first byte selects the kind of the rest.
inline void FuzzObjectProtobuf(std::string_view input) {
  std::string sealed(input);
  if (!input.empty() && !input.starts_with(std::string_view("k8s\0", 4))) {
    const KindInfo& info = AllKinds()[static_cast<unsigned char>(input[0]) % AllKinds().size()];
    sealed = SealEnvelope({info.api_version(), info.name, input.substr(1)});
  }
  if (const Result<DecodedObjects> decoded = DecodeProtobufObjects(sealed)) {
    for (const LocatedObject& found : decoded->objects) {
      const std::string bytes = EncodeProtobuf(found.object);
      const Result<DecodedObjects> again = DecodeProtobufObjects(bytes);
      CHECK(again.ok() && again->objects.size() == 1);
      CHECK(EncodeProtobuf(again->objects[0].object) == bytes);
    }
  }
}

}  // namespace berth::api
