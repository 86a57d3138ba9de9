// The field selectors of watches, for the fields that Kubernetes indexes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "base/result.h"

namespace berth::storm {

class FieldSelector {
 public:
  // "status.phase!=Failed,spec.nodeName="; "" matches everything.
  static Result<FieldSelector> Parse(std::string_view text);

  bool Matches(const api::Object& object) const;

 private:
  struct Term {
    std::string field;
    std::string value;
    bool equal;
  };
  std::vector<Term> terms_;
};

}  // namespace berth::storm
