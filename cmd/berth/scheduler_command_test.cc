// A program with its own plugin, as its main() would make it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "berth/args.h"
#include "berth/command.h"
#include "commands.h"

namespace berth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct KeepOffArgs {
  std::string node;
};
const codec::Message& Describe(const KeepOffArgs*) {
  static const codec::Message message =
      codec::MessageOf<KeepOffArgs>("KeepOffArgs", {codec::Field("node", 0, &KeepOffArgs::node)});
  return message;
}

// Accepts every node but one.
class KeepOff final : public framework::Plugin, public framework::FilterPlugin {
 public:
  static Result<std::unique_ptr<framework::Plugin>> Create(const PluginArgs& given, framework::Handle&) {
    Result<KeepOffArgs> args = ReadArgs<KeepOffArgs>(given);
    if (!args) return args.error();
    if (args->node.empty()) return Error::InvalidArgument("args.node: expected the name of a node");
    return std::unique_ptr<framework::Plugin>(new KeepOff(std::move(args->node)));
  }
  std::string_view name() const override { return "KeepOff"; }
  framework::Status Filter(const framework::CycleState&, const framework::PodInfo&,
                           const framework::NodeInfo& node) const override {
    return node.name() == node_ ? framework::Status::Unschedulable("node(s) were kept off") : framework::Status();
  }

 private:
  explicit KeepOff(std::string node) : node_(std::move(node)) {}
  const std::string node_;
};

struct Ran {
  int status;
  std::string out, err;
};

class Program : public ::testing::Test {
 protected:
  Program() { std::filesystem::create_directories(folder_); }
  ~Program() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path) << text;
    return path;
  }

  std::string Configuration(const std::string& args) const {
    return Write("scheduler.yaml",
                 "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
                 "- plugins: {multiPoint: {enabled: [{name: KeepOff}]}}\n"
                 "  pluginConfig: [{name: KeepOff, args: " +
                     args + "}]\n");
  }

  static Ran Run(SchedulerCommand command, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "program");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int status = command.Run(static_cast<int>(argv.size()), argv.data());
    std::fflush(stdout);
    return {status, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
  }

  SchedulerCommand command = SchedulerCommand().WithPlugin("KeepOff", KeepOff::Create);

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("berth_program_" + std::to_string(::getpid()));
};

TEST_F(Program, SimulatesWithItsPlugin) {
  const std::string cluster =
      Write("cluster.yaml",
            "kind: Node\napiVersion: v1\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 4, pods: 9}}\n---\n"
            "{kind: Pod, apiVersion: v1, metadata: {name: p}, spec: {containers: [{name: c}]}}\n");
  EXPECT_EQ(Run(command, {"simulate", "-f", cluster}).status, cmd::kOk) << "off until a configuration turns it on";
  const Ran kept_off = Run(command, {"simulate", "-f", cluster, "--config", Configuration("{node: a}")});
  EXPECT_EQ(kept_off.status, cmd::kUnplaced);
  EXPECT_THAT(kept_off.out, HasSubstr("0/1 nodes are available: 1 node(s) were kept off."));
}

TEST_F(Program, KnowsItsPluginInConfigurations) {
  const Ran table = Run(command, {"config", "plugins", Configuration("{node: a}")});
  EXPECT_EQ(table.status, cmd::kOk) << table.err;
  EXPECT_THAT(table.out, HasSubstr("KeepOff                               -  off      on    filter\n"));
  EXPECT_THAT(Run(command, {"config", "plugins"}).out,
              HasSubstr("KeepOff                               -  off      off   "
                        "(as configured it cannot be made: args.node: "
                        "expected the name of a node)\n"));
  EXPECT_THAT(Run(command, {"config", "show", Configuration("{node: a}")}).out,
              HasSubstr("node: a\n    name: KeepOff"));

  const std::string bad = Configuration("{nodes: [a]}");
  const Ran refused = Run(command, {"config", "validate", bad});
  EXPECT_EQ(refused.status, cmd::kBadInput);
  EXPECT_THAT(refused.err, AllOf(HasSubstr(bad + ":4:"),
                                 HasSubstr("initializing profiles: creating profile for scheduler name "
                                           "default-scheduler: initializing plugin \"KeepOff\": args.nodes: ")));
  EXPECT_THAT(Run(SchedulerCommand(), {"config", "validate", Configuration("{node: a}")}).err,
              HasSubstr("\"KeepOff\" does not exist"));
}

TEST_F(Program, TheSchedulerTakesAPolicyOrAProviderInPlaceOfProfiles) {
  const std::string policy = Write("policy.json", R"({"kind": "Policy", "apiVersion": "v1",
      "predicates": [{"name": "PodFitsResources"}], "priorities": [{"name": "LeastRequestedPriority", "weight": 7}]})");
  const std::string written = Write("written.yaml", "");
  const Ran by_policy =
      Run(SchedulerCommand(), {"scheduler", "--policy-config-file=" + policy, "--write-config-to=" + written});
  EXPECT_EQ(by_policy.status, cmd::kOk) << by_policy.err;
  EXPECT_THAT(by_policy.err, HasSubstr("--policy-config-file is deprecated"));
  std::ifstream file(written);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(text, AllOf(HasSubstr("NodeResourcesFit"), HasSubstr("weight: 7")));

  const Ran by_provider = Run(SchedulerCommand(), {"scheduler", "--algorithm-provider=ClusterAutoscalerProvider",
                                                   "--write-config-to=" + written});
  EXPECT_EQ(by_provider.status, cmd::kOk) << by_provider.err;
  const Ran both = Run(SchedulerCommand(), {"scheduler", "--algorithm-provider=DefaultProvider",
                                            "--policy-config-file=" + policy, "--write-config-to=" + written});
  EXPECT_EQ(both.status, cmd::kBadInput);
  EXPECT_THAT(both.err, HasSubstr("cannot set an algorithm provider and Policy config"));
}

TEST_F(Program, ANameTakenTwiceIsAnErrorThatNamesBoth) {
  SchedulerCommand clash = SchedulerCommand().WithPlugin("NodeName", KeepOff::Create);
  const Ran with_in_tree = Run(clash, {"version"});
  EXPECT_EQ(with_in_tree.status, cmd::kBadInput);
  EXPECT_EQ(with_in_tree.err,
            "berth: a plugin named NodeName already exists: from berth itself and again from this program\n");
  command.WithPlugin("KeepOff", KeepOff::Create);
  EXPECT_EQ(Run(command, {"version"}).err,
            "berth: a plugin named KeepOff already exists: from this program and again from this program\n");
}

TEST_F(Program, ArgumentsAreReadWithDefaultsAndEveryProblem) {
  EXPECT_EQ(ReadArgs<KeepOffArgs>({})->node, "");
  EXPECT_EQ(ReadArgs<KeepOffArgs>(config::RawArgs{R"({"apiVersion": "x/v1", "kind": "K", "node": "n"})"})->node, "n");
  const Result<KeepOffArgs> bad = ReadArgs<KeepOffArgs>(config::RawArgs{R"({"node": 5, "knot": "n"})"});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message,
              AllOf(HasSubstr("args.node: expected a string, found number 5"), HasSubstr("args.knot: ")));
  EXPECT_FALSE(ReadArgs<KeepOffArgs>(config::NodeLabelArgs{}));
}

}  // namespace
}  // namespace berth
