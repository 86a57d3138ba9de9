// The memory that this process occupies.
#pragma once

namespace berth::perf {

double ResidentBytes();
double PeakResidentBytes();
inline constexpr double kMegabyte = 1024 * 1024;

}  // namespace berth::perf
