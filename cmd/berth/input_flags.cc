#include "input_flags.h"

#include <fmt/format.h>

#include <cstdio>

#include "api/label_syntax.h"
#include "api/quantity.h"
#include "base/printable.h"
#include "terminal.h"

namespace berth::cmd {

void InputFlags::AddTo(FlagSet& flags) {
  flags.Add(&files, "filename", 'f', "FILE",
            "objects to read: a file, a directory, - for standard input; repeat for several");
  flags.Add(&from_cluster, "from-cluster", 0, "read a running cluster, and the files if any are given");
  cluster.AddTo(flags);
  flags.Add(&nodes, "nodes", 0, "count=N,cpu=N,memory=N,…",
            "add nodes that are only described, for instance count=100,cpu=32,memory=128Gi,pods=110,zones=3,"
            "name=worker,label.disk=ssd,taint.gpu=true:NoSchedule,nvidia.com/gpu=8; devices are described by "
            "devices=gpu.example.com:8,device.memory=80Gi; repeatable");
  flags.Add(&replicas, "replicas", 0, "[NS/]NAME=N", "what if the workload had N pods; repeatable");
  flags.Add(&without_nodes, "without-node", 0, "NODE",
            "what if a node were gone, and its pods scheduled again; repeatable");
  flags.Add(&cordons, "cordon", 0, "NODE", "what if a node took no new pods; repeatable");
  flags.Add(&drains, "drain", 0, "NODE", "what if a node were drained; repeatable");
  flags.Add(&name_space, "namespace", 'n', "NAME",
            "namespace of objects, and of pods on the command line, that name none");
  flags.Add(&replace, "replace", 0,
            "replace the pods of a changed template at once, rather than by a rollout of the workload");
  flags.Add(&strict, "strict", 0, "reject an object that is repeated, rather than apply the later one");
  flags.AddChoice(
      &validate, "validate", 0, {"strict", "warn", "ignore"},
      "how to treat unknown fields (default: errors in what a person wrote, warnings in what a server printed)");
  flags.Add(&max_input, "max-input", 0, "SIZE", "the most to read, uncompressed (default 2Gi)");
}

Result<void> InputFlags::Check() const {
  if (files.empty() && !from_cluster && nodes.empty()) {
    return Error::InvalidArgument("no input: give at least one file with -f, or --from-cluster");
  }
  if (cluster.any() && !from_cluster) {
    return Error::InvalidArgument("--kubeconfig and --context say which cluster to read; they need --from-cluster");
  }
  if (const Result<input::InputChanges> changes = Changes(); !changes) return changes.error();
  return {};
}

std::string InputFlags::WhatIfText() const {
  std::string text;
  const auto add = [&](std::string_view what, const std::vector<std::string>& values) {
    for (const std::string& value : values) text += fmt::format("{}{} {}", text.empty() ? " " : ", ", what, value);
  };
  add("plus nodes", nodes);
  add("with replicas", replicas);
  add("without node", without_nodes);
  add("cordoning", cordons);
  add("draining", drains);
  return text;
}

Result<input::InputChanges> InputFlags::Changes() const {
  input::InputChanges changes;
  for (const std::string& text : nodes) {
    Result<input::NodeTemplate> parsed = input::ParseNodeTemplate(text);
    if (!parsed) return Error::InvalidArgument(fmt::format("--nodes \"{}\": {}", text, parsed.error().message));
    changes.nodes.push_back(std::move(*parsed));
  }
  for (const std::string& text : replicas) {
    Result<input::ReplicaChange> parsed = input::ParseReplicaChange(text);
    if (!parsed) return Error::InvalidArgument("--replicas: " + parsed.error().message);
    changes.what_if.replicas.push_back(std::move(*parsed));
  }
  if (!max_input.empty()) {
    const Result<api::Quantity> size = api::Quantity::Parse(max_input);
    if (!size || size->Sign() <= 0) {
      return Error::InvalidArgument(
          fmt::format("--max-input: expected a size such as 500Mi, found \"{}\"", base::Clipped(max_input)));
    }
    changes.max_bytes = static_cast<size_t>(size->Value());
  }
  if (!name_space.empty()) {
    if (!api::DnsLabelProblems(name_space).empty()) {
      return Error::InvalidArgument(fmt::format("-n: \"{}\" cannot be the name of a namespace", name_space));
    }
    changes.name_space = name_space;
  }
  if (validate == "strict") changes.validation = input::Validation::kStrict;
  if (validate == "warn") changes.validation = input::Validation::kWarn;
  if (validate == "ignore") changes.validation = input::Validation::kIgnore;
  changes.strict = strict;
  changes.replace = replace;
  changes.what_if.without_nodes = without_nodes;
  changes.what_if.cordons = cordons;
  changes.what_if.drains = drains;
  return changes;
}

Result<input::ClusterInput> InputFlags::Read(bool keep_custom) const {
  std::vector<api::Object> live;
  if (from_cluster) {
    Result<RunningCluster> found = ReadRunningCluster(cluster);
    if (!found) return found.error();
    PrintWarnings(found->snapshot.warnings);
    live = std::move(found->snapshot.objects);
  }
  Result<input::InputChanges> changes = Changes();
  if (!changes) return changes.error();
  changes->live = std::move(live);
  changes->keep_custom = keep_custom;
  const base::SystemClock clock;
  ProgressLine progress(stderr, IsTerminal(stderr), clock, "MB", /*calls_per_look=*/1);
  changes->progress = [&](size_t bytes, size_t total) { progress.Update(bytes >> 20, total >> 20); };
  Result<input::ClusterInput> input = input::ReadCluster(files, std::move(*changes));
  progress.Erase();
  if (!input) return Error{input.error().code, "the input has problems:\n" + input.error().message};
  PrintNotes(input->notes);
  PrintWarnings(input->warnings);
  return input;
}

void PrintNotes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", base::Printable(note));
}

void PrintWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}\n", base::Printable(warning));
}

}  // namespace berth::cmd
