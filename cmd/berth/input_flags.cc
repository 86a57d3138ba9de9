#include "input_flags.h"

#include <fmt/format.h>

#include <cstdio>

#include "terminal.h"

namespace berth::cmd {

void InputFlags::AddTo(FlagSet& flags) {
  flags.Add(&files, "filename", 'f', "FILE",
            "objects to read: a file, a directory, - for standard input; repeat for several");
  flags.Add(&from_cluster, "from-cluster", 0, "read a running cluster, besides the files if there are any");
  cluster.AddTo(flags);
  flags.Add(&nodes, "nodes", 0, "count=N,cpu=N,memory=N,…",
            "add nodes that are only described, for instance count=100,cpu=32,memory=128Gi,pods=110,zones=3,"
            "name=worker,label.disk=ssd,taint.gpu=true:NoSchedule,nvidia.com/gpu=8; repeatable");
  flags.Add(&replicas, "replicas", 0, "[NS/]NAME=N", "what if a workload had so many pods; repeatable");
  flags.Add(&without_nodes, "without-node", 0, "NODE", "what if a node were gone, and its pods elsewhere; repeatable");
  flags.Add(&cordons, "cordon", 0, "NODE", "what if a node took no new pods; repeatable");
  flags.Add(&drains, "drain", 0, "NODE", "what if a node were drained; repeatable");
}

Result<void> InputFlags::Check() const {
  if (files.empty() && !from_cluster) {
    return Error::InvalidArgument("no input: give at least one file with -f, or --from-cluster");
  }
  if (cluster.any() && !from_cluster) {
    return Error::InvalidArgument("--kubeconfig and --context say which cluster to read; they need --from-cluster");
  }
  if (const Result<input::InputChanges> changes = Changes(); !changes) return changes.error();
  return {};
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
  changes.what_if.without_nodes = without_nodes;
  changes.what_if.cordons = cordons;
  changes.what_if.drains = drains;
  return changes;
}

Result<input::ClusterInput> InputFlags::Read() const {
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
  const base::SystemClock clock;
  ProgressLine progress(stderr, IsTerminal(stderr), clock, "MB", /*calls_per_look=*/1);
  changes->progress = [&](size_t bytes, size_t total) { progress.Update(bytes >> 20, total >> 20); };
  Result<input::ClusterInput> input = input::ReadCluster(files, std::move(*changes));
  progress.Erase();
  if (!input) return Error{input.error().code, "the input has problems:\n" + input.error().message};
  PrintWarnings(input->warnings);
  return input;
}

void PrintWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}\n", warning);
}

}  // namespace berth::cmd
