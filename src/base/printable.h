// Makes text from outside safe for terminals, logs and messages: the one place where it is escaped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::base {

// How many bytes of a text a message quotes; the rest is cut off.
inline constexpr size_t kQuotedBytes = 200;

// One line without control characters, escape sequences, or characters that change the direction of text: they become
// \n, \t, \x1b, \u202e. So does the first of two colons at the start of a line, which build systems take for a command.
// Other text is returned unchanged.
std::string Printable(std::string_view text);

// The same for multi-line text; its line breaks are kept.
std::string PrintableLines(std::string_view text);

// The beginning of a text, followed by "..." when something was cut off.
std::string Clipped(std::string_view text, size_t bytes = kQuotedBytes);

}  // namespace berth::base
