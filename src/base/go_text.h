// How Go spells values in logs, metrics and messages: quoting, durations, numbers. Each appends to `out`.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace berth::base {

// "text" with Go's escapes; bytes that are not UTF-8 become \xNN.
void AppendQuoted(std::string& out, std::string_view text);
// ="text", or for text of several lines klog's indented form: =<, each line after a tab, >.
void AppendTextValue(std::string& out, std::string_view text);
void AppendJsonString(std::string& out, std::string_view text);
// time.Duration.String: 1h2m3.5s, 1.5ms, 0s.
void AppendDuration(std::string& out, Duration duration);
// The shortest text that reads back as the same number; Fixed never has an exponent.
void AppendNumber(std::string& out, double value);
void AppendFixed(std::string& out, double value);
// The shortest text, as FormatFloat(value, 'g', -1, 64) has it: with an exponent below 1e-04 and from 1e+06 on; NaN,
// +Inf.
void AppendFloatG(std::string& out, double value);

template <std::integral Integer>
void AppendInteger(std::string& out, Integer value) {
  char buffer[24];
  out.append(buffer, static_cast<size_t>(std::to_chars(buffer, buffer + sizeof buffer, value).ptr - buffer));
}

}  // namespace berth::base
