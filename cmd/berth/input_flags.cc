#include "input_flags.h"

#include <fmt/format.h>

#include <cstdio>

namespace berth::cmd {

void InputFlags::AddTo(FlagSet& flags) {
  flags.Add(&files, "filename", 'f', "FILE", "objects to read; repeat for several, - for standard input");
  flags.Add(&from_cluster, "from-cluster", 0, "read a running cluster, besides the files if there are any");
  cluster.AddTo(flags);
}

Result<void> InputFlags::Check() const {
  if (files.empty() && !from_cluster) {
    return Error::InvalidArgument("no input: give at least one file with -f, or --from-cluster");
  }
  if (cluster.any() && !from_cluster) {
    return Error::InvalidArgument("--kubeconfig and --context say which cluster to read; they need --from-cluster");
  }
  return {};
}

Result<sim::ClusterInput> InputFlags::Read() const {
  std::vector<api::Object> live;
  if (from_cluster) {
    Result<LiveCluster> found = ReadLiveCluster(cluster);
    if (!found) return found.error();
    PrintWarnings(found->snapshot.warnings);
    live = std::move(found->snapshot.objects);
  }
  Result<sim::ClusterInput> input = sim::ReadCluster(files, std::move(live));
  if (!input) return Error{input.error().code, "the input has problems:\n" + input.error().message};
  PrintWarnings(input->warnings);
  return input;
}

void PrintWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}\n", warning);
}

}  // namespace berth::cmd
