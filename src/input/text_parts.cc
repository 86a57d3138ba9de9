#include "input/text_parts.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/result.h"
#include "codec/value.h"
#include "codec/yaml.h"

namespace berth::input {

namespace {

// Goes through text line by line.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  bool Next() {
    begin_ = end_;
    if (begin_ >= text_.size()) return false;
    const size_t newline = text_.find('\n', begin_);
    end_ = newline == std::string_view::npos ? text_.size() : newline + 1;
    ++count_;
    return true;
  }
  std::string_view line() const { return text_.substr(begin_, end_ - begin_); }
  size_t begin() const { return begin_; }
  // Lines before this one.
  uint32_t before() const { return count_ - 1; }

 private:
  std::string_view text_;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint32_t count_ = 0;
};

bool IsSpaceAt(std::string_view line, size_t at) {
  return at >= line.size() || line[at] == ' ' || line[at] == '\t' || line[at] == '\n' || line[at] == '\r';
}

// Such a line begins a document wherever it is, even inside a block of text.
bool BeginsDocument(std::string_view line) { return line.starts_with("---") && IsSpaceAt(line, 3); }

bool IsBlankOrComment(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || line[first] == '#';
}

size_t IndentOf(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool BeginsItem(std::string_view line, size_t indent) {
  return IndentOf(line) == indent && line.substr(indent).starts_with('-') && IsSpaceAt(line, indent + 1);
}

bool IsItemsKey(std::string_view line) { return line.starts_with("items:") && IsBlankOrComment(line.substr(6)); }

// The lines of a list around its items; both are parsed to see that it is a plain v1 List.
struct ListFrame {
  std::string_view head;  // up to and with "items:"
  std::string_view tail;
  std::string_view items;
  uint32_t lines_before_items = 0;
  size_t indent = 0;  // of the items
};

std::optional<ListFrame> FindItems(std::string_view document) {
  Lines lines(document);
  bool in_head = true;
  std::optional<size_t> begin;
  ListFrame frame;
  while (lines.Next()) {
    const std::string_view line = lines.line();
    if (in_head) {
      in_head = !IsItemsKey(line);
      if (!in_head) frame.head = document.substr(0, lines.begin() + line.size());
    } else if (IsBlankOrComment(line)) {
      continue;
    } else if (!begin) {
      frame.indent = IndentOf(line);
      if (!BeginsItem(line, frame.indent)) return std::nullopt;
      begin = lines.begin();
      frame.lines_before_items = lines.before();
    } else if (IndentOf(line) < frame.indent || (IndentOf(line) == frame.indent && !BeginsItem(line, frame.indent))) {
      frame.tail = document.substr(lines.begin());
      break;
    }
  }
  if (!begin) return std::nullopt;
  frame.items = document.substr(*begin, document.size() - frame.tail.size() - *begin);
  return frame;
}

// Whether the lines around the items say "v1", "List" and contain nothing that must be reported.
bool IsPlainList(const ListFrame& frame) {
  std::string around(frame.head);
  around += " []\n";  // after "items:"
  around += frame.tail;
  const Result<std::vector<codec::Document>> parsed = codec::ParseYaml(around, {});
  if (!parsed || parsed->size() != 1) return false;
  const codec::Value& root = parsed->front().root();
  const codec::Value* kind = root.Find("kind");
  const codec::Value* version = root.Find("apiVersion");
  if (!kind || kind->text() != "List" || !version || version->text() != "v1") return false;
  return std::all_of(root.members().begin(), root.members().end(), [](const codec::Member& member) {
    return !member.repeated &&
           (member.key == "apiVersion" || member.key == "kind" || member.key == "metadata" || member.key == "items");
  });
}

// Empty when the document is no list, or cannot be split.
std::vector<TextPart> SplitList(const TextPart& document, size_t part_size) {
  std::vector<TextPart> parts;
  const std::optional<ListFrame> frame = FindItems(document.text);
  if (!frame || !IsPlainList(*frame)) return parts;
  Lines lines(frame->items);
  size_t item = 0;
  while (lines.Next()) {
    if (!BeginsItem(lines.line(), frame->indent)) continue;
    const size_t at = lines.begin();
    if (parts.empty() || at - static_cast<size_t>(parts.back().text.data() - frame->items.data()) >= part_size) {
      if (!parts.empty()) {
        parts.back().text = parts.back().text.substr(0, frame->items.data() + at - parts.back().text.data());
      }
      parts.push_back({.form = TextPart::Form::kItems,
                       .text = frame->items.substr(at),
                       .lines_before = document.lines_before + frame->lines_before_items + lines.before(),
                       .first_item = item,
                       .whole = document.text,
                       .lines_before_whole = document.lines_before});
    }
    ++item;
  }
  return parts;
}

// Small documents are combined: starting a parser is not free.
void AppendDocument(const TextPart& document, size_t part_size, std::vector<TextPart>& parts) {
  if (document.text.size() > part_size) {
    const std::vector<TextPart> items = SplitList(document, part_size);
    if (!items.empty()) {
      parts.insert(parts.end(), items.begin(), items.end());
      return;
    }
  }
  if (!parts.empty() && parts.back().form == TextPart::Form::kYaml &&
      parts.back().text.size() + document.text.size() <= part_size) {
    std::string_view& last = parts.back().text;
    last = std::string_view(last.data(), last.size() + document.text.size());
    return;
  }
  parts.push_back(document);
}

// Directives belong to the document that follows, and UTF-16 has other line ends.
bool MustStayWhole(std::string_view text) {
  return text.starts_with('%') || text.find("\n%") != std::string_view::npos || text.starts_with("\xFE\xFF") ||
         text.starts_with("\xFF\xFE");
}

}  // namespace

std::vector<TextPart> SplitDocuments(std::string_view text, uint32_t lines_before) {
  std::vector<TextPart> parts;
  if (MustStayWhole(text)) return {{.text = text, .lines_before = lines_before}};
  size_t begin = 0;
  uint32_t begin_line = 0;
  const auto cut = [&](size_t end) {
    if (end > begin)
      parts.push_back({.text = text.substr(begin, end - begin), .lines_before = lines_before + begin_line});
  };
  Lines lines(text);
  while (lines.Next()) {
    if (!BeginsDocument(lines.line())) continue;
    cut(lines.begin());
    begin = lines.begin();
    begin_line = lines.before();
  }
  cut(text.size());
  return parts;
}

std::vector<TextPart> SplitText(std::string_view text, size_t part_size) {
  const std::vector<TextPart> documents = SplitDocuments(text, 0);
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool looks_like_json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  // JSON has no document markers; a text that begins like JSON but has some is YAML in braces.
  if (looks_like_json && documents.size() == 1) return {{.form = TextPart::Form::kJson, .text = text}};
  std::vector<TextPart> parts;
  for (const TextPart& document : documents) AppendDocument(document, part_size, parts);
  return parts;
}

}  // namespace berth::input
