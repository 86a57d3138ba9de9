// Shell completion of berth's command line: verbs, flags, values of flags that have a few, files.
#pragma once

#include <span>
#include <string>

#include "verbs.h"

namespace berth::cmd {

std::string BashCompletion(std::span<const VerbDescription> verbs);
std::string ZshCompletion(std::span<const VerbDescription> verbs);
std::string FishCompletion(std::span<const VerbDescription> verbs);

}  // namespace berth::cmd
