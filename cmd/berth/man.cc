// berth man: manual pages, generated from the tables that parse the command line.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "commands.h"
#include "flags.h"
#include "man_page.h"
#include "verbs.h"

namespace berth::cmd {

namespace {

constexpr char kManUsage[] = R"(Print the manual page of berth or of a verb, or write all of them to a folder.

Usage:
  berth man [VERB]
  berth man --folder FOLDER

Pages are roff, which man renders. The Debian package installs them.

Exit status: 0, or 1 for bad usage or a folder that cannot be written to.
)";

constexpr char kManExamples[] = R"(  berth man simulate | man -l -
  berth man --folder ~/.local/share/man/man1
)";

Result<void> Write(const std::filesystem::path& path, const std::string& text) {
  const Result<void> written = base::WriteFile(path.string(), text);
  if (written) return {};
  return Error::InvalidArgument(fmt::format("cannot write {}: {}", path.string(), written.error().message));
}

Result<void> WriteAll(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error::InvalidArgument(fmt::format("cannot make {}: {}", folder.string(), error.message()));
  const std::vector<VerbDescription> verbs = DescribeVerbs();
  if (Result<void> written = Write(folder / "berth.1", ManPageOfAll(verbs, BERTH_VERSION)); !written) return written;
  for (const VerbDescription& verb : verbs) {
    Result<void> written = Write(folder / (ManPageName(verb.name) + ".1"), ManPage(verb, BERTH_VERSION));
    if (!written) return written;
  }
  return {};
}

}  // namespace

int Man(const framework::Registry& /*own_plugins*/, const std::vector<std::string>& arguments) {
  std::string folder;
  FlagSet flags("berth man", kManUsage, kManExamples);
  flags.Add(&folder, "folder", 0, "FOLDER", "write every page there, as berth.1, berth-simulate.1 and so on");
  std::vector<std::string> names;
  for (const Verb& verb : Verbs()) names.emplace_back(verb.name);
  flags.Words(names);
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return BadInput("man", rest.error().message + "\n" + flags.Hint());
  if (!folder.empty()) {
    if (!rest->empty()) return BadInput("man", "--folder writes the pages of all verbs; none is named besides it");
    const Result<void> written = WriteAll(folder);
    return written ? kOk : BadInput("man", written.error().message);
  }
  const std::vector<VerbDescription> verbs = DescribeVerbs();
  if (rest->empty()) {
    fmt::print("{}", ManPageOfAll(verbs, BERTH_VERSION));
    return kOk;
  }
  const std::string wanted = fmt::format("{}", fmt::join(*rest, " "));
  for (const VerbDescription& verb : verbs) {
    if (verb.name != wanted) continue;
    fmt::print("{}", ManPage(verb, BERTH_VERSION));
    return kOk;
  }
  return BadInput("man", UnknownVerb(wanted) + "\n" + flags.Hint());
}

}  // namespace berth::cmd
