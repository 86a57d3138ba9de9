#include "codec/yaml_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codec/json.h"
#include "codec/value.h"
#include "codec/yaml_scalar.h"

namespace berth::codec {
namespace {

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool IsPrintableAscii(char c) { return !IsControl(c) && static_cast<unsigned char>(c) < 0x80; }

// Whether every reader takes the text for a string. Other programs read times and base-60 numbers (12:30:45) into a
// text that starts like a number.
bool ReadsAsString(std::string_view text) {
  if (ResolvePlain(text).kind != ResolvedScalar::Kind::kString || text == "<<" || text == "=") return false;
  const bool starts_like_number = text.front() >= '0' && text.front() <= '9';
  return !starts_like_number || text.find_first_not_of("0123456789.:_-+TtZzeE ") != std::string_view::npos;
}

// Only characters that mean nothing to YAML anywhere, so that no context has to be considered. Everything beyond ASCII
// is quoted, because a few of those characters count as line breaks.
bool IsPlainSafe(std::string_view text) {
  if (!ReadsAsString(text)) return false;
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  constexpr std::string_view kBadFirst = "-?:,[]{}#&*!|>'\"%@`";
  if (kBadFirst.find(text.front()) != std::string_view::npos) {
    // A dash is harmless when glued to a word, as in -v or --v=5; but --- is not.
    const bool is_glued = text.size() > 1 && text.front() == '-' && text[1] != ' ' && text[1] != '-';
    const bool is_flag = text.size() > 2 && text.starts_with("--") && text[2] != '-' && text[2] != ' ';
    if (!is_glued && !is_flag) return false;
  }
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) return false;
  if (text.starts_with("...")) return false;
  return std::all_of(text.begin(), text.end(), IsPrintableAscii);
}

// As kubectl writes it: single quotes around what is only no plain scalar because of its characters ('*'), double
// quotes around what would be read as something else ("yes", "10") or needs escapes.
bool IsSingleQuoteSafe(std::string_view text) {
  return ReadsAsString(text) && std::all_of(text.begin(), text.end(), IsPrintableAscii);
}

// Text that a literal block (|) can hold unchanged: several lines, nothing invisible.
bool IsBlockSafe(std::string_view text) {
  if (text.find('\n') == std::string_view::npos) return false;
  if (text.front() == ' ' || text.front() == '\n' || text.front() == '\t') return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || IsPrintableAscii(c); });
}

void AppendDoubleQuoted(std::string_view text, std::string& out) {
  out += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (IsControl(c)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (text.substr(i).starts_with("\xC2\x85")) {  // next line
      out += "\\N";
      ++i;
    } else if (text.substr(i).starts_with("\xE2\x80\xA8") || text.substr(i).starts_with("\xE2\x80\xA9")) {
      out += text[i + 2] == '\xA8' ? "\\L" : "\\P";  // line and paragraph separator
      i += 2;
    } else if (text.substr(i).starts_with("\xEF\xBB\xBF")) {  // byte order mark
      out += "\\uFEFF";
      i += 2;
    } else {
      out += c;
    }
  }
  out += '"';
}

void AppendSingleQuoted(std::string_view text, std::string& out) {
  out += '\'';
  for (const char c : text) {
    out += c;
    if (c == '\'') out += c;
  }
  out += '\'';
}

void AppendQuoted(std::string_view text, std::string& out) {
  IsSingleQuoteSafe(text) ? AppendSingleQuoted(text, out) : AppendDoubleQuoted(text, out);
}

class YamlWriter {
 public:
  explicit YamlWriter(std::string& out) : out_(out) {}

  // Writes a value whose first line continues the current one; later lines stand at `indent`.
  void Write(const Value& value, size_t indent) {
    switch (value.kind()) {
      case Value::Kind::kNull:
        out_ += "null\n";
        return;
      case Value::Kind::kBool:
        out_ += value.boolean() ? "true\n" : "false\n";
        return;
      case Value::Kind::kNumber:
        out_.append(value.text()) += '\n';
        return;
      case Value::Kind::kString:
        WriteText(value.text(), indent);
        return;
      case Value::Kind::kArray:
        WriteItems(value, indent);
        return;
      case Value::Kind::kObject:
        WriteMembers(value, indent);
        return;
    }
  }

 private:
  static bool IsOpen(const Value& value) { return !value.items().empty() || !value.members().empty(); }

  void Indent(size_t indent) { out_.append(indent, ' '); }

  void WriteItems(const Value& value, size_t indent) {
    if (value.items().empty()) {
      out_ += "[]\n";
      return;
    }
    bool is_first = true;
    for (const Value& item : value.items()) {
      if (!std::exchange(is_first, false)) Indent(indent);
      out_ += "- ";
      Write(item, indent + 2);
    }
  }

  void WriteMembers(const Value& value, size_t indent) {
    std::vector<const Member*> members;
    for (const Member& member : value.members()) {
      if (!member.superseded) members.push_back(&member);
    }
    if (members.empty()) {
      out_ += "{}\n";
      return;
    }
    std::sort(members.begin(), members.end(), [](const Member* a, const Member* b) { return a->key < b->key; });
    bool is_first = true;
    for (const Member* member : members) {
      if (!std::exchange(is_first, false)) Indent(indent);
      WriteKey(member->key, indent);
      out_ += ':';
      if (!IsOpen(member->value)) {
        out_ += ' ';
        Write(member->value, indent + 2);
        continue;
      }
      // A list below a key is not indented, as Kubernetes writes it; an object is.
      const size_t inner = member->value.is_array() ? indent : indent + 2;
      out_ += '\n';
      Indent(inner);
      Write(member->value, inner);
    }
  }

  void WriteKey(std::string_view key, size_t indent) {
    // Parsers look for the colon only so far ahead; longer keys are announced.
    constexpr size_t kLongestSimpleKey = 128;
    const bool is_long = key.size() > kLongestSimpleKey;
    if (is_long) out_ += "? ";
    if (!key.empty() && IsPlainSafe(key)) {
      out_ += key;
    } else {
      AppendQuoted(key, out_);
    }
    if (is_long) out_ += '\n';
    if (is_long) Indent(indent);
  }

  void WriteText(std::string_view text, size_t indent) {
    if (text.empty()) {
      out_ += "\"\"\n";
    } else if (IsPlainSafe(text)) {
      out_.append(text) += '\n';
    } else if (IsBlockSafe(text)) {
      WriteBlock(text, indent);
    } else {
      AppendQuoted(text, out_);
      out_ += '\n';
    }
  }

  void WriteBlock(std::string_view text, size_t indent) {
    const bool ends_with_newline = text.ends_with('\n');
    out_ += !ends_with_newline ? "|-\n" : text.ends_with("\n\n") ? "|+\n" : "|\n";
    if (ends_with_newline) text.remove_suffix(1);
    // At the top level an unindented block would be taken for the document itself.
    const size_t inner = std::max<size_t>(indent, 2);
    while (true) {
      const size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      if (!line.empty()) Indent(inner);
      out_.append(line) += '\n';
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }

  std::string& out_;
};

}  // namespace

std::string EncodeYaml(const Value& value) {
  std::string out;
  YamlWriter(out).Write(value, 0);
  return out;
}

std::string JsonToYaml(std::string json) {
  const Result<Document> document = ParseJson(std::move(json), "JSON");
  CHECK_WHY(document.ok(), "JsonToYaml is for JSON that we wrote");
  return EncodeYaml(document->root());
}

}  // namespace berth::codec
