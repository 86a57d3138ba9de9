#include "completion_scripts.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::cmd {

namespace {

enum class Values { kNone, kAny, kFiles, kFolders, kChoices };

Values ValuesOf(const FlagDescription& flag) {
  if (flag.value_name.empty()) return Values::kNone;
  if (!flag.choices.empty()) return Values::kChoices;
  if (flag.value_name.starts_with("FILE")) return Values::kFiles;
  if (flag.value_name == "DIR" || flag.value_name == "FOLDER") return Values::kFolders;
  // Upstream's flags call every text "string"; their names show which are files.
  for (std::string_view end : {"-file", "-dir", "config", "kubeconfig", "-to"}) {
    if (flag.value_name == "string" && flag.name.ends_with(end)) {
      return end == "-dir" ? Values::kFolders : Values::kFiles;
    }
  }
  return Values::kAny;
}

std::string Replaced(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// Up to the end of the first sentence: a line beside a flag, not a paragraph.
std::string Brief(const std::string& help) {
  const size_t end = std::min({help.find('\n'), help.find(". "), help.find("; ")});
  return help.substr(0, end);
}

// Between single quotes.
std::string ForShell(const std::string& text) { return Replaced(text, "'", "'\\''"); }

std::string Words(std::span<const VerbDescription> verbs) {
  std::string words;
  for (const VerbDescription& verb : verbs) {
    if (verb.name.find(' ') == std::string::npos) words += verb.name + " ";
  }
  return words + "version help";
}

// "simulate:--output|simulate:-o"
std::string BashPattern(const VerbDescription& verb, const FlagDescription& flag) {
  std::string pattern = fmt::format("'{}:--{}'", verb.name, flag.name);
  if (flag.shorthand) pattern += fmt::format(" | '{}:-{}'", verb.name, flag.shorthand);
  return pattern;
}

std::string BashValues(std::span<const VerbDescription> verbs) {
  std::string cases;
  for (const VerbDescription& verb : verbs) {
    for (const FlagDescription& flag : verb.command.flags) {
      std::string action;
      switch (ValuesOf(flag)) {
        case Values::kNone:
          continue;
        case Values::kAny:
          action = "return";
          break;
        case Values::kFiles:
          action = "_berth_files -f; return";
          break;
        case Values::kFolders:
          action = "_berth_files -d; return";
          break;
        case Values::kChoices:
          action = fmt::format("words='{}'", fmt::join(flag.choices, " "));
          break;
      }
      if (flag.value_optional) continue;  // the next word may as well be a flag
      cases += fmt::format("    {}) {} ;;\n", BashPattern(verb, flag), action);
    }
  }
  return cases;
}

std::string BashFlags(std::span<const VerbDescription> verbs) {
  std::string cases;
  for (const VerbDescription& verb : verbs) {
    std::string flags;
    for (const FlagDescription& flag : verb.command.flags) flags += fmt::format(" --{}", flag.name);
    cases += fmt::format("      '{}') words='{}' ;;\n", verb.name, flags.substr(1));
  }
  return cases;
}

std::string BashArguments(std::span<const VerbDescription> verbs) {
  std::string cases;
  for (const VerbDescription& verb : verbs) {
    if (!verb.command.words.empty()) {
      cases += fmt::format("      '{}') words='{}' ;;\n", verb.name, fmt::join(verb.command.words, " "));
    }
  }
  return cases;
}

// Pairs of a verb and its sub-verb, which has its own flags.
std::string BashSubVerbs(std::span<const VerbDescription> verbs) {
  std::string cases;
  for (const VerbDescription& verb : verbs) {
    const size_t space = verb.name.find(' ');
    if (space == std::string::npos) continue;
    cases += fmt::format("    if [[ ${{COMP_WORDS[1]}} == {} && ${{COMP_WORDS[2]}} == {} ]]; then verb='{}'; fi\n",
                         verb.name.substr(0, space), verb.name.substr(space + 1), verb.name);
  }
  return cases;
}

// Escapes the characters that are special in an _arguments specification.
std::string ForZsh(const std::string& help) {
  std::string text = Replaced(Replaced(help, "\\", "\\\\"), ":", "\\:");
  return ForShell(Replaced(Replaced(text, "[", "\\["), "]", "\\]"));
}

std::string ZshAction(const FlagDescription& flag) {
  switch (ValuesOf(flag)) {
    case Values::kNone:
      return {};
    case Values::kAny:
      return fmt::format(":{}: ", ForZsh(flag.value_name));
    case Values::kFiles:
      return ":file:_files";
    case Values::kFolders:
      return ":folder:_files -/";
    case Values::kChoices:
      return fmt::format(":{}:({})", flag.name, fmt::join(flag.choices, " "));
  }
  return {};
}

std::string ZshFlags(const VerbDescription& verb) {
  std::string text;
  for (const FlagDescription& flag : verb.command.flags) {
    const std::string about = ForZsh(Brief(flag.help));
    std::string action = ZshAction(flag);
    if (flag.value_optional) action.insert(0, ":");
    const bool valued = !flag.value_name.empty();
    text += fmt::format(" \\\n        '*--{}{}[{}]{}'", flag.name, valued ? "=" : "", about, action);
    if (flag.shorthand)
      text += fmt::format(" \\\n        '*-{}{}[{}]{}'", flag.shorthand, valued ? "+" : "", about, action);
  }
  if (!verb.command.words.empty())
    text += fmt::format(" \\\n        '1:what:({})'", fmt::join(verb.command.words, " "));
  if (verb.command.takes_files || !verb.command.words.empty()) text += " \\\n        '*:file:_files'";
  return text;
}

std::string FishValues(const FlagDescription& flag) {
  switch (ValuesOf(flag)) {
    case Values::kNone:
      return {};
    case Values::kAny:
      return " -x";
    case Values::kFiles:
      return " -r -F";
    case Values::kFolders:
      return " -x -a '(__fish_complete_directories)'";
    case Values::kChoices:
      return fmt::format(" -x -a '{}'", fmt::join(flag.choices, " "));
  }
  return {};
}

std::string ForFish(const std::string& text) { return Replaced(Replaced(text, "\\", "\\\\"), "'", "\\'"); }

}  // namespace

std::string BashCompletion(std::span<const VerbDescription> verbs) {
  return fmt::format(R"(# bash completion for berth; made by berth completion bash.

_berth_files() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}}

_berth() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}} flag=${{COMP_WORDS[COMP_CWORD - 1]}} words=''
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '{verbs} --help --version' -- "$current")
    return
  fi
  if ((COMP_CWORD > 2)); then
{sub_verbs}    :
  fi
  # Bash takes --flag=value for three words.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $flag == '=' ]]; then
    flag=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  case "$verb:$flag" in
{values}  esac
  if [[ -z $words && $current == -* ]]; then
    case "$verb" in
{flags}    esac
  elif [[ -z $words ]] && ((COMP_CWORD == 2)); then
    case "$verb" in
{arguments}    esac
  fi
  if [[ -z $words ]]; then
    _berth_files -f
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}

complete -F _berth berth
)",
                     fmt::arg("verbs", Words(verbs)), fmt::arg("sub_verbs", BashSubVerbs(verbs)),
                     fmt::arg("values", BashValues(verbs)), fmt::arg("flags", BashFlags(verbs)),
                     fmt::arg("arguments", BashArguments(verbs)));
}

std::string ZshCompletion(std::span<const VerbDescription> verbs) {
  std::string list, cases;
  for (const VerbDescription& verb : verbs) {
    const size_t space = verb.name.find(' ');
    if (space == std::string::npos) {
      list += fmt::format("    '{}:{}'\n", verb.name, ForShell(verb.summary));
      cases += fmt::format("    {})\n      _arguments -S{}\n      ;;\n", verb.name, ZshFlags(verb));
    } else {
      // Before the verb alone, which would match as well.
      cases.insert(0, fmt::format("    '{}')\n      _arguments -S{}\n      ;;\n", verb.name, ZshFlags(verb)));
    }
  }
  std::string sub_verbs;
  for (const VerbDescription& verb : verbs) {
    const size_t space = verb.name.find(' ');
    if (space == std::string::npos) continue;
    sub_verbs += fmt::format("  if [[ $words[1] == {} && $words[2] == {} ]] && (( CURRENT > 2 )); then verb='{}'; fi\n",
                             verb.name.substr(0, space), verb.name.substr(space + 1), verb.name);
  }
  return fmt::format(R"(#compdef berth
# zsh completion for berth; made by berth completion zsh.

_berth() {{
  local curcontext="$curcontext" state line verb
  typeset -A opt_args
  local -a verbs
  verbs=(
{}    'version:print the version'
    'help:what there is'
  )
  _arguments -C '1:verb:->verb' '*::argument:->argument'
  if [[ $state == verb ]]; then
    _describe -t verbs verb verbs
    return
  fi
  verb=$words[1]
{}  case $verb in
{}  esac
}}

if [[ $funcstack[1] == _berth ]]; then _berth "$@"; else compdef _berth berth; fi
)",
                     list, sub_verbs, cases);
}

std::string FishCompletion(std::span<const VerbDescription> verbs) {
  std::string text = "# fish completion for berth; made by berth completion fish.\n\ncomplete -c berth -f\n";
  const auto first = [&](std::string_view name, const std::string& summary) {
    text += fmt::format("complete -c berth -n __fish_use_subcommand -a {} -d '{}'\n", name, ForFish(summary));
  };
  for (const VerbDescription& verb : verbs) {
    if (verb.name.find(' ') == std::string::npos) first(verb.name, verb.summary);
  }
  first("version", "print the version");
  first("help", "what there is");
  for (const VerbDescription& verb : verbs) {
    const std::string last = verb.name.substr(verb.name.rfind(' ') + 1);
    const std::string condition = fmt::format("complete -c berth -n '__fish_seen_subcommand_from {}'", last);
    for (const FlagDescription& flag : verb.command.flags) {
      text += fmt::format("{} -l {}{}{} -d '{}'\n", condition, flag.name,
                          flag.shorthand ? fmt::format(" -s {}", flag.shorthand) : "", FishValues(flag),
                          ForFish(Brief(flag.help)));
    }
    for (const std::string& word : verb.command.words) text += fmt::format("{} -a {}\n", condition, word);
    if (verb.command.takes_files) text += condition + " -F\n";
  }
  return text;
}

}  // namespace berth::cmd
