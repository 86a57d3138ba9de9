#include "man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

#include "base/utf8.h"

namespace berth::cmd {

namespace {

// Text as roff takes it: its control characters escaped, hyphens that can be searched for and pasted, and characters
// beyond ASCII by number, since not every formatter reads UTF-8.
std::string Escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t size = 1;
    if (static_cast<unsigned char>(text[0]) >= 0x80) {
      size = std::max<size_t>(base::Utf8SequenceLength(text), 1);  // help texts are ours, so they are well-formed
      out += fmt::format("\\[u{:04X}]", static_cast<uint32_t>(base::DecodeUtf8(text.substr(0, size))));
    } else if (text[0] == '\\') {
      out += "\\e";
    } else if (text[0] == '-') {
      out += "\\-";
    } else if (text[0] == ',' && text.size() > 1 && text[1] != ' ') {
      out += ",\\:";  // a long list may be wrapped here
    } else {
      out += text[0];
    }
    text.remove_prefix(size);
  }
  return out;
}

// A line of text must not be interpreted as a request.
std::string Line(std::string_view text) {
  std::string out = Escaped(text);
  if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out.insert(0, "\\&");
  return out + "\n";
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    lines.push_back(text.substr(0, end));
  }
  if (!text.empty()) lines.push_back(text);
  return lines;
}

// Unchanged, one line per line.
std::string Literal(const std::vector<std::string_view>& lines) {
  std::string out = ".nf\n";
  for (std::string_view line : lines) out += Line(line.substr(std::min(line.find_first_not_of(' '), line.size())));
  return out + ".fi\n";
}

// The parts of the text before the flags in --help.
struct Usage {
  std::vector<std::string_view> synopsis;
  std::vector<std::vector<std::string_view>> paragraphs;
  std::vector<std::string_view> exit_status;
};

Usage TakeApart(std::string_view text) {
  Usage usage;
  std::vector<std::string_view> paragraph;
  const auto finish = [&] {
    if (paragraph.empty()) return;
    if (paragraph[0] == "Usage:") {
      usage.synopsis.assign(paragraph.begin() + 1, paragraph.end());
    } else if (paragraph[0].starts_with("Exit status:")) {
      usage.exit_status = paragraph;
      usage.exit_status[0].remove_prefix(std::string_view("Exit status: ").size());
    } else {
      usage.paragraphs.push_back(paragraph);
    }
    paragraph.clear();
  };
  for (std::string_view line : Lines(text)) {
    if (line.empty()) {
      finish();
    } else {
      paragraph.push_back(line);
    }
  }
  finish();
  return usage;
}

std::string Header(std::string_view page, std::string_view version, std::string_view summary) {
  std::string title(page);
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".TH \"{}\" \"1\" \"\" \"berth {}\" \"berth\"\n.SH NAME\n{} \\- {}\n", Escaped(title), version,
                     Escaped(page), Escaped(summary));
}

std::string Description(const Usage& usage) {
  std::string text = ".SH DESCRIPTION\n";
  bool first = true;
  for (const std::vector<std::string_view>& paragraph : usage.paragraphs) {
    if (!first) text += ".PP\n";
    first = false;
    const bool indented =
        std::all_of(paragraph.begin(), paragraph.end(), [](std::string_view line) { return line.starts_with("  "); });
    if (indented) {
      text += Literal(paragraph);
    } else {
      for (std::string_view line : paragraph) text += Line(line);
    }
  }
  return text;
}

std::string Option(const FlagDescription& flag) {
  std::string text = ".TP\n";
  if (flag.shorthand) text += fmt::format("\\fB\\-{}\\fR, ", flag.shorthand);
  text += fmt::format("\\fB\\-\\-{}\\fR", Escaped(flag.name));
  if (!flag.value_name.empty()) {
    const std::string value = fmt::format("\\fI{}\\fR", Escaped(flag.value_name));
    text += flag.value_optional ? fmt::format(" [{}]", value) : " " + value;
  }
  text += "\n";
  for (std::string_view line : Lines(flag.help)) text += Line(line);
  return text;
}

std::string Options(const CommandDescription& command) {
  std::string text = ".SH OPTIONS\n";
  std::vector<std::string> groups;
  for (const FlagDescription& flag : command.flags) {
    if (std::find(groups.begin(), groups.end(), flag.group) == groups.end()) groups.push_back(flag.group);
  }
  std::sort(groups.begin(), groups.end());
  for (const std::string& group : groups) {
    if (!group.empty()) text += fmt::format(".SS \"{}\"\n", group);
    for (const FlagDescription& flag : command.flags) {
      if (flag.group == group) text += Option(flag);
    }
  }
  return text;
}

}  // namespace

std::string ManPageName(std::string_view verb) {
  std::string name = "berth-" + std::string(verb);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string ManPage(const VerbDescription& verb, std::string_view version) {
  const Usage usage = TakeApart(verb.command.usage);
  std::string page = Header(ManPageName(verb.name), version, verb.summary);
  page += ".SH SYNOPSIS\n" + Literal(usage.synopsis) + Description(usage) + Options(verb.command);
  if (!usage.exit_status.empty()) {
    page += ".SH EXIT STATUS\n";
    for (std::string_view line : usage.exit_status) page += Line(line);
  }
  page += ".SH EXAMPLES\n" + Literal(Lines(verb.command.examples));
  return page + ".SH SEE ALSO\n\\fBberth\\fR(1)\n";
}

std::string ManPageOfAll(std::span<const VerbDescription> verbs, std::string_view version) {
  std::string page = Header("berth", version, "schedule Kubernetes pods as kube-scheduler does, and plan with it");
  page += ".SH SYNOPSIS\n.nf\n\\fBberth\\fR \\fIVERB\\fR [\\fIflags\\fR]\n.fi\n.SH DESCRIPTION\n";
  page += "Decides as kube-scheduler v1.36 does: on a real cluster, or in memory for somebody who wants to know.\n";
  page += ".SH VERBS\n";
  for (const VerbDescription& verb : verbs) {
    if (verb.name.find(' ') != std::string::npos) continue;
    page += fmt::format(".TP\n\\fB{}\\fR\n{}", Escaped(verb.name), Line(verb.summary));
  }
  page += ".TP\n\\fBversion\\fR\nprint the version\n.TP\n\\fBhelp\\fR\nlist the verbs\n.SH SEE ALSO\n";
  for (size_t i = 0; i < verbs.size(); ++i) {
    page += fmt::format("\\fB{}\\fR(1){}\n", Escaped(ManPageName(verbs[i].name)), i + 1 == verbs.size() ? "" : ",");
  }
  return page;
}

}  // namespace berth::cmd
