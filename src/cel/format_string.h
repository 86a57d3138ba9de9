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

// Walks a format string. `argument` is called for each argument before its clause is read; `format` returns the text of
// a clause. `count` is the number of arguments.
Result<std::string> WalkFormatString(std::string_view text, const std::function<Result<void>(int64_t)>& argument,
                                     const std::function<Result<std::string>(int64_t, FormatClause)>& format,
                                     int64_t count);

// The text of one argument.
Result<std::string> FormatArgument(Evaluation& evaluation, FormatClause clause, const Value& argument);
// The message of a clause about a type it cannot format.
std::string FormatTypeMessage(char letter, std::string_view type);

}  // namespace berth::cel
