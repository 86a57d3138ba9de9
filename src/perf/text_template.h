// TextTemplate: the part of Go's text/template that scheduler_perf's templates use.
//
//   {{.Index}} {{ .Count }}               the index of the object, and the number of objects
//   {{ DivideInt .Index 10 }}             AddInt, SubtractInt, MultiplyInt, DivideInt, the same with Float, Mod
//   {{ Mod (AddInt .Index 1) .Count }}    nested, with numbers, and `.Index | Mod 3` piped as the last argument
//   {{- .Index -}} {{/* nothing */}}      trimming, comments
//
// Anything else (if, range, variables, other fields) is an error that names the file, line and construct.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::perf {

class TextTemplate {
 public:
  static Result<TextTemplate> Parse(std::string_view text, std::string file_name);

  // The text is the same for every index.
  bool is_constant() const { return actions_ == 0; }
  // Fails if an action divides by zero.
  Result<std::string> Expand(int64_t index, int64_t count) const;

  // One node of an expression; opaque.
  struct Expression;

 private:
  struct Segment {
    std::string text;  // literal, when there is no action
    std::shared_ptr<const Expression> expression;
    int line = 0;
  };

  std::string file_name_;
  std::vector<Segment> segments_;
  size_t actions_ = 0;
};

}  // namespace berth::perf
