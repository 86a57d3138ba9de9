#include "actual_use.h"

#include <berth/testing.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loopback_server.h"

namespace example {
namespace {

using berth::framework::NodeInfo;
using berth::testing::ArgsOf;
using berth::testing::FakeHandle;
using berth::testing::MakeNode;
using berth::testing::MakePlugin;
using berth::testing::MakePod;
using berth::testing::NodeBuilder;
using berth::testing::ScoreAll;
using ::testing::HasSubstr;

// Of four cores and 8Gi.
NodeBuilder Node(std::string_view name) { return MakeNode(name).Capacity("cpu", "4").Capacity("memory", "8Gi"); }

class ActualUseTest : public ::testing::Test {
 protected:
  int64_t ScoreOf(const NodeInfo& node, const berth::PluginArgs& args = {}) {
    const auto plugin = MakePlugin<ActualUse>(handle, args);
    const NodeInfo* nodes[] = {&node};
    return ScoreAll(*plugin, *MakePod("p").Info(), nodes).at(node.name()).second;
  }

  FakeHandle handle;
};

TEST_F(ActualUseTest, ScoresByTheAnnotation) {
  const std::vector<berth::framework::PodInfoPtr> busy = {MakePod("asks").Request("cpu", "4").Info()};
  const auto with = [](std::string_view text) { return Node("n").Annotation("example.com/usage", text); };
  EXPECT_EQ(ScoreOf(with(R"({"cpu": "1", "memory": "2Gi"})").Info(busy)), 75);
  EXPECT_EQ(ScoreOf(with(R"({"cpu": 0, "memory": 0})").Info(busy)), 100);
  EXPECT_EQ(ScoreOf(with(R"({"cpu": "400", "memory": "8Gi"})").Info()), 0) << "more than there is";
}

TEST_F(ActualUseTest, FallsBackToWhatPodsRequest) {
  const std::vector<berth::framework::PodInfoPtr> pods = {
      MakePod("asks").Request("cpu", "2").Request("memory", "2Gi").Info()};
  EXPECT_EQ(ScoreOf(Node("n").Info(pods)), 62);
  for (const char* broken : {"", "half", "[]", R"({"cpu": "lots"})"}) {
    EXPECT_EQ(ScoreOf(Node("n").Annotation("example.com/usage", broken).Info(pods)), 62) << broken;
  }
}

TEST_F(ActualUseTest, ANodeOfWhichNothingIsKnownIsInTheMiddle) { EXPECT_EQ(ScoreOf(MakeNode("n").Info()), 50); }

TEST_F(ActualUseTest, TheEndpointGoesBeforeTheAnnotationWhileItAnswers) {
  LoopbackServer server(R"({"kind": "NodeMetricsList", "items": [
    {"metadata": {"name": "n"}, "usage": {"cpu": "2", "memory": "4Gi"}}]})");
  const berth::PluginArgs args = ArgsOf(R"({"endpoint": ")" + server.url() + R"(", "timeout": "30s"})");
  const NodeInfo known = Node("n").Annotation("example.com/usage", R"({"cpu": "1", "memory": "2Gi"})").Info();
  const NodeInfo unknown = Node("m").Annotation("example.com/usage", R"({"cpu": "1", "memory": "2Gi"})").Info();
  EXPECT_EQ(ScoreOf(known, args), 50);
  EXPECT_EQ(ScoreOf(unknown, args), 75);
  server.Stop();
  EXPECT_EQ(ScoreOf(known, args), 75);
}

TEST_F(ActualUseTest, RefusesArgumentsItDoesNotUnderstand) {
  for (const auto& [json, problem] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"refresh": "often"})", "args.refresh: expected a duration such as 15s, found \"often\""},
           {R"({"maxAge": "0s"})", "args.maxAge: expected a duration"},
           {R"({"endpoints": []})", "args.endpoints: unknown field"},
       }) {
    const berth::NewPlugin made = ActualUse::Create(ArgsOf(json), handle);
    ASSERT_FALSE(made) << json;
    EXPECT_THAT(made.error().message, HasSubstr(problem));
  }
}

}  // namespace
}  // namespace example
