// Reading a cluster from files: YAML (many documents), JSON, kubectl's Lists, plain or gzip, directories of them, "-"
// for standard input. Files are written by hand: decoding is strict, and every problem is reported with its file,
// line and field. What the API server and the controllers would have done is done, so that a hand-written object is
// what it would be in a cluster.
//
// In this order: files are decoded and checked; nodes that are only described are made; what-ifs are applied; workloads
// are expanded into the pods they lack; pods that no API server has seen go through admission.
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
  // Things worth a sentence on standard error, which did not stop the reading.
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  // the same, of what is as it should be
  // Pods of older templates that give way to newer ones; the newer ones are not among the objects.
  std::vector<Rollout> rollouts;
  size_t passed_over = 0;  // objects of kinds that scheduling does not read
  // Pods that a ResourceQuota keeps from being created; they are not among the objects.
  std::vector<RefusedPod> refused;
  // Kinds that objects refer to and of which the input has none: it was not dumped, so nothing is known about them.
  std::set<api::Kind> absent;
};

// What comes besides files.
struct InputChanges {
  // Objects that were read from a running cluster; they are taken as a file of them would be.
  std::vector<api::Object> live;
  std::vector<NodeTemplate> nodes;
  WhatIf what_if;
  size_t most_pods_made = kMaxPodsMade;  // by all workloads together
  size_t max_bytes = kMaxInputBytes;     // of all files, unpacked
  bool strict = false;                   // an object that a later input gives again is a problem
  bool replace = false;                  // pods of older templates are replaced at once, whatever the strategy
  bool keep_custom = false;              // custom resources are among the objects, as CustomObjects
  bool is_part = false;                  // what it refers to may stand elsewhere, so that nothing of that is missed
  Validation validation = Validation::kByOrigin;
  std::string name_space = "default";  // of objects that name none
  ReadProgress progress{};
};

// All problems of all files in one error, a line each. What a later file gives again is laid over the earlier
// (overlay.h).
Result<ClusterInput> ReadCluster(const std::vector<std::string>& files, InputChanges changes);
Result<ClusterInput> ReadCluster(const std::vector<std::string>& files, std::vector<api::Object> live = {});

// The same of texts that are in memory already, on that many threads.
Result<ClusterInput> ReadClusterTexts(std::vector<InputFile> files, InputChanges changes, size_t threads);

// The pods that the DaemonSets among `objects` would have on nodes that are not among them.
std::vector<api::Object> DaemonPodsOn(const std::vector<api::Node>& nodes, const std::vector<api::Object>& objects);

}  // namespace berth::input
