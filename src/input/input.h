// Reading a cluster from files: YAML (many documents), JSON, kubectl's Lists, plain or gzip, directories of them, "-"
// for standard input. Files are written by hand: decoding is strict, and every problem is reported with its file,
// line and field. What the API server and the controllers would have done is done, so that a hand-written object is
// what it would be in a cluster.
//
// In this order: files are decoded and checked; nodes that are only described are made; what-ifs are applied; workloads
// are expanded into the pods they lack; pods that no API server has seen go through admission.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api/object.h"
#include "base/result.h"
#include "input/input_files.h"
#include "input/node_template.h"
#include "input/object_reader.h"
#include "input/what_if.h"
#include "input/workloads.h"

namespace berth::input {

struct ClusterInput {
  std::vector<api::Object> objects;
  // Things worth a sentence on standard error, which did not stop the reading.
  std::vector<std::string> warnings;
  size_t passed_over = 0;  // objects of kinds that scheduling does not read
};

// What comes besides files.
struct InputChanges {
  // Objects that were read from a running cluster; they are taken as a file of them would be.
  std::vector<api::Object> live;
  std::vector<NodeTemplate> nodes;
  WhatIf what_if;
  size_t most_pods_made = kMaxPodsMade;  // by all workloads together
  ReadProgress progress{};
};

// All problems of all files in one error, a line each. No object may be given twice.
Result<ClusterInput> ReadCluster(const std::vector<std::string>& files, InputChanges changes);
Result<ClusterInput> ReadCluster(const std::vector<std::string>& files, std::vector<api::Object> live = {});

// The same of texts that are in memory already, on that many threads.
Result<ClusterInput> ReadClusterTexts(std::vector<InputFile> files, InputChanges changes, size_t threads);

}  // namespace berth::input
