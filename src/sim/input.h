// Reading a cluster from files: YAML (many documents), JSON, kubectl's Lists, plain or gzip, "-" for standard input.
// Files are written by people: decoding is strict, and every problem is reported with its file, line and field. What
// the API server would have filled in is filled in, so that a hand-written object is what it would be in a cluster.
#pragma once

#include <string>
#include <vector>

#include "api/object.h"
#include "base/result.h"

namespace berth::sim {

struct ClusterInput {
  std::vector<api::Object> objects;
  // Things worth a sentence on standard error, which did not stop the reading.
  std::vector<std::string> warnings;
};

// All problems of all files in one error, a line each. `live` are objects that were read from a running cluster; they
// are taken as a file of them would be, and no object may be given twice.
Result<ClusterInput> ReadCluster(const std::vector<std::string>& files, std::vector<api::Object> live = {});

}  // namespace berth::sim
