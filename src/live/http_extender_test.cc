#include "live/http_extender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace berth::live {
namespace {

using berth::testing::FakeHandle;
using berth::testing::MakeNode;
using berth::testing::MakePod;
using framework::NodeInfo;
using framework::PreemptionCandidate;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr char kUrl[] = "http://extender.example:8888/scheduler/";

// Answers by path, at once or on request.
class ScriptedTransport final : public http::Transport {
 public:
  explicit ScriptedTransport(std::vector<http::Request>& requests) : requests_(requests) {}

  http::CallId Start(http::Request request, http::ResponseHandler handler) override {
    requests_.push_back(request);
    pending_.emplace_back(request.path, std::move(handler));
    if (!hold) Answer();
    return requests_.size();
  }
  void Cancel(http::CallId) override { ++cancelled; }

  void Answer() {
    for (auto& [path, handler] : std::exchange(pending_, {})) {
      if (!down.empty()) {
        handler.on_done(Error::Unavailable(down));
        continue;
      }
      handler.on_head({.status = status});
      handler.on_data(answers[path]);
      handler.on_done({});
    }
  }

  std::map<std::string, std::string> answers;  // by path
  int status = 200;
  std::string down;  // why there is no answer at all
  bool hold = false;
  int cancelled = 0;

 private:
  std::vector<http::Request>& requests_;
  std::vector<std::pair<std::string, http::ResponseHandler>> pending_;
};

class HttpExtenderTest : public ::testing::Test {
 protected:
  HttpExtenderTest() {
    config_.url_prefix = kUrl;
    config_.filter_verb = "filter";
    config_.prioritize_verb = "prioritize";
    config_.preempt_verb = "preempt";
    config_.bind_verb = "bind";
    config_.weight = 2;
  }

  HttpExtender Make() {
    auto transport = std::make_unique<ScriptedTransport>(requests_);
    transport_ = transport.get();
    transport_->answers = {
        {"/filter", filter_}, {"/prioritize", prioritize_}, {"/preempt", preempt_}, {"/bind", bind_}};
    return HttpExtender(config_, std::move(transport));
  }
  const http::Request& sent() const { return requests_.back(); }
  static std::vector<std::string> Names(const std::vector<const NodeInfo*>& nodes) {
    std::vector<std::string> names;
    for (const NodeInfo* node : nodes) names.push_back(node->name());
    return names;
  }

  config::Extender config_;
  std::string filter_, prioritize_, preempt_, bind_ = "{}";  // answers
  std::vector<http::Request> requests_;
  ScriptedTransport* transport_ = nullptr;  // of the extender made last
  const framework::PodInfoPtr pod_ = MakePod("web").Uid("u-web").Request("example.com/gpu", "1").Info();
  const NodeInfo n1_ = MakeNode("n1").Label("zone", "a").Info();
  const NodeInfo n2_ = MakeNode("n2").Info();
  const std::vector<const NodeInfo*> nodes_ = {&n1_, &n2_};
};

TEST_F(HttpExtenderTest, SendsPodAndNodes) {
  filter_ = R"({"Nodes":{"metadata":{},"items":[{"metadata":{"name":"n2"},"spec":{}}]},"FailedNodes":{"n1":"no"}})";
  HttpExtender extender = Make();
  const auto verdicts = extender.Filter(*pod_, nodes_);
  ASSERT_TRUE(verdicts.ok()) << verdicts.error().message;
  EXPECT_THAT(Names(verdicts->feasible), ElementsAre("n2"));
  EXPECT_THAT(verdicts->failed, ElementsAre(Pair("n1", "no")));
  EXPECT_THAT(verdicts->failed_and_unresolvable, IsEmpty());
  EXPECT_EQ(sent().method, "POST");
  EXPECT_EQ(sent().path, "/filter");
  EXPECT_THAT(sent().headers, ElementsAre(Pair("Content-Type", "application/json")));
  EXPECT_EQ(sent().timeout, seconds(5)) << "unless the configuration says otherwise";
  EXPECT_EQ(
      sent().body,
      R"({"Pod":{"metadata":{"name":"web","namespace":"default","uid":"u-web"},)"
      R"("spec":{"containers":[{"name":"container-1","resources":{"requests":{"example.com/gpu":"1"}}}],)"
      R"("schedulerName":"default-scheduler"}},)"
      R"("Nodes":{"metadata":{},"items":[{"metadata":{"name":"n1","uid":"n1","labels":{"zone":"a"}},)"
      R"("status":{"capacity":{"pods":"110"},"allocatable":{"pods":"110"}}},{"metadata":{"name":"n2","uid":"n2"},)"
      R"("status":{"capacity":{"pods":"110"},"allocatable":{"pods":"110"}}}]},"NodeNames":null})");
}

TEST_F(HttpExtenderTest, SendsNamesToWhoKnowsTheNodes) {
  config_.node_cache_capable = true;
  config_.http_timeout = seconds(30);
  filter_ = R"({"Nodes":null,"NodeNames":["n2","n1"],"FailedNodes":null,
                "FailedAndUnresolvableNodes":{"n3":"never"},"Error":""})";
  HttpExtender extender = Make();
  const auto verdicts = extender.Filter(*pod_, nodes_);
  ASSERT_TRUE(verdicts.ok()) << verdicts.error().message;
  EXPECT_THAT(Names(verdicts->feasible), ElementsAre("n2", "n1"));
  EXPECT_THAT(verdicts->failed_and_unresolvable, ElementsAre(Pair("n3", "never")));
  EXPECT_THAT(sent().body, HasSubstr(R"("Nodes":null,"NodeNames":["n1","n2"]})"));
  EXPECT_EQ(sent().timeout, seconds(30));
}

TEST_F(HttpExtenderTest, ReadsFilterAnswersAsGoDoes) {
  const struct {
    bool names;
    const char* answer;
    std::vector<std::string> feasible;
  } cases[] = {
      {true, R"({"nodenames":["n1"]})", {"n1"}},
      {true, R"({"Nodes":{"items":[{"metadata":{"name":"n1"}}]}})", {"n1"}},
      {true, R"({"Nodes":{"items":[{"metadata":{"name":"n1"}}]},"NodeNames":[]})", {}},
      {false, R"({"NodeNames":["n1"]})", {}},
      {false, R"({"more":1})", {}},
      {false, "null", {}},
  };
  for (const auto& test : cases) {
    config_.node_cache_capable = test.names;
    filter_ = test.answer;
    const auto verdicts = Make().Filter(*pod_, nodes_);
    ASSERT_TRUE(verdicts.ok()) << verdicts.error().message;
    EXPECT_EQ(Names(verdicts->feasible), test.feasible) << test.answer;
  }
}

TEST_F(HttpExtenderTest, SaysWhatIsWrongWithAnAnswer) {
  const struct {
    const char* answer;
    const char* error;
  } cases[] = {
      {R"({"Error":"out of order"})", "out of order"},
      {R"({"NodeNames":["n9"]})",
       "extender \"http://extender.example:8888/scheduler/\" claims a filtered node \"n9\" which is not found in the "
       "input node list"},
      {R"({"NodeNames":"n1"})",
       "answer of extender http://extender.example:8888/scheduler/filter:1:14: NodeNames: expected a list, found "
       "string \"n1\""},
      {R"([])",
       "answer of extender http://extender.example:8888/scheduler/filter:1:1: expected an object, found a list"},
  };
  config_.node_cache_capable = true;
  for (const auto& test : cases) {
    filter_ = test.answer;
    const auto verdicts = Make().Filter(*pod_, nodes_);
    ASSERT_FALSE(verdicts.ok()) << test.answer;
    EXPECT_EQ(verdicts.error().message, test.error);
  }
  filter_ = "";
  EXPECT_FALSE(Make().Filter(*pod_, nodes_).ok());
}

TEST_F(HttpExtenderTest, SaysWhyThereIsNoAnswer) {
  HttpExtender extender = Make();
  transport_->status = 503;
  EXPECT_EQ(extender.Filter(*pod_, nodes_).error().message,
            "failed filter with extender at URL http://extender.example:8888/scheduler/filter, code 503");
  EXPECT_EQ(extender.Prioritize(*pod_, nodes_).get().error().message,
            "failed prioritize with extender at URL http://extender.example:8888/scheduler/prioritize, code 503");
  transport_->down = "connection refused";
  EXPECT_EQ(extender.Bind(*pod_, "n1").error().message,
            "Post \"http://extender.example:8888/scheduler/bind\": connection refused");
}

// The transport of this test never ends a call by itself, like one whose thread is stuck.
TEST_F(HttpExtenderTest, NobodyWaitsLongerThanTheTimeout) {
  config_.http_timeout = std::chrono::milliseconds(1);
  HttpExtender extender = Make();
  transport_->hold = true;
  const std::vector<const NodeInfo*> none;
  const auto filtered = extender.Filter(*MakePod("p").Info(), none);
  ASSERT_FALSE(filtered.ok());
  EXPECT_THAT(filtered.error().message, HasSubstr("context deadline exceeded"));
  EXPECT_THAT(extender.Prioritize(*MakePod("p").Info(), none).get().error().message,
              HasSubstr("context deadline exceeded"));
  EXPECT_THAT(extender.Bind(*MakePod("p").Info(), "n").error().message, HasSubstr("context deadline exceeded"));
  EXPECT_EQ(transport_->cancelled, 3);
  transport_->Answer();  // too late, and nobody waits for it
}

TEST_F(HttpExtenderTest, EveryCallIsTimed) {
  HttpExtender extender = Make();
  base::FakeClock clock;
  std::vector<std::string> calls;
  extender.set_observer(clock, [&](const std::string& verb, bool answered, base::Duration) {
    calls.push_back(verb + (answered ? " answered" : " failed"));
  });
  const std::vector<const NodeInfo*> none;
  (void)extender.Filter(*MakePod("p").Info(), none);
  (void)extender.Prioritize(*MakePod("p").Info(), none).get();
  transport_->down = "connection refused";
  (void)extender.Bind(*MakePod("p").Info(), "n");
  EXPECT_THAT(calls, ElementsAre("filter answered", "prioritize answered", "bind failed"));
}

TEST_F(HttpExtenderTest, PrioritizeDoesNotWait) {
  prioritize_ = R"([{"Host":"n1","Score":3},{"host":"n2","score":10}])";
  HttpExtender extender = Make();
  transport_->hold = true;
  auto answer = extender.Prioritize(*pod_, nodes_);
  EXPECT_EQ(sent().path, "/prioritize");
  EXPECT_THAT(sent().body, HasSubstr(R"("Nodes":{"metadata":{},"items":[)"));
  transport_->Answer();
  const auto priorities = answer.get();
  ASSERT_TRUE(priorities.ok()) << priorities.error().message;
  ASSERT_THAT(*priorities, SizeIs(2));
  EXPECT_EQ((*priorities)[0].host, "n1");
  EXPECT_EQ((*priorities)[0].score, 3);
  EXPECT_EQ((*priorities)[1].score, 10);
  EXPECT_EQ(extender.weight(), 2);
}

TEST_F(HttpExtenderTest, ReadsListsOfPriorities) {
  const std::pair<const char*, const char*> cases[] = {
      {"null", ""},
      {"[]", ""},
      {"{}",
       "answer of extender http://extender.example:8888/scheduler/prioritize:1:1: expected a list, found an object"},
      {R"([{"Host":"n1","Score":"3"}])",
       "answer of extender http://extender.example:8888/scheduler/prioritize:1:23: [0].Score: expected an integer, "
       "found string \"3\""},
  };
  for (const auto& [answer, error] : cases) {
    prioritize_ = answer;
    const auto priorities = Make().Prioritize(*pod_, nodes_).get();
    EXPECT_EQ(priorities.ok() ? "" : priorities.error().message, error);
  }
}

class HttpExtenderPreemptionTest : public HttpExtenderTest {
 protected:
  HttpExtenderPreemptionTest() {
    handle_.cluster().AddNode(MakeNode("n1"), {v1_, other_});
    handle_.cluster().AddNode(MakeNode("n2"), {v2_});
  }
  auto Ask() { return Make().ProcessPreemption(*pod_, candidates_, handle_.cluster()); }

  const framework::PodInfoPtr v1_ = MakePod("v1").Uid("u1").Info();
  const framework::PodInfoPtr v2_ = MakePod("v2").Uid("u2").Info();
  const framework::PodInfoPtr other_ = MakePod("other").Uid("u3").Info();
  const std::vector<PreemptionCandidate> candidates_ = {{"n2", {.pods = {v2_}, .pdb_violations = 1}},
                                                        {"n1", {.pods = {v1_}}}};
  FakeHandle handle_;
};

TEST_F(HttpExtenderPreemptionTest, SendsVictimsOrTheirUids) {
  preempt_ = R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"u3"},{"UID":"u1"}],"NumPDBViolations":2}}})";
  const auto left = Ask();
  ASSERT_TRUE(left.ok()) << left.error().message;
  ASSERT_THAT(*left, SizeIs(1));
  EXPECT_EQ((*left)[0].node_name, "n1");
  EXPECT_EQ((*left)[0].victims.pdb_violations, 2);
  EXPECT_THAT((*left)[0].victims.pods, ElementsAre(other_, v1_));
  EXPECT_EQ(sent().path, "/preempt");
  EXPECT_THAT(
      sent().body,
      HasSubstr(R"("NodeNameToVictims":{"n1":{"Pods":[{"metadata":{"name":"v1","namespace":"default",)"
                R"("uid":"u1"},"spec":{"schedulerName":"default-scheduler"}}],"NumPDBViolations":0},"n2":{"Pods":[)"));
  EXPECT_THAT(sent().body, HasSubstr(R"("NumPDBViolations":1}},"NodeNameToMetaVictims":null})"));

  config_.node_cache_capable = true;
  ASSERT_TRUE(Ask().ok());
  EXPECT_THAT(sent().body, HasSubstr(R"("NodeNameToVictims":null,"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"u1"}],)"
                                     R"("NumPDBViolations":0},"n2":{"Pods":[{"UID":"u2"}],"NumPDBViolations":1}}})"));
}

TEST_F(HttpExtenderPreemptionTest, BelievesInNoPodThatIsNotThere) {
  preempt_ = R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"u2"}]}}})";
  EXPECT_EQ(Ask().error().message,
            "extender: http://extender.example:8888/scheduler/ claims to preempt pod (UID: &{u2}) on node: n1, but the "
            "pod is not found on that node");
  preempt_ = R"({"NodeNameToMetaVictims":{"n9":{"Pods":[]}}})";
  EXPECT_EQ(Ask().error().message, "nodeinfo not found for node name \"n9\"");
}

TEST_F(HttpExtenderTest, Binds) {
  HttpExtender extender = Make();
  ASSERT_TRUE(extender.Bind(*pod_, "n1").ok());
  EXPECT_EQ(sent().path, "/bind");
  EXPECT_EQ(sent().body, R"({"PodName":"web","PodNamespace":"default","PodUID":"u-web","Node":"n1"})");
  bind_ = R"({"Error":"already taken"})";
  EXPECT_EQ(Make().Bind(*pod_, "n1").error().message, "already taken");
}

TEST_F(HttpExtenderTest, IsInterestedInManagedResources) {
  config_.managed_resources = {{"example.com/gpu", false}, {"example.com/fpga", true}};
  const HttpExtender extender = Make();
  EXPECT_TRUE(extender.IsInterested(*pod_));
  EXPECT_TRUE(extender.IsInterested(*MakePod("p").Container().Limit("example.com/fpga", "1").Info()));
  EXPECT_TRUE(extender.IsInterested(
      *MakePod("p").InitContainer().Request("example.com/gpu", "1").Container().Request("cpu", "1").Info()));
  EXPECT_FALSE(extender.IsInterested(*MakePod("p").Request("cpu", "1").Info()));
  config_.managed_resources.clear();
  EXPECT_TRUE(Make().IsInterested(*MakePod("p").Info()));
}

TEST_F(HttpExtenderTest, DoesWhatItHasVerbsFor) {
  const HttpExtender all = Make();
  EXPECT_TRUE(all.IsFilter() && all.IsPrioritizer() && all.SupportsPreemption() && all.IsBinder());
  EXPECT_EQ(all.name(), kUrl);
  EXPECT_FALSE(all.IsIgnorable());
  config_ = {};
  config_.ignorable = true;
  const HttpExtender none = Make();
  EXPECT_FALSE(none.IsFilter() || none.IsPrioritizer() || none.SupportsPreemption() || none.IsBinder());
  EXPECT_TRUE(none.IsIgnorable());
}

}  // namespace
}  // namespace berth::live
