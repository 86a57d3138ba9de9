// berth snapshot: writes what scheduling reads from a running cluster to a file.
#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "cluster_source.h"
#include "commands.h"
#include "flags.h"
#include "input/object_file.h"

namespace berth::cmd {

namespace {

constexpr char kSnapshotUsage[] =
    R"(Write the objects of a running cluster that scheduling reads to a file for `berth simulate -f`.

Usage:
  berth snapshot [-o FILE] [flags]

Only reads: the API server gets GET requests and nothing else. Nodes and pods must be readable; a kind that is forbidden
or not served is left out with a warning. Of each object only the fields that scheduling reads are kept: no environment
variables or commands of containers, no managedFields, and no Secret or ConfigMap is ever requested. Terminated pods
are left out. Each kind is read at a single resourceVersion; objects are sorted by kind, namespace and name.

Exit status: 0 written, 1 bad usage, a cluster that cannot be read, or a file that cannot be written.
)";

constexpr char kSnapshotExamples[] = R"(  berth snapshot -o cluster.yaml.gz && berth simulate -f cluster.yaml.gz
  berth snapshot -o cluster.json --kubeconfig admin.conf --context production
  berth snapshot | berth simulate -f - -f new-pods.yaml
)";

void PrintSummary(const RunningCluster& cluster, const std::string& file) {
  std::set<api::Kind> kinds;
  for (const api::Object& object : cluster.snapshot.objects) kinds.insert(object.kind());
  fmt::print(stderr, "{} objects of {} kinds from {} are in {}\n", cluster.snapshot.objects.size(), kinds.size(),
             cluster.server, file);
}

}  // namespace

int Snapshot(const framework::Registry& /*own_plugins*/, const std::vector<std::string>& arguments) {
  std::string file = "-";
  ClusterFlags cluster_flags;
  FlagSet flags("berth snapshot", kSnapshotUsage, kSnapshotExamples);
  flags.Add(&file, "output", 'o', "FILE",
            "file to write: JSON if it ends in .json, YAML otherwise, compressed if .gz follows; - for standard output "
            "(default -)");
  cluster_flags.AddTo(flags);
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return BadInput("snapshot", rest.error().message + "\n" + flags.Hint());
  if (!rest->empty())
    return BadInput("snapshot", fmt::format("unexpected argument \"{}\"; the file is given with -o", rest->front()));
  if (file.empty()) return BadInput("snapshot", "--output: expected a file, or - for standard output");

  const Result<RunningCluster> cluster = ReadRunningCluster(cluster_flags);
  if (!cluster) return BadInput("snapshot", cluster.error().message);
  for (const std::string& warning : cluster->snapshot.warnings) fmt::print(stderr, "warning: {}\n", warning);
  if (const Result<void> written = input::WriteObjectFile(cluster->snapshot.objects, file); !written) {
    return BadInput("snapshot", written.error().message);
  }
  if (file != "-") PrintSummary(*cluster, file);
  return kOk;
}

}  // namespace berth::cmd
