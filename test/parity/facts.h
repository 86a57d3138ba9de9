// Facts: a scheduling decision flattened to (field, key) -> value, so that a recorded decision and berth's are
// compared, and their differences printed, in one uniform way.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codec/value.h"
#include "engine/evaluation.h"
#include "framework/plugin.h"

namespace berth::parity {

// Field ("rejected") -> key ("n01") -> value ("Unschedulable NodeResourcesFit [Insufficient cpu]"). A field without its
// own keys uses the key "".
using Facts = std::map<std::string, std::map<std::string, std::string>>;

// What berth decided about one pod.
struct Decision {
  framework::Status pre_enqueue;
  bool evaluated = false;  // false: rejected before scheduling, or there are no nodes
  engine::Evaluation evaluation;
  std::map<std::string, framework::Status> rejected;  // by node name
  bool post_filter_ran = false;
  framework::PostFilterResult post_filter;
  std::string message;
  Facts devices;  // what was allocated, and what was written about it
};

// The text of a member, which lives as long as the object; empty without such a member.
std::string_view TextOf(const codec::Value& object, std::string_view key);

// JSON in a canonical form: members sorted, amounts as quantities.
std::string Canonical(const codec::Value& value);
std::string CanonicalJson(const std::string& json);

// From the `expect` object of a case.
Facts FactsOf(const codec::Value& expect);
Facts FactsOf(const Decision& decision);

std::string StatusText(const framework::Status& status);

struct Difference {
  std::string field;
  std::string key;
  std::string expected;
  std::string got;
};
std::vector<Difference> Compare(const Facts& expected, const Facts& got);

}  // namespace berth::parity
