// Text that came from outside, made fit for terminals, logs and messages: the one place where it is escaped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::base {

// So many bytes of a text are quoted in a message; the rest is cut off.
inline constexpr size_t kQuotedBytes = 200;

// One line without control characters, escape sequences, or characters that turn the direction of text: they become
// \n, \t, \x1b, \u202e. So does the first of two colons at the start of a line, which build systems take for a command.
// Text without any of that is as it was.
std::string Printable(std::string_view text);

// The same for text of several lines whose line breaks are its own.
std::string PrintableLines(std::string_view text);

// The beginning of a text, with "..." behind it when something was cut off.
std::string Clipped(std::string_view text, size_t bytes = kQuotedBytes);

}  // namespace berth::base
