#include "config/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "codec/yaml_scalar.h"

namespace berth::config {
namespace {

bool HasControlCharacter(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

// Whether a string that YAML would take for a string may also stand without quotes.
bool CanBePlain(std::string_view text) {
  constexpr std::string_view kIndicators = "#,[]{}&*!|>'\"%@`";
  if (text.front() == ' ' || text.back() == ' ') return false;
  if (text.starts_with("---") || text.starts_with("...")) return false;
  if (kIndicators.find(text.front()) != std::string_view::npos) return false;
  const auto ends_word = [&](size_t i) { return i + 1 == text.size() || text[i + 1] == ' '; };
  if ((text.front() == '-' || text.front() == '?') && ends_word(0)) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':' && ends_word(i)) return false;
    if (text[i] == '#' && i > 0 && text[i - 1] == ' ') return false;
  }
  return true;
}

std::string DoubleQuoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string Scalar(std::string_view text) {
  const bool reads_as_string = codec::ResolvePlain(text).kind == codec::ResolvedScalar::Kind::kString;
  if (!reads_as_string || HasControlCharacter(text)) return DoubleQuoted(text);
  if (CanBePlain(text)) return std::string(text);
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + '\'';
}

class Printer {
 public:
  explicit Printer(std::string& out) : out_(out) {}

  // Prints a value that begins where the output stands; lines that follow are indented by `indent`.
  void Print(const codec::Value& value, size_t indent) {
    if (value.is_object() && !value.members().empty()) return PrintObject(value, indent);
    if (value.is_array() && !value.items().empty()) return PrintList(value, indent);
    PrintLeaf(value);
  }

 private:
  static bool IsBlock(const codec::Value& value) { return !value.members().empty() || !value.items().empty(); }

  void PrintObject(const codec::Value& value, size_t indent) {
    std::vector<const codec::Member*> members;
    for (const codec::Member& member : value.members()) {
      if (!member.superseded) members.push_back(&member);
    }
    std::ranges::sort(members, {}, [](const codec::Member* member) { return member->key; });
    for (size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out_.append(indent, ' ');
      out_ += Scalar(members[i]->key) + ":";
      const codec::Value& child = members[i]->value;
      if (!IsBlock(child)) {
        out_ += ' ';
        PrintLeaf(child);
        continue;
      }
      const size_t child_indent = child.is_array() ? indent : indent + 2;
      out_ += '\n';
      out_.append(child_indent, ' ');
      Print(child, child_indent);
    }
  }

  void PrintList(const codec::Value& value, size_t indent) {
    for (size_t i = 0; i < value.items().size(); ++i) {
      if (i > 0) out_.append(indent, ' ');
      out_ += "- ";
      Print(value.items()[i], indent + 2);
    }
  }

  void PrintLeaf(const codec::Value& value) {
    switch (value.kind()) {
      case codec::Value::Kind::kNull:
        out_ += "null";
        break;
      case codec::Value::Kind::kBool:
        out_ += value.boolean() ? "true" : "false";
        break;
      case codec::Value::Kind::kNumber:
        out_ += value.text();
        break;
      case codec::Value::Kind::kString:
        out_ += Scalar(value.text());
        break;
      case codec::Value::Kind::kArray:
        out_ += "[]";
        break;
      case codec::Value::Kind::kObject:
        out_ += "{}";
        break;
    }
    out_ += '\n';
  }

  std::string& out_;
};

}  // namespace

std::string ToYaml(const codec::Value& value) {
  std::string out;
  Printer(out).Print(value, 0);
  return out;
}

}  // namespace berth::config
