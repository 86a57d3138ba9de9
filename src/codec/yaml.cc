#include "codec/yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <limits>
#include <optional>
#include <utility>

#include "codec/yaml_tree.h"

namespace berth::codec {
namespace {

// Owns libyaml's parser and its current event.
class EventSource {
 public:
  EventSource(std::string_view text, uint32_t lines_before) : text_(text), lines_before_(lines_before) {
    is_initialised_ = yaml_parser_initialize(&parser_) != 0;
    if (!is_initialised_) return;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    // Marks are counted on from here.
    parser_.mark.line = lines_before;
  }
  ~EventSource() {
    if (has_event_) yaml_event_delete(&event_);
    if (is_initialised_) yaml_parser_delete(&parser_);
  }
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  bool Next() {
    if (!is_initialised_) return false;
    if (has_event_) yaml_event_delete(&event_);
    has_event_ = yaml_parser_parse(&parser_, &event_) != 0;
    return has_event_;
  }
  const yaml_event_t& event() const { return event_; }

  YamlProblem problem() const {
    if (!is_initialised_ || parser_.error == YAML_MEMORY_ERROR) return {{}, "out of memory"};
    std::string message = parser_.problem ? parser_.problem : "malformed YAML";
    if (parser_.error == YAML_READER_ERROR) return {MarkAt(parser_.problem_offset), std::move(message)};
    const Mark mark = ToMark(parser_.problem_mark);
    if (parser_.problem_mark.index < text_.size() && message.find("cannot start any token") != std::string::npos &&
        text_[parser_.problem_mark.index] == '\t') {
      message += "; tabs cannot indent";
    }
    if (parser_.context != nullptr) {
      message += fmt::format(" {}", parser_.context);
      if (parser_.context_mark.line != parser_.problem_mark.line) {
        message += fmt::format(" that starts on line {}", parser_.context_mark.line + 1);
      }
    }
    return {mark, std::move(message)};
  }

 private:
  Mark MarkAt(size_t offset) const {
    Mark mark{lines_before_ + 1, 1};
    for (char c : text_.substr(0, offset)) {
      if (c == '\n') {
        ++mark.line;
        mark.column = 1;
      } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
        ++mark.column;
      }
    }
    return mark;
  }

  std::string_view text_;
  uint32_t lines_before_;
  yaml_parser_t parser_;
  yaml_event_t event_;
  bool is_initialised_ = false;
  bool has_event_ = false;
};

}  // namespace

Result<std::vector<Document>> ParseYaml(std::string_view text, std::string file_name, uint32_t lines_before) {
  if (text.size() > std::numeric_limits<uint32_t>::max()) {
    return Error::InvalidArgument(fmt::format("{}: larger than 4 GiB", file_name));
  }
  auto fail = [&](const YamlProblem& problem) {
    return Error::InvalidArgument(fmt::format("{}: {}", Where(file_name, problem.where), problem.message));
  };
  std::vector<Document> documents;
  std::optional<YamlTree> tree;
  EventSource source(text, lines_before);
  while (true) {
    if (!source.Next()) return fail(source.problem());
    switch (source.event().type) {
      case YAML_STREAM_END_EVENT:
        return documents;
      case YAML_DOCUMENT_START_EVENT:
        tree.emplace(file_name);
        break;
      case YAML_DOCUMENT_END_EVENT:
        if (tree->has_content()) documents.push_back(std::move(*tree).Finish());
        tree.reset();
        break;
      default:
        if (!tree) break;
        if (std::optional<YamlProblem> problem = tree->Handle(source.event())) return fail(*problem);
    }
  }
}

}  // namespace berth::codec
