#include "perf/process_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace berth::perf {

double ResidentBytes() {
  double total = 0;
  double resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

}  // namespace berth::perf
