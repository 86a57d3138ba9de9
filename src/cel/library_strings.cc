// String functions, and join of lists of strings.
#include <fmt/format.h>

#include "cel/environment.h"
#include "cel/go_text.h"
#include "cel/operations.h"
#include "cel/regex.h"

namespace berth::cel {
namespace {

using Arguments = std::span<const Value>;

Value OutOfRange(Evaluation& evaluation, int64_t index) {
  return MakeError(evaluation.arena(), fmt::format("index out of range: {}", index));
}

Value CharAt(Evaluation& evaluation, Arguments arguments) {
  const std::u32string runes = DecodeRunes(arguments[0].text());
  const int64_t index = arguments[1].as_int();
  if (index < 0 || index > static_cast<int64_t>(runes.size())) return OutOfRange(evaluation, index);
  if (index == static_cast<int64_t>(runes.size())) return Value::String("");
  return MakeString(evaluation, EncodeRunes(std::u32string_view(runes).substr(static_cast<size_t>(index), 1)));
}

Value IndexOf(Evaluation& evaluation, Arguments arguments) {
  const int64_t offset = arguments.size() == 3 ? arguments[2].as_int() : 0;
  if (arguments[1].text().empty()) return Value::Int(offset);
  const std::u32string runes = DecodeRunes(arguments[0].text());
  if (offset < 0) return OutOfRange(evaluation, offset);
  if (offset >= static_cast<int64_t>(runes.size())) return Value::Int(-1);
  evaluation.Work(runes.size());
  const size_t found = runes.find(DecodeRunes(arguments[1].text()), static_cast<size_t>(offset));
  return Value::Int(found == std::u32string::npos ? -1 : static_cast<int64_t>(found));
}

Value LastIndexOf(Evaluation& evaluation, Arguments arguments) {
  const std::u32string runes = DecodeRunes(arguments[0].text());
  const std::string_view wanted = arguments[1].text();
  int64_t offset = static_cast<int64_t>(runes.size()) - 1;
  if (arguments.size() == 3) {
    offset = arguments[2].as_int();
    if (wanted.empty()) return Value::Int(offset);
  } else {
    if (wanted.empty()) return Value::Int(static_cast<int64_t>(runes.size()));
    if (arguments[0].text().size() < wanted.size()) return Value::Int(-1);
  }
  if (offset < 0) return OutOfRange(evaluation, offset);
  if (offset >= static_cast<int64_t>(runes.size())) return Value::Int(-1);
  evaluation.Work(runes.size());
  const size_t found = runes.rfind(DecodeRunes(wanted), static_cast<size_t>(offset));
  return Value::Int(found == std::u32string::npos ? -1 : static_cast<int64_t>(found));
}

Value LowerAscii(Evaluation& evaluation, Arguments arguments) {
  std::string text = EncodeRunes(DecodeRunes(arguments[0].text()));
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return MakeString(evaluation, text);
}

Value UpperAscii(Evaluation& evaluation, Arguments arguments) {
  std::string text = EncodeRunes(DecodeRunes(arguments[0].text()));
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return MakeString(evaluation, text);
}

// Limits what one call can build: upstream charges for the input only.
void RequireRoom(Evaluation& evaluation, size_t size) { evaluation.arena().NewArray<char>(size); }

Value Replace(Evaluation& evaluation, Arguments arguments) {
  const std::string_view text = arguments[0].text(), from = arguments[1].text(), to = arguments[2].text();
  int64_t left = arguments.size() == 4 ? arguments[3].as_int() : -1;
  std::string out;
  size_t at = 0;
  while (left != 0) {
    size_t found = 0, next = 0;
    if (from.empty()) {
      // Before every character, and at the end.
      found = at;
      if (at > text.size()) break;
      if (at < text.size()) DecodeRune(text.substr(at), &next);
    } else {
      found = text.find(from, at);
      if (found == std::string_view::npos) break;
    }
    if (out.size() + to.size() > (size_t{64} << 20)) RequireRoom(evaluation, SIZE_MAX);
    out += text.substr(at, found - at);
    out += to;
    --left;
    if (!from.empty()) {
      at = found + from.size();
    } else if (at == text.size()) {
      at = text.size();
      return MakeString(evaluation, out);
    } else {
      out += text.substr(at, next);
      at += next;
    }
  }
  if (at < text.size()) out += text.substr(at);
  return MakeString(evaluation, out);
}

Value Split(Evaluation& evaluation, Arguments arguments) {
  const std::string_view text = arguments[0].text(), separator = arguments[1].text();
  const int64_t limit = arguments.size() == 3 ? arguments[2].as_int() : -1;
  std::vector<Value> parts;
  std::string_view rest = text;
  const auto full = [&] { return limit > 0 && static_cast<int64_t>(parts.size()) == limit - 1; };
  if (limit == 0) return MakeList(evaluation, parts);
  if (separator.empty()) {
    while (!rest.empty() && !full()) {
      size_t size = 0;
      DecodeRune(rest, &size);
      parts.push_back(Value::String(rest.substr(0, size)));
      rest.remove_prefix(size);
    }
    if (!rest.empty()) parts.push_back(Value::String(rest));
    return MakeList(evaluation, parts);
  }
  while (!full()) {
    const size_t found = rest.find(separator);
    if (found == std::string_view::npos) break;
    parts.push_back(Value::String(rest.substr(0, found)));
    rest.remove_prefix(found + separator.size());
  }
  parts.push_back(Value::String(rest));
  return MakeList(evaluation, parts);
}

Value Substring(Evaluation& evaluation, Arguments arguments) {
  const std::u32string runes = DecodeRunes(arguments[0].text());
  const int64_t size = static_cast<int64_t>(runes.size());
  const int64_t start = arguments[1].as_int();
  const int64_t end = arguments.size() == 3 ? arguments[2].as_int() : size;
  if (arguments.size() == 3 && start > end) {
    return MakeError(evaluation.arena(), fmt::format("invalid substring range. start: {}, end: {}", start, end));
  }
  if (start < 0 || start > size) return OutOfRange(evaluation, start);
  if (end < 0 || end > size) return OutOfRange(evaluation, end);
  return MakeString(evaluation, EncodeRunes(std::u32string_view(runes).substr(static_cast<size_t>(start),
                                                                              static_cast<size_t>(end - start))));
}

Value Trim(Evaluation&, Arguments arguments) {
  std::string_view text = arguments[0].text();
  size_t size = 0;
  while (!text.empty() && IsSpace(DecodeRune(text, &size))) text.remove_prefix(size);
  for (;;) {
    size_t last = text.size();
    while (last > 0 && (static_cast<unsigned char>(text[--last]) & 0xC0) == 0x80) {
    }
    if (text.empty() || !IsSpace(DecodeRune(text.substr(last), &size)) || last + size != text.size()) break;
    text = text.substr(0, last);
  }
  return Value::String(text);
}

Value QuoteFunction(Evaluation& evaluation, Arguments arguments) {
  std::string out = "\"";
  for (const char32_t rune : DecodeRunes(arguments[0].text())) {
    const std::string_view escape = ShortEscapeOf(rune);
    if (escape.empty()) {
      AppendRune(out, rune);
    } else {
      out += escape;
    }
  }
  return MakeString(evaluation, out + "\"");
}

Value Join(Evaluation& evaluation, Arguments arguments) {
  const ListObject& list = arguments[0].list();
  const std::string_view separator = arguments.size() == 2 ? arguments[1].text() : std::string_view();
  std::string out;
  evaluation.Work(static_cast<uint64_t>(list.size()));
  for (int64_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += separator;
    const Value element = list.Get(i);
    if (element.kind() != Kind::kString) {
      return MakeError(evaluation.arena(),
                       fmt::format("join: invalid input: {}", Display(element, evaluation.arena())));
    }
    out += element.text();
    if (out.size() > (size_t{64} << 20)) RequireRoom(evaluation, SIZE_MAX);
  }
  return MakeString(evaluation, out);
}

}  // namespace

void AddStringsLibrary(Environment& environment) {
  using namespace types;
  const Type* strings = environment.pool().List(&kString);
  environment.Member("charAt", "string_char_at_int", {&kString, &kInt}, &kString, CharAt);
  environment.Member("indexOf", "string_index_of_string", {&kString, &kString}, &kInt, IndexOf)
      .Member("indexOf", "string_index_of_string_int", {&kString, &kString, &kInt}, &kInt, IndexOf);
  environment.Member("lastIndexOf", "string_last_index_of_string", {&kString, &kString}, &kInt, LastIndexOf)
      .Member("lastIndexOf", "string_last_index_of_string_int", {&kString, &kString, &kInt}, &kInt, LastIndexOf);
  environment.Member("lowerAscii", "string_lower_ascii", {&kString}, &kString, LowerAscii);
  environment.Member("replace", "string_replace_string_string", {&kString, &kString, &kString}, &kString, Replace)
      .Member("replace", "string_replace_string_string_int", {&kString, &kString, &kString, &kInt}, &kString, Replace);
  environment.Member("split", "string_split_string", {&kString, &kString}, strings, Split)
      .Member("split", "string_split_string_int", {&kString, &kString, &kInt}, strings, Split);
  environment.Member("substring", "string_substring_int", {&kString, &kInt}, &kString, Substring)
      .Member("substring", "string_substring_int_int", {&kString, &kInt, &kInt}, &kString, Substring);
  environment.Member("trim", "string_trim", {&kString}, &kString, Trim);
  environment.Member("upperAscii", "string_upper_ascii", {&kString}, &kString, UpperAscii);
  environment.Global("strings.quote", "strings_quote", {&kString}, &kString, QuoteFunction);
  environment.Member("join", "list_join", {strings}, &kString, Join)
      .Member("join", "list_join_string", {strings, &kString}, &kString, Join);
}

namespace {

Value Find(Evaluation& evaluation, Arguments arguments) {
  Result<std::shared_ptr<const Regex>> regex = Regex::Compile(arguments[1].text());
  if (!regex) return MakeError(evaluation.arena(), "Illegal regex: " + regex.error().message);
  return Value::String((*regex)->Find(arguments[0].text()));
}

Value FindAll(Evaluation& evaluation, Arguments arguments) {
  Result<std::shared_ptr<const Regex>> regex = Regex::Compile(arguments[1].text());
  if (!regex) return MakeError(evaluation.arena(), "Illegal regex: " + regex.error().message);
  std::vector<Value> found;
  const int64_t limit = arguments.size() == 3 ? arguments[2].as_int() : -1;
  for (const std::string_view match : (*regex)->FindAll(arguments[0].text(), limit)) {
    found.push_back(Value::String(match));
  }
  return MakeList(evaluation, found);
}

}  // namespace

void AddRegexLibrary(Environment& environment) {
  using namespace types;
  const Type* strings = environment.pool().List(&kString);
  environment.Member("find", "string_find_string", {&kString, &kString}, &kString, Find);
  environment.Member("findAll", "string_find_all_string", {&kString, &kString}, strings, FindAll)
      .Member("findAll", "string_find_all_string_int", {&kString, &kString, &kInt}, strings, FindAll);
}

}  // namespace berth::cel
