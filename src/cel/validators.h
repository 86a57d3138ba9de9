// Checks of a tree after type checking: literals that cannot be converted, literal patterns, mixed lists and maps,
// format strings.
#pragma once

#include "cel/checker.h"

namespace berth::cel {

void Validate(const Ast& ast, const Checked& checked, const Environment& environment, Issues& issues);

}  // namespace berth::cel
