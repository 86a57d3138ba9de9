// How Go prints and reads numbers and quoted text, on which upstream's messages and conversions are based.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::cel {

// Decodes one code point at the start of `text`, which is not empty. An invalid byte gives U+FFFD with size 1.
char32_t DecodeRune(std::string_view text, size_t* size);
void AppendRune(std::string& out, char32_t rune);
bool IsValidUtf8(std::string_view text);
std::u32string DecodeRunes(std::string_view text);
std::string EncodeRunes(std::u32string_view runes);

// The two characters that stand for a quote, a backslash or a control character in quoted text; empty for other runes.
std::string_view ShortEscapeOf(char32_t rune);
// strconv.Quote, %q.
std::string Quote(std::string_view text);

// %g (and %v): the shortest digits that read back the same.
std::string FormatDoubleG(double value);
// strconv.FormatFloat(value, 'f', precision): -1 for the shortest.
std::string FormatDoubleF(double value, int precision);

// strconv.ParseInt, ParseUint (base 10) and ParseFloat, without underscores. False for anything they reject.
bool ParseGoInt(std::string_view text, int64_t* value);
bool ParseGoUint(std::string_view text, uint64_t* value);
bool ParseGoDouble(std::string_view text, double* value);
// strconv.ParseBool: 1, t, T, TRUE, true, True and their opposites.
bool ParseGoBool(std::string_view text, bool* value);

// unicode.IsSpace.
bool IsSpace(char32_t rune);

}  // namespace berth::cel
