// Reading a cluster from files: YAML (many documents), JSON, kubectl's Lists, plain or gzip, directories of them, "-"
// for standard input. Files may be hand-written: decoding is strict, and every problem is reported with its file,
// line and field. The work of the API server and the controllers is done here, so that a hand-written object becomes
// what it would be in a cluster.
//
// In this order: files are decoded and checked; described nodes are made; what-ifs are applied; pods that no API server
// has seen go through admission; workloads are expanded into the pods they lack.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "api/node.h"
#include "api/object.h"
#include "base/result.h"
#include "input/input_files.h"
#include "input/node_template.h"
#include "input/object_reader.h"
#include "input/quotas.h"
#include "input/rollout.h"
#include "input/what_if.h"
#include "input/workloads.h"

namespace berth::input {

struct ClusterInput {
  std::vector<api::Object> objects;
  // Worth reporting on standard error, but no reason to stop reading.
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  // worth knowing, but not wrong
  // Pods of older templates that newer ones replace; the newer ones are not among the objects.
  std::vector<Rollout> rollouts;
  size_t passed_over = 0;  // objects of kinds that scheduling does not read
  // Pods that a ResourceQuota keeps from being created; they are not among the objects.
  std::vector<RefusedPod> refused;
  // Kinds that objects refer to and that the input lacks altogether: they were not dumped, so nothing is known about
  // them.
  std::set<api::Kind> absent;
};

// Input other than files.
struct InputChanges {
  // Objects read from a running cluster; treated like a file of them.
  std::vector<api::Object> live;
  std::vector<NodeTemplate> nodes;
  WhatIf what_if;
  size_t most_pods_made = kMaxPodsMade;  // by all workloads together
  size_t max_bytes = kMaxInputBytes;     // of all files, unpacked
  bool strict = false;                   // an object that a later input gives again is a problem
  bool replace = false;                  // pods of older templates are replaced at once, whatever the update strategy
  bool keep_custom = false;              // custom resources are kept among the objects, as CustomObjects
  bool is_part = false;                  // what it refers to may be elsewhere, so that missing objects are not reported
  Validation validation = Validation::kByOrigin;
  std::string name_space = "default";  // for objects that name none
  ReadProgress progress{};
};

// All problems of all files in one error, one per line. An object that a later file gives again is laid over the
// earlier one (overlay.h).
Result<ClusterInput> ReadCluster(const std::vector<std::string>& files, InputChanges changes);
Result<ClusterInput> ReadCluster(const std::vector<std::string>& files, std::vector<api::Object> live = {});

// The same for texts that are already in memory, on that many threads.
Result<ClusterInput> ReadClusterTexts(std::vector<InputFile> files, InputChanges changes, size_t threads);

// The pods that the DaemonSets among `objects` would have on nodes that are not among them.
std::vector<api::Object> DaemonPodsOn(const std::vector<api::Node>& nodes, const std::vector<api::Object>& objects);

}  // namespace berth::input
