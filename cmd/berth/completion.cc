// berth completion: scripts that complete berth's command line in a shell.
#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "completion_scripts.h"
#include "flags.h"
#include "verbs.h"

namespace berth::cmd {

namespace {

constexpr char kCompletionUsage[] =
    R"(Print a completion script for a shell: it completes verbs, flags, their values, and files.

Usage:
  berth completion bash|zsh|fish

The Debian package installs it.

Exit status: 0, or 1 for bad usage.
)";

constexpr char kCompletionExamples[] = R"(  source <(berth completion bash)
  berth completion bash > ~/.local/share/bash-completion/completions/berth
  berth completion zsh > ~/.zfunc/_berth        # with fpath+=(~/.zfunc) before compinit
  berth completion fish > ~/.config/fish/completions/berth.fish
)";

}  // namespace

int Completion(const framework::Registry& /*own_plugins*/, const std::vector<std::string>& arguments) {
  const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  FlagSet flags("berth completion", kCompletionUsage, kCompletionExamples);
  flags.Words(shells);
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return BadInput("completion", rest.error().message + "\n" + flags.Hint());
  if (rest->size() != 1) return BadInput("completion", "expected one of bash, zsh and fish\n" + flags.Hint());
  const std::string& shell = rest->front();
  if (shell == "bash") fmt::print("{}", BashCompletion(DescribeVerbs()));
  if (shell == "zsh") fmt::print("{}", ZshCompletion(DescribeVerbs()));
  if (shell == "fish") fmt::print("{}", FishCompletion(DescribeVerbs()));
  if (std::find(shells.begin(), shells.end(), shell) != shells.end()) return kOk;
  return BadInput("completion", fmt::format("expected {}, found \"{}\"\n{}", AnyOf(shells), shell, flags.Hint()));
}

}  // namespace berth::cmd
