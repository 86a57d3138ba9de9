// A running cluster as input, and its results on the command line.
#include "cluster_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>

#include "base/testing/temporary_folder.h"
#include "commands.h"
#include "http/testing/http_server.h"

namespace berth::cmd {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(FindKubeconfigs, LooksWhereKubectlDoes) {
  const base::testing::TemporaryFolder folder;
  const std::string home = folder.Write("home/.kube/config", "");
  const std::string home_folder = folder.path() + "/home";
  const std::string one = folder.Write("one", "");
  const std::string two = folder.Write("two", "");
  const struct {
    std::string flag;
    std::map<std::string, std::string> environment;
    std::optional<std::vector<std::string>> found;  // unset: the service account
    std::string error{};
  } cases[] = {
      {"given", {{"HOME", home_folder}, {"KUBECONFIG", one}}, {{"given"}}},
      {"", {{"HOME", home_folder}, {"KUBECONFIG", one}}, {{one}}},
      {"", {{"HOME", home_folder}, {"KUBECONFIG", "/missing::" + two}}, {{two}}},
      {"", {{"HOME", home_folder}}, {{home}}},
      {"", {{"HOME", "/missing"}, {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}}, std::vector<std::string>{}},
      {"", {{"KUBECONFIG", two + ":/missing:" + one}}, {{two, one}}},
      {"", {{"HOME", home_folder}, {"KUBECONFIG", "/missing"}}, {}, "no cluster to read: "},
      {"", {{"HOME", "/missing"}}, {}, "no cluster to read: "},
  };
  for (const auto& [flag, environment, found, error] : cases) {
    http::Surroundings surroundings;
    surroundings.environment = [&variables = environment](const char* name) {
      const auto variable = variables.find(name);
      return variable == variables.end() ? std::string() : variable->second;
    };
    const auto file = FindKubeconfigs({.kubeconfig = flag, .context = ""}, surroundings);
    EXPECT_EQ(file ? std::optional(*file) : std::nullopt, found) << error;
    EXPECT_THAT(file ? "" : file.error().message, StartsWith(error));
  }
}

struct Ran {
  int status;
  std::string out, err;
};

class RunningClusterTest : public ::testing::Test {
 protected:
  using Verb = int (*)(const framework::Registry&, const std::vector<std::string>&);

  static Ran Run(Verb verb, const std::vector<std::string>& arguments) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int status = verb(framework::Registry(), arguments);
    std::fflush(stdout);
    return {status, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
  }

  // One node with a pod on it, a pod that fits beside it and one that does not; every other kind is unknown.
  void Serve(const http::ServedRequest& request, http::ServedReply& reply) {
    {
      const std::lock_guard lock(mutex_);
      methods_.push_back(request.method);
    }
    const std::vector<std::pair<std::string, std::string>> json = {{"Content-Type", "application/json"}};
    if (request.path.starts_with("/api/v1/nodes")) {
      return reply.Send(200, R"({"apiVersion":"v1","kind":"NodeList","items":[
        {"metadata":{"name":"n1","uid":"1","managedFields":[{"manager":"kubelet"}]},
         "status":{"allocatable":{"cpu":"2","pods":"110"}}}]})",
                        json);
    }
    if (request.path.starts_with("/api/v1/pods")) {
      return reply.Send(200, R"({"apiVersion":"v1","kind":"PodList","items":[
        {"metadata":{"name":"old","namespace":"a","uid":"2"},"status":{"phase":"Running"},
         "spec":{"nodeName":"n1","priority":0,"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}},
                 "env":[{"name":"PASSWORD","value":"hunter2"}]}]}},
        {"metadata":{"name":"fits","namespace":"a","uid":"3"},
         "spec":{"priority":0,"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}},
        {"metadata":{"name":"big","namespace":"a","uid":"4"},
         "spec":{"priority":0,"containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]}}]})",
                        json);
    }
    reply.Send(404, "404 page not found", {{"Content-Type", "text/plain"}});
  }

  std::string Kubeconfig(const std::string& server) const {
    return folder_.Write("kubeconfig",
                         fmt::format("current-context: a\ncontexts:\n- {{name: a, context: {{cluster: a}}}}\n"
                                     "- {{name: b, context: {{cluster: b}}}}\nclusters:\n"
                                     "- {{name: a, cluster: {{server: \"{}\"}}}}\n"
                                     "- {{name: b, cluster: {{server: \"http://127.0.0.1:1\"}}}}\n",
                                     server));
  }

  const base::testing::TemporaryFolder folder_;
  std::mutex mutex_;
  std::vector<std::string> methods_;  // guarded by mutex_
};

TEST_F(RunningClusterTest, ASnapshotSimulatesAsTheClusterItself) {
  http::HttpServer server([this](const auto& request, auto& reply) { Serve(request, reply); });
  const std::string kubeconfig = Kubeconfig(server.url());
  const Ran live = Run(Simulate, {"--from-cluster", "--kubeconfig", kubeconfig});
  EXPECT_EQ(live.status, kUnplaced) << live.err;
  EXPECT_THAT(live.out, AllOf(HasSubstr("a/fits  n1    Scheduled"), HasSubstr("a/big   -     Pending"),
                              HasSubstr("1 pod was bound before")));
  EXPECT_THAT(live.err, HasSubstr("warning: cannot read services: "));

  for (const char* name : {"/c.yaml", "/c.json", "/c.json.gz"}) {
    const std::string file = folder_.path() + name;
    const Ran taken = Run(Snapshot, {"--kubeconfig", kubeconfig, "-o", file});
    EXPECT_EQ(taken.status, kOk) << taken.err;
    EXPECT_THAT(taken.err, HasSubstr(fmt::format("4 objects of 2 kinds from {} are in {}\n", server.url(), file)));
    const Ran again = Run(Simulate, {"-f", file});
    EXPECT_EQ(again.status, kUnplaced) << again.err;
    EXPECT_EQ(again.out, live.out) << name;
    EXPECT_THAT(again.err, IsEmpty()) << name;
  }
  EXPECT_THAT(methods_, AllOf(Not(IsEmpty()), Each("GET")));
}

TEST_F(RunningClusterTest, StandardOutputHasTheObjectsAndNothingElse) {
  http::HttpServer server([this](const auto& request, auto& reply) { Serve(request, reply); });
  const Ran taken = Run(Snapshot, {"--kubeconfig", Kubeconfig(server.url())});
  EXPECT_EQ(taken.status, kOk) << taken.err;
  EXPECT_THAT(taken.out, StartsWith("apiVersion: v1\nkind: Node\n"));
  EXPECT_THAT(taken.out, AllOf(Not(HasSubstr("managedFields")), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(taken.err, Not(HasSubstr("objects of")));
}

std::string NodeText(const std::string& name) {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\nstatus: {allocatable: {cpu: 4, pods: 9}}\n";
}

TEST_F(RunningClusterTest, FilesAreAddedToTheCluster) {
  http::HttpServer server([this](const auto& request, auto& reply) { Serve(request, reply); });
  const std::string kubeconfig = Kubeconfig(server.url());
  const std::string node = folder_.Write("node.yaml", NodeText("n2"));
  const Ran more = Run(Simulate, {"--from-cluster", "--kubeconfig", kubeconfig, "-f", node});
  EXPECT_EQ(more.status, kOk) << more.err;
  EXPECT_THAT(more.out, HasSubstr("a/big   n2    Scheduled"));

  const std::string same = folder_.Write("same.yaml", NodeText("n1"));
  const Ran over = Run(Simulate, {"--from-cluster", "--kubeconfig", kubeconfig, "-f", same});
  EXPECT_THAT(over.err, HasSubstr("same.yaml:1:1: Node n1 replaces the one at the cluster\n"));
  const Ran twice = Run(Simulate, {"--from-cluster", "--kubeconfig", kubeconfig, "-f", same, "--strict"});
  EXPECT_EQ(twice.status, kBadInput);
  EXPECT_THAT(twice.err, HasSubstr("same.yaml:3:18: Node n1: is already given at the cluster\n"));
}

TEST_F(RunningClusterTest, SaysWhatIsWrongAndEndsSoon) {
  http::HttpServer forbidding([](const auto&, auto& reply) {
    reply.Send(403,
               R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"pods is forbidden","code":403})",
               {{"Content-Type", "application/json"}});
  });
  const std::string kubeconfig = Kubeconfig(forbidding.url());
  const std::string file = folder_.path() + "/never.yaml";
  const struct {
    std::vector<std::string> arguments;
    std::string error;
  } cases[] = {
      {{"--kubeconfig", folder_.path() + "/missing"}, "/missing: no such file or directory"},
      {{"--kubeconfig", kubeconfig, "--context", "c"}, "context was not found for specified context: c"},
      {{"--kubeconfig", kubeconfig, "--context", "b"}, "http://127.0.0.1:1: cannot read pods: "},
      {{"--kubeconfig", kubeconfig}, "cannot read pods: pods is forbidden"},
      {{"--kubeconfig", folder_.Write("empty", "{}")}, "names no server"},
      {{"extra"}, "unexpected argument \"extra\""},
      {{"--kubeconfig"}, "--kubeconfig"},
  };
  const auto started = std::chrono::steady_clock::now();
  for (const auto& [arguments, error] : cases) {
    std::vector<std::string> all = {"-o", file};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran taken = Run(Snapshot, all);
    EXPECT_EQ(taken.status, kBadInput) << error;
    EXPECT_THAT(taken.err, AllOf(StartsWith("berth snapshot: "), HasSubstr(error)));
    EXPECT_FALSE(std::filesystem::exists(file)) << error;

    all = {"--from-cluster"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran simulated = Run(Simulate, all);
    EXPECT_EQ(simulated.status, kBadInput) << error;
    EXPECT_THAT(simulated.err, AllOf(StartsWith("berth simulate: "), HasSubstr(error)));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20));
}

TEST_F(RunningClusterTest, AFileThatCannotBeWrittenIsAnError) {
  http::HttpServer server([this](const auto& request, auto& reply) { Serve(request, reply); });
  const Ran taken = Run(Snapshot, {"--kubeconfig", Kubeconfig(server.url()), "-o", folder_.path() + "/no/such/folder"});
  EXPECT_EQ(taken.status, kBadInput);
  EXPECT_THAT(taken.err, HasSubstr("berth snapshot: cannot write to "));
}

TEST_F(RunningClusterTest, WhichClusterIsOnlyAskedWhenOneIsRead) {
  const Ran simulated = Run(Simulate, {"-f", "x.yaml", "--context", "a"});
  EXPECT_EQ(simulated.status, kBadInput);
  EXPECT_THAT(simulated.err, HasSubstr("they need --from-cluster"));
}

}  // namespace
}  // namespace berth::cmd
