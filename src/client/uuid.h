// Where MakeUuid was; leader_election.cc still includes it.
#pragma once

#include "base/uuid.h"  // IWYU pragma: export
