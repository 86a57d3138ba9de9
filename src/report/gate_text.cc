#include "report/gate_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "report/table_cells.h"

namespace berth::report {

namespace {

// GitHub's escapes, for the text of a command and for its properties.
std::string CommandText(std::string_view text, bool property = false) {
  std::string out;
  for (const char c : base::Printable(text)) {
    if (c == '%') {
      out += "%25";
    } else if (property && c == ':') {
      out += "%3A";
    } else if (property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string MarkdownText(std::string_view text) {
  std::string out;
  for (const char c : base::Printable(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '|':
        out += "&#124;";
        break;
      case '@':
        out += "&#64;";
        break;
      case '#':
        out += "&#35;";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '~':
      case '!':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out;
}

std::string XmlText(std::string_view text) {
  std::string out;
  for (const char c : base::Printable(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string GitHubCommand(std::string_view level, std::string_view title, std::string_view text) {
  return fmt::format("::{} title={}::{}\n", level, CommandText(title, true), CommandText(text));
}

std::string JUnitSuite(std::string_view name, size_t tests, size_t failures, std::string_view cases) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" "
      "failures=\"{}\">\n"
      "{}  </testsuite>\n</testsuites>\n",
      XmlText(name), tests, failures, cases);
}

std::string PassedCase(std::string_view whose, std::string_view name, std::string_view text) {
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\"><system-out>{}</system-out></testcase>\n",
                     XmlText(whose), XmlText(name), XmlText(text));
}

std::string FailedCase(std::string_view whose, std::string_view name, std::string_view type, std::string_view why) {
  return fmt::format(
      "    <testcase classname=\"{}\" name=\"{}\">\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n",
      XmlText(whose), XmlText(name), XmlText(type), XmlText(why));
}

std::string SkippedCase(std::string_view whose, std::string_view name, std::string_view why) {
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\"><skipped message=\"{}\"/></testcase>\n",
                     XmlText(whose), XmlText(name), XmlText(why));
}

std::string FoldedWarnings(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return {};
  constexpr size_t kShown = 20, kMaxWarning = 400;
  std::string text = fmt::format("\n<details><summary>{}</summary>\n\n", Counted(warnings.size(), "warning"));
  for (size_t i = 0; i < std::min(warnings.size(), kShown); ++i) {
    text += fmt::format("- {}\n", MarkdownText(base::Clipped(warnings[i], kMaxWarning)));
  }
  if (warnings.size() > kShown) text += fmt::format("- … and {} more\n", warnings.size() - kShown);
  return text + "\n</details>\n";
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

}  // namespace berth::report
