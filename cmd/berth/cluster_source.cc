#include "cluster_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/loop.h"
#include "http/api_transport.h"

namespace berth::cmd {

namespace {

// A person is waiting at a terminal.
constexpr base::Duration kConnectTimeout = std::chrono::seconds(10);

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// The existing files of a list like PATH; kubectl skips the others.
std::vector<std::string> ExistingFiles(std::string_view list) {
  std::vector<std::string> files;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    if (std::string file(list.substr(0, end)); !file.empty() && Exists(file)) files.push_back(std::move(file));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return files;
}

// Reported on the transport's threads.
class Warnings {
 public:
  void Add(std::string text) {
    const std::lock_guard lock(mutex_);
    texts_.push_back(std::move(text));
  }
  std::vector<std::string> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(texts_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;  // guarded by mutex_
};

}  // namespace

void ClusterFlags::AddTo(FlagSet& flags) {
  flags.Add(&kubeconfig, "kubeconfig", 0, "FILE",
            "kubeconfig of the cluster (default $KUBECONFIG, then ~/.kube/config, then the pod's service account)");
  flags.Add(&context, "context", 0, "NAME", "a context of the kubeconfig (default its current one)");
}

Result<std::vector<std::string>> FindKubeconfigs(const ClusterFlags& flags, const http::Surroundings& surroundings) {
  if (!flags.kubeconfig.empty()) return std::vector{flags.kubeconfig};
  const std::string list = surroundings.environment("KUBECONFIG");
  const std::string home_file = surroundings.environment("HOME") + "/.kube/config";
  const std::vector<std::string> files = !list.empty()       ? ExistingFiles(list)
                                         : Exists(home_file) ? std::vector{home_file}
                                                             : std::vector<std::string>{};
  if (!files.empty()) return files;
  if (!surroundings.environment("KUBERNETES_SERVICE_HOST").empty()) return files;
  return Error::NotFound(
      fmt::format("no cluster to read: there is no --kubeconfig, {}, and this is no pod of a cluster",
                  list.empty() ? fmt::format("$KUBECONFIG is not set, {} does not exist", home_file)
                               : fmt::format("nothing that $KUBECONFIG names exists ({})", list)));
}

Result<http::RestConfig> ConnectionTo(const ClusterFlags& flags, const base::Clock& clock,
                                      http::CredentialWarning warn) {
  http::Surroundings surroundings = http::RealSurroundings();
  surroundings.warn = std::move(warn);
  surroundings.context = flags.context;
  Result<std::vector<std::string>> kubeconfigs = FindKubeconfigs(flags, surroundings);
  if (!kubeconfigs) return kubeconfigs.error();
  if (kubeconfigs->empty() && !flags.context.empty()) {
    return Error::InvalidArgument("--context: there is no kubeconfig to find it in");
  }
  surroundings.kubeconfigs = *std::move(kubeconfigs);
  return http::BuildRestConfig({}, "", http::UserAgent("berth", BERTH_VERSION), clock, surroundings);
}

Result<RunningCluster> ReadRunningCluster(const ClusterFlags& flags) {
  Warnings warnings;
  const base::SystemClock clock;
  Result<http::RestConfig> rest =
      ConnectionTo(flags, clock, [&warnings](const Error& error) { warnings.Add(error.message); });
  if (!rest) return rest.error();

  RunningCluster cluster{.server = rest->server, .snapshot = {}};
  base::ThreadLoop loop;
  http::ApiTransport transport(std::move(*rest), {.connect_timeout = kConnectTimeout});
  client::ApiClient api(transport, loop, clock, {});
  Result<client::Snapshot> snapshot =
      client::Await<client::Snapshot>([&](auto done) { client::TakeSnapshot(api, loop, std::move(done)); });
  if (!snapshot) return Error{snapshot.error().code, fmt::format("{}: {}", cluster.server, snapshot.error().message)};
  cluster.snapshot = std::move(*snapshot);
  for (std::string& warning : warnings.Take()) cluster.snapshot.warnings.push_back(std::move(warning));
  return cluster;
}

}  // namespace berth::cmd
