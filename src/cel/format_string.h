// "%s: %d".format([…]): clauses of a format string.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cel/evaluation.h"

namespace berth::cel {

// One clause: its letter, and the precision if it has one (-1 if not).
struct FormatClause {
  char letter = 's';
  int precision = -1;
};

// Walks a format string. `argument` is asked for each argument before its clause is read; `format` gives the text of a
// clause. `count` is how many arguments there are.
Result<std::string> WalkFormatString(std::string_view text, const std::function<Result<void>(int64_t)>& argument,
                                     const std::function<Result<std::string>(int64_t, FormatClause)>& format,
                                     int64_t count);

// The text of one argument.
Result<std::string> FormatArgument(Evaluation& evaluation, FormatClause clause, const Value& argument);
// What a clause says about a type it cannot format.
std::string FormatTypeMessage(char letter, std::string_view type);

}  // namespace berth::cel
