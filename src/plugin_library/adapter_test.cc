#include "plugin_library/adapter.h"

#include <gmock/gmock.h>

#include <csignal>
#include <stdexcept>

#include "config/types.h"
#include "plugin_library/host.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugin_library {
namespace {

using config::ExtensionPoint;
using framework::Code;
using framework::CycleState;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::Status;
using ::testing::ElementsAre;
using testing::FakeHandle;
using ::testing::HasSubstr;
using testing::MakeNode;
using testing::MakePod;

// What the functions of the class below do; a captureless lambda each. Set by each test.
struct Script {
  berth_code (*init)(berth_instance*, const char*) = nullptr;
  berth_code (*filter)(berth_call*, const berth_nodes*, uint8_t*) = nullptr;
  berth_code (*score)(berth_call*, const berth_nodes*, int64_t*) = nullptr;
  std::vector<std::string> log;
  const berth_label_key* zone = nullptr;
  uint8_t full = 0;
  uint8_t elsewhere = 0;
};
Script script;

berth_string Text(std::string_view text) { return {text.data(), text.size()}; }

// A class with just enough to be instantiated; tests add the functions they want to see called.
PluginClass ScriptedClass() {
  script = {};
  PluginClass made;
  made.name = "Scripted";
  made.library = "scripted.so";
  made.patience = std::chrono::seconds(60);
  made.table.size = sizeof(berth_plugin_class);
  made.table.init = [](berth_instance* instance, const char* args, void** self) -> berth_code {
    *self = &script;
    script.full = Host().add_reason(instance, BERTH_UNSCHEDULABLE, Text("node(s) are full"));
    script.elsewhere = Host().add_reason(instance, BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, Text("node(s) are elsewhere"));
    script.zone = Host().label_key(instance, Text("zone"));
    return script.init ? script.init(instance, args) : BERTH_SUCCESS;
  };
  return made;
}

PluginClass FilteringClass(decltype(Script::filter) filter) {
  PluginClass made = ScriptedClass();
  script.filter = filter;
  made.table.filter = [](void* self, berth_call* call, const berth_nodes* nodes, uint8_t* verdicts) {
    return static_cast<Script*>(self)->filter(call, nodes, verdicts);
  };
  return made;
}

PluginClass ScoringClass(decltype(Script::score) score) {
  PluginClass made = ScriptedClass();
  script.score = score;
  made.table.score = [](void* self, berth_call* call, const berth_nodes* nodes, int64_t* scores) {
    return static_cast<Script*>(self)->score(call, nodes, scores);
  };
  return made;
}

Result<std::unique_ptr<framework::Plugin>> Make(const PluginClass& plugin_class, FakeHandle& handle,
                                                const std::string& args = "") {
  return FactoryFor(std::make_shared<const PluginClass>(plugin_class))(config::RawArgs{args}, handle);
}

std::unique_ptr<Adapter> MakeAdapter(const PluginClass& plugin_class, FakeHandle& handle) {
  Result<std::unique_ptr<framework::Plugin>> made = Make(plugin_class, handle);
  CHECK_WHY(made.ok(), made.ok() ? "" : made.error().message.c_str());
  return std::unique_ptr<Adapter>(static_cast<Adapter*>(made->release()));
}

// Three nodes in two zones; "b" has no room for another pod.
void AddNodes(FakeHandle& handle) {
  handle.cluster().AddNode(MakeNode("a").Capacity("pods", "2").Label("zone", "west"));
  handle.cluster().AddNode(MakeNode("b").Capacity("pods", "1").Label("zone", "west"), {MakePod("there").Info()});
  handle.cluster().AddNode(MakeNode("c").Capacity("pods", "2").Label("zone", "east"));
  handle.cluster().AddNode(MakeNode("d").Capacity("pods", "2"));
}

// Rejects full nodes, then nodes outside the zone that the pod asks for.
berth_code FilterByRoomAndZone(berth_call* call, const berth_nodes* nodes, uint8_t* verdicts) {
  berth_label_column zones{sizeof(berth_label_column), 0, nullptr, nullptr};
  Host().label_column(nodes, script.zone, &zones);
  const std::string_view wanted = ToView(Host().pod_label(call->pod, Text("zone")));
  for (uint32_t i = 0; i < nodes->count; ++i) {
    const std::string_view zone = ToView(Host().label_value(&zones, zones.ids[i]));
    if (zone != ToView(Host().node_label(nodes, i, Text("zone")))) return BERTH_ERROR;
    if (nodes->pod_count[i] >= nodes->allocatable_pods[i]) {
      verdicts[i] = script.full;
    } else if (zone != wanted) {
      verdicts[i] = script.elsewhere;
    }
  }
  return BERTH_SUCCESS;
}

TEST(Adapter, ServesThePointsThatItsClassFills) {
  FakeHandle handle;
  const auto filter = MakeAdapter(FilteringClass(FilterByRoomAndZone), handle);
  PluginClass undoing = ScriptedClass();
  undoing.table.unreserve = [](void*, berth_call*, berth_string) {};
  const auto reserve = MakeAdapter(undoing, handle);
  for (int i = 0; i < config::kExtensionPointCount; ++i) {
    const auto point = static_cast<ExtensionPoint>(i);
    SCOPED_TRACE(config::NameOf(point));
    EXPECT_EQ(filter->Serves(point), point == ExtensionPoint::kFilter);
    EXPECT_EQ(reserve->Serves(point), point == ExtensionPoint::kReserve);
  }
}

TEST(Adapter, FiltersRangesListsAndRowsAlike) {
  FakeHandle handle;
  AddNodes(handle);
  const auto plugin = MakeAdapter(FilteringClass(FilterByRoomAndZone), handle);
  const auto pod = MakePod("p").Label("zone", "west").Info();
  const CycleState state;
  const framework::NodeColumns& columns = handle.cluster().columns();
  const std::vector<uint8_t> expected = {0, 1, 2, 2};

  std::vector<uint8_t> verdicts(4, 9);
  ASSERT_TRUE(plugin->FilterRange(state, *pod, columns, 0, verdicts));
  EXPECT_EQ(verdicts, expected);
  ASSERT_TRUE(plugin->FilterRange(state, *pod, columns, 1, std::span(verdicts).first(2)));
  EXPECT_THAT(std::span(verdicts).first(2), ElementsAre(1, 2));

  const NodeIndex list[] = {2, 0, 1};
  plugin->FilterList(state, *pod, columns, list, std::span(verdicts).first(3));
  EXPECT_THAT(std::span(verdicts).first(3), ElementsAre(2, 0, 1));
  plugin->FilterList(state, *pod, columns, std::span(list).first(1), std::span(verdicts).first(1));
  EXPECT_EQ(verdicts[0], 2);

  EXPECT_TRUE(plugin->Filter(state, *pod, handle.cluster().Node("a")).ok());
  const Status full = plugin->Filter(state, *pod, handle.cluster().Node("b"));
  EXPECT_EQ(full.code(), Code::kUnschedulable);
  EXPECT_EQ(full.Message(), "node(s) are full");
  EXPECT_EQ(full.plugin(), "Scripted");
  EXPECT_EQ(plugin->Filter(state, *pod, handle.cluster().Node("d")).code(), Code::kUnschedulableAndUnresolvable);
}

TEST(Adapter, JudgesAWhatIfCopyByTheCopy) {
  FakeHandle handle;
  AddNodes(handle);
  const auto plugin = MakeAdapter(FilteringClass(FilterByRoomAndZone), handle);
  const auto pod = MakePod("p").Label("zone", "west").Info();
  const CycleState state;
  NodeInfo emptied = handle.cluster().Node("b");
  emptied.RemovePodsIf([](const framework::PodInfo&) { return true; });
  EXPECT_TRUE(plugin->Filter(state, *pod, emptied).ok());
  EXPECT_FALSE(plugin->Filter(state, *pod, handle.cluster().Node("b")).ok());
  // A node that the cluster does not know at all.
  EXPECT_EQ(plugin->Filter(state, *pod, MakeNode("z").Capacity("pods", "1").Info()).Message(), "node(s) are elsewhere");
}

TEST(Adapter, TurnsWhatFilterDoesWrongIntoAnErrorOfThePod) {
  struct {
    const char* what;
    decltype(Script::filter) filter;
    const char* message;
  } const cases[] = {
      {"throws", [](berth_call*, const berth_nodes*, uint8_t*) -> berth_code { throw std::runtime_error("boom"); },
       "Filter threw an exception: boom"},
      {"throws anything", [](berth_call*, const berth_nodes*, uint8_t*) -> berth_code { throw 7; },
       "Filter threw an exception that is no std::exception"},
      {"bad code", [](berth_call*, const berth_nodes*, uint8_t*) -> berth_code { return 42; },
       "Filter returned 42, which is no code"},
      {"negative code", [](berth_call*, const berth_nodes*, uint8_t*) -> berth_code { return -1; },
       "Filter returned -1, which is no code"},
      {"code of another point", [](berth_call*, const berth_nodes*, uint8_t*) -> berth_code { return BERTH_WAIT; },
       "Filter returned Wait, which it may not"},
      {"says why",
       [](berth_call* call, const berth_nodes*, uint8_t*) -> berth_code {
         Host().say(call, Text("the oracle is silent"));
         return BERTH_ERROR;
       },
       "Filter failed: the oracle is silent"},
      {"verdict without a reason",
       [](berth_call*, const berth_nodes* nodes, uint8_t* verdicts) -> berth_code {
         for (uint32_t i = 0; i < nodes->count; ++i) verdicts[i] = 3;
         return BERTH_SUCCESS;
       },
       "Filter gave verdict 3 for node a, but has named 2 reason(s)"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    FakeHandle handle;
    AddNodes(handle);
    const auto plugin = MakeAdapter(FilteringClass(test.filter), handle);
    const auto pod = MakePod("p").Info();
    const CycleState state;
    const Status status = plugin->Filter(state, *pod, handle.cluster().Node("a"));
    EXPECT_EQ(status.code(), Code::kError);
    EXPECT_EQ(status.Message(), std::string("plugin \"Scripted\" of library scripted.so: ") + test.message);
    // A pass over columns cannot return an error: Filter has to be called.
    std::vector<uint8_t> verdicts(4);
    if (plugin->FilterRange(state, *pod, handle.cluster().columns(), 0, verdicts)) {
      EXPECT_THAT(verdicts, ::testing::Each(framework::FilterPlugin::kAskFilter));
    }
    const NodeIndex list[] = {0, 1};
    plugin->FilterList(state, *pod, handle.cluster().columns(), list, std::span(verdicts).first(2));
    EXPECT_THAT(std::span(verdicts).first(2), ::testing::Each(framework::FilterPlugin::kAskFilter));
  }
}

TEST(Adapter, ScoresRangesListsAndRowsAlike) {
  FakeHandle handle;
  AddNodes(handle);
  const auto plugin = MakeAdapter(ScoringClass([](berth_call*, const berth_nodes* nodes, int64_t* scores) {
                                    const berth_string* names = Host().node_names(nodes);
                                    for (uint32_t i = 0; i < nodes->count; ++i) scores[i] = names[i].data[0] - 'a';
                                    return BERTH_SUCCESS + 0;
                                  }),
                                  handle);
  const auto pod = MakePod("p").Info();
  const CycleState state;
  std::vector<int64_t> scores(4, 9);
  ASSERT_TRUE(plugin->ScoreRange(state, *pod, handle.cluster().columns(), 0, scores));
  EXPECT_THAT(scores, ElementsAre(0, 1, 2, 3));
  const NodeIndex list[] = {3, 1};
  ASSERT_TRUE(plugin->ScoreList(state, *pod, handle.cluster().columns(), list, std::span(scores).first(2)));
  EXPECT_THAT(std::span(scores).first(2), ElementsAre(3, 1));
  EXPECT_EQ(plugin->Score(state, *pod, handle.cluster().Node("c")).score, 2);
  EXPECT_EQ(plugin->Score(state, *pod, MakeNode("k").Info()).score, 10);
}

TEST(Adapter, RefusesScoresOutOfRange) {
  FakeHandle handle;
  AddNodes(handle);
  PluginClass wild = ScoringClass([](berth_call*, const berth_nodes* nodes, int64_t* scores) -> berth_code {
    for (uint32_t i = 0; i < nodes->count; ++i) scores[i] = 101;
    return BERTH_SUCCESS;
  });
  const auto pod = MakePod("p").Info();
  const CycleState state;
  const auto plugin = MakeAdapter(wild, handle);
  const framework::ScoreResult result = plugin->Score(state, *pod, handle.cluster().Node("a"));
  EXPECT_EQ(result.status.Message(),
            "plugin \"Scripted\" of library scripted.so: Score gave 101 for node a, expected 0 to 100");
  std::vector<int64_t> scores(4);
  ASSERT_TRUE(plugin->ScoreRange(state, *pod, handle.cluster().columns(), 0, scores));
  EXPECT_THAT(scores, ::testing::Each(-1)) << "out of range for the engine too";

  wild.table.normalization = BERTH_NORMALIZE_BY_MAXIMUM;
  EXPECT_EQ(MakeAdapter(wild, handle)->Score(state, *pod, handle.cluster().Node("a")).score, 101);
}

TEST(Adapter, NormalizesByTheLibrarysOwnRule) {
  FakeHandle handle;
  AddNodes(handle);
  PluginClass own = ScoringClass([](berth_call*, const berth_nodes*, int64_t*) -> berth_code { return BERTH_SUCCESS; });
  own.table.normalization = BERTH_NORMALIZE_OWN;
  own.table.normalize = [](void*, berth_call*, const berth_nodes* nodes, int64_t* scores) -> berth_code {
    for (uint32_t i = 0; i < nodes->count; ++i) scores[i] = -scores[i] + nodes->pod_count[i];
    return BERTH_SUCCESS;
  };
  const auto plugin = MakeAdapter(own, handle);
  const auto pod = MakePod("p").Info();
  framework::NodeScore scores[] = {{&handle.cluster().Node("a"), -7}, {&handle.cluster().Node("b"), -8}};
  ASSERT_TRUE(plugin->NormalizeScore(CycleState(), *pod, scores).ok());
  EXPECT_EQ(scores[0].score, 7);
  EXPECT_EQ(scores[1].score, 9);
  scores[0].score = 1;
  EXPECT_THAT(plugin->NormalizeScore(CycleState(), *pod, scores).Message(),
              HasSubstr("Normalize gave -1 for node a, expected 0 to 100"));
}

TEST(Adapter, KeepsCycleDataUntilItsLastUserIsGone) {
  FakeHandle handle;
  AddNodes(handle);
  PluginClass storing = FilteringClass([](berth_call* call, const berth_nodes*, uint8_t* verdicts) -> berth_code {
    verdicts[0] = *static_cast<const uint8_t*>(call->pre_filter_data);
    return BERTH_SUCCESS;
  });
  storing.table.pre_filter = [](void*, berth_call* call) -> berth_code {
    Host().set_pre_filter_data(call, new uint8_t(2));
    Host().keep_node(call, Text("a"));
    Host().keep_node(call, Text("b"));
    return BERTH_SUCCESS;
  };
  storing.table.free_data = [](void* self, void* data) {
    static_cast<Script*>(self)->log.push_back("freed");
    delete static_cast<uint8_t*>(data);
  };
  auto plugin = MakeAdapter(storing, handle);
  const auto pod = MakePod("p").Info();
  auto state = std::make_unique<CycleState>();
  const framework::PreFilterResult result = plugin->PreFilter(*state, *pod);
  ASSERT_TRUE(result.status.ok());
  EXPECT_THAT(*result.node_names, ElementsAre("a", "b"));
  auto clone = std::make_unique<CycleState>(state->Clone());
  state.reset();
  EXPECT_EQ(plugin->Filter(*clone, *pod, handle.cluster().Node("a")).Message(), "node(s) are elsewhere");
  plugin.reset();
  EXPECT_TRUE(script.log.empty());
  clone.reset();
  EXPECT_THAT(script.log, ElementsAre("freed"));
}

TEST(Adapter, HasOnlyTheAnswersOfEachPoint) {
  FakeHandle handle;
  PluginClass gate = ScriptedClass();
  gate.table.pre_enqueue = [](void*, berth_call* call) -> berth_code {
    Host().say(call, Text("not yet"));
    return BERTH_PENDING;
  };
  gate.table.pre_filter = [](void*, berth_call*) -> berth_code { return BERTH_SKIP; };
  gate.table.reserve = [](void*, berth_call*, berth_string) -> berth_code { return BERTH_SKIP; };
  gate.table.permit = [](void* self, berth_call* call, berth_string node, int64_t* timeout_ms) -> berth_code {
    static_cast<Script*>(self)->log.push_back(std::string(ToView(call->pod->name)) + " on " +
                                              std::string(ToView(node)));
    *timeout_ms = 1500;
    return BERTH_WAIT;
  };
  const auto plugin = MakeAdapter(gate, handle);
  const auto pod = MakePod("p").Info();
  CycleState state;
  EXPECT_EQ(plugin->PreEnqueue(*pod), Status::Pending("not yet"));
  EXPECT_TRUE(plugin->PreFilter(state, *pod).status.IsSkip());
  EXPECT_THAT(plugin->Reserve(state, *pod, "a").Message(), HasSubstr("Reserve returned Skip, which it may not"));
  const framework::PermitResult permit = plugin->Permit(state, *pod, "a");
  EXPECT_TRUE(permit.status.IsWait());
  EXPECT_EQ(permit.timeout, std::chrono::milliseconds(1500));
  EXPECT_THAT(script.log, ElementsAre("p on a"));
}

TEST(Adapter, LetsGoOfPodsThatWait) {
  FakeHandle handle;
  PluginClass gate = ScriptedClass();
  script.init = [](berth_instance* instance, const char*) -> berth_code {
    Host().allow_waiting_pod(instance, Text("uid-1"));
    Host().reject_waiting_pod(instance, Text("uid-2"), Text("too late"));
    return BERTH_SUCCESS;
  };
  gate.table.unreserve = [](void*, berth_call*, berth_string) {};
  for (const char* uid : {"uid-1", "uid-2"}) {
    handle.waiting_pods().Add(MakePod(uid).Uid(uid).Info(), {{"Scripted", std::chrono::seconds(9)}}, base::Time());
  }
  const auto plugin = MakeAdapter(gate, handle);
  const auto decided = handle.waiting_pods().TakeDecided(base::Time());
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_TRUE(decided[0].status.ok());
  EXPECT_EQ(decided[1].status.Message(), "too late");
}

TEST(Adapter, HasSiblingsOfAPodTriedAgain) {
  FakeHandle handle;
  PluginClass gang = ScriptedClass();
  script.init = [](berth_instance* instance, const char*) -> berth_code {
    const berth_string uids[] = {Text("uid-1"), Text("uid-2")};
    Host().activate_pods(instance, uids, 2);
    return BERTH_SUCCESS;
  };
  const auto plugin = MakeAdapter(gang, handle);
  EXPECT_THAT(handle.activated, ElementsAre("uid-1", "uid-2"));
}

TEST(Adapter, SignsWhatItsClassSigns) {
  FakeHandle handle;
  PluginClass signing = FilteringClass(FilterByRoomAndZone);
  const auto pod = MakePod("p").Label("zone", "west").Info();
  const auto sign = [&]() -> std::string {
    framework::SignatureBuilder builder;
    return MakeAdapter(signing, handle)->Sign(*pod, builder) ? std::move(builder).Build() : "none";
  };
  EXPECT_EQ(sign(), "none");
  signing.table.sign = [](void*, berth_call* call) -> berth_code {
    Host().add_to_signature(call, Text("zone"), Host().pod_label(call->pod, Text("zone")));
    return BERTH_SUCCESS;
  };
  EXPECT_THAT(sign(), HasSubstr("west"));
  signing.table.pre_filter = [](void*, berth_call*) -> berth_code { return BERTH_SUCCESS; };
  EXPECT_THAT(sign(), HasSubstr("west"));
  signing.table.filter = nullptr;
  EXPECT_THAT(sign(), HasSubstr("west")) << "a lane asks a PreFilter without a Filter for every pod";
}

// Cycle data that counts its copies; the library frees each copy once.
struct Counted {
  int count = 0;
};
int counted_alive = 0;

PluginClass CountingClass() {
  PluginClass made = FilteringClass([](berth_call* call, const berth_nodes* nodes, uint8_t* verdicts) -> berth_code {
    const bool full = static_cast<const Counted*>(call->pre_filter_data)->count > 0;
    for (uint32_t i = 0; i < nodes->count; ++i) verdicts[i] = full ? script.full : 0;
    return BERTH_SUCCESS;
  });
  made.table.pre_filter = [](void*, berth_call* call) -> berth_code {
    ++counted_alive;
    Host().set_pre_filter_data(call, new Counted{1});
    return BERTH_SUCCESS;
  };
  made.table.free_data = [](void*, void* data) {
    --counted_alive;
    delete static_cast<Counted*>(data);
  };
  made.table.clone_data = [](void*, const void* data) -> void* {
    ++counted_alive;
    return new Counted(*static_cast<const Counted*>(data));
  };
  made.table.add_pod = [](void*, berth_call* call, const berth_pod*, const berth_nodes*) -> berth_code {
    ++static_cast<Counted*>(call->pre_filter_data)->count;
    return BERTH_SUCCESS;
  };
  made.table.remove_pod = [](void*, berth_call* call, const berth_pod* other, const berth_nodes* node) -> berth_code {
    if (node->count != 1 || ToView(other->name) != "other") return BERTH_ERROR;
    --static_cast<Counted*>(call->pre_filter_data)->count;
    return BERTH_SUCCESS;
  };
  return made;
}

// Preemption tries changes on clones of the state; the cycle's own state must not change.
TEST(Adapter, WhatIfsChangeACopyOfCycleData) {
  counted_alive = 0;
  {
    FakeHandle handle;
    AddNodes(handle);
    const auto plugin = MakeAdapter(CountingClass(), handle);
    const auto pod = MakePod("p").Info();
    const auto other = MakePod("other").Info();
    const NodeInfo& node = handle.cluster().Node("a");
    CycleState state;
    ASSERT_TRUE(plugin->PreFilter(state, *pod).status.ok());
    EXPECT_FALSE(plugin->Filter(state, *pod, node).ok());
    CycleState what_if = state.Clone();
    EXPECT_EQ(counted_alive, 1) << "nothing is copied before it has to be";
    ASSERT_TRUE(plugin->RemovePod(what_if, *pod, *other, node).ok());
    EXPECT_EQ(counted_alive, 2);
    EXPECT_TRUE(plugin->Filter(what_if, *pod, node).ok());
    EXPECT_FALSE(plugin->Filter(state, *pod, node).ok()) << "the cycle's own data was changed";
    ASSERT_TRUE(plugin->AddPod(what_if, *pod, *other, node).ok());
    EXPECT_EQ(counted_alive, 2) << "a copy of its own need not be copied";
    EXPECT_FALSE(plugin->Filter(what_if, *pod, node).ok());
  }
  EXPECT_EQ(counted_alive, 0) << "all of it was given back";
}

TEST(Adapter, ACopyThatCannotBeMadeIsAnError) {
  FakeHandle handle;
  AddNodes(handle);
  PluginClass made = CountingClass();
  made.table.clone_data = [](void*, const void*) -> void* { return nullptr; };
  const auto plugin = MakeAdapter(made, handle);
  const auto pod = MakePod("p").Info();
  CycleState state;
  ASSERT_TRUE(plugin->PreFilter(state, *pod).status.ok());
  CycleState what_if = state.Clone();
  const Status status = plugin->RemovePod(what_if, *pod, *MakePod("other").Info(), handle.cluster().Node("a"));
  EXPECT_TRUE(status.IsError());
  EXPECT_THAT(status.Message(), HasSubstr("CloneData gave no copy"));
}

TEST(Adapter, PostFilterNamesANodeAndPodsThatAreThere) {
  FakeHandle handle([](const framework::PodInfo&, const NodeInfo& node) {
    return node.pods().empty() ? Status::Success() : Status::Unschedulable("taken");
  });
  AddNodes(handle);
  PluginClass made = ScriptedClass();
  made.table.post_filter = [](void*, berth_call* call, const berth_nodes* nodes,
                              const berth_code* codes) -> berth_code {
    const std::string_view wish = ToView(Host().pod_label(call->pod, Text("wish")));
    for (uint32_t i = 0; i < nodes->count; ++i) {
      berth_pod there{};
      there.size = sizeof(there);
      if (codes[i] != BERTH_UNSCHEDULABLE || Host().node_pod(nodes, i, 0, &there) == 0) continue;
      const berth_string uid = there.uid;
      if (Host().try_without(call, Host().node_names(nodes)[i], &uid, 1) != BERTH_SUCCESS) return BERTH_ERROR;
      if (Host().try_without(call, Host().node_names(nodes)[i], nullptr, 0) != BERTH_UNSCHEDULABLE) return BERTH_ERROR;
      Host().nominate(call, wish == "nowhere" ? Text("nowhere") : Host().node_names(nodes)[i]);
      Host().add_victim(call, wish == "nobody" ? Text("nobody") : uid);
      return BERTH_SUCCESS;
    }
    Host().say(call, Text("nobody to evict"));
    return BERTH_UNSCHEDULABLE;
  };
  const auto plugin = MakeAdapter(made, handle);
  EXPECT_TRUE(plugin->Serves(ExtensionPoint::kPostFilter));
  const auto ask = [&](const char* wish) {
    const auto pod = MakePod("p").Label("wish", wish).Info();
    CycleState state;
    return plugin->PostFilter(state, *pod, handle.FilterAll(*pod));
  };
  const framework::PostFilterResult good = ask("");
  ASSERT_TRUE(good.status.ok()) << good.status.Message();
  EXPECT_EQ(good.nominated_node_name, "b");
  ASSERT_EQ(good.victims.pods.size(), 1u);
  EXPECT_EQ(good.victims.pods.front()->name(), "there");
  EXPECT_THAT(ask("nowhere").status.Message(), HasSubstr("nominated node \"nowhere\", which does not exist"));
  EXPECT_THAT(ask("nobody").status.Message(), HasSubstr("wants pod nobody evicted, which is not on node b"));
}

TEST(Adapter, CustomResourcesAreAskedForInInit) {
  FakeHandle handle;
  PluginClass made = ScriptedClass();
  static uint32_t foos = 0;
  script.init = [](berth_instance* instance, const char*) -> berth_code {
    foos = Host().watch_resource(instance, Text("foos.v1.example.com"), 1);
    if (Host().watch_resource(instance, Text("foos"), 1) != 0) return BERTH_ERROR;
    if (Host().add_event(instance, 63, BERTH_ADD) != 0) return BERTH_ERROR;
    if (Host().add_event(instance, foos, 0) != 0) return BERTH_ERROR;
    return Host().add_event(instance, foos, BERTH_ADD) == 1 ? BERTH_SUCCESS : BERTH_ERROR;
  };
  made.table.pre_enqueue = [](void*, berth_call*) -> berth_code { return BERTH_SUCCESS; };
  const auto plugin = MakeAdapter(made, handle);
  const auto events = plugin->EventsToRegister();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.front().event.Label(), "foos.v1.example.comAdd");
  ASSERT_EQ(handle.custom_objects().watched().size(), 1u);
  EXPECT_TRUE(handle.custom_objects().watched().begin()->second.keep_json);
}

TEST(Adapter, OrdersTheQueueAndFallsBackToAge) {
  FakeHandle handle;
  PluginClass order = ScriptedClass();
  order.table.queue_less = [](void*, const berth_pod* a, int64_t, const berth_pod* b, int64_t) -> int32_t {
    if (a->priority == 13 || b->priority == 13) throw std::runtime_error("unlucky");
    return a->priority < b->priority ? 1 : 0;
  };
  const auto plugin = MakeAdapter(order, handle);
  const auto low = MakePod("low").Priority(1).Info();
  const auto high = MakePod("high").Priority(5).Info();
  const auto unlucky = MakePod("unlucky").Priority(13).Info();
  const base::Time early(std::chrono::seconds(1));
  const base::Time late(std::chrono::seconds(2));
  EXPECT_TRUE(plugin->Less({*low, late}, {*high, early}));
  EXPECT_FALSE(plugin->Less({*high, early}, {*low, late}));
  EXPECT_TRUE(plugin->Less({*unlucky, early}, {*low, late}));
  EXPECT_FALSE(plugin->Less({*unlucky, late}, {*low, early}));
}

TEST(Adapter, RegistersEvents) {
  FakeHandle handle;
  PluginClass eager = FilteringClass(FilterByRoomAndZone);
  const auto all = MakeAdapter(eager, handle)->EventsToRegister();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].event.IsWildCard()) << "whoever names no event is woken by any";
  static constexpr berth_event kEvents[] = {{BERTH_NODE, BERTH_ADD | BERTH_UPDATE_NODE_LABEL},
                                            {BERTH_POD, BERTH_DELETE}};
  eager.table.events = kEvents;
  eager.table.event_count = 2;
  const auto some = MakeAdapter(eager, handle)->EventsToRegister();
  ASSERT_EQ(some.size(), 2u);
  using framework::ActionType;
  EXPECT_EQ(some[0].event, (framework::ClusterEvent{framework::EventResource::kNode,
                                                    ActionType::kAdd | ActionType::kUpdateNodeLabel}));
  EXPECT_EQ(some[1].event, (framework::ClusterEvent{framework::EventResource::kPod, ActionType::kDelete}));
}

TEST(Adapter, IsNotMadeWhenInitFails) {
  struct {
    const char* what;
    decltype(Script::init) init;
    const char* message;
  } const cases[] = {
      {"says why",
       [](berth_instance* instance, const char* args) -> berth_code {
         Host().say_init(instance, Text(std::string("cannot read ") + args));
         return BERTH_ERROR;
       },
       "cannot read {\"x\":1}"},
      {"throws", [](berth_instance*, const char*) -> berth_code { throw std::runtime_error("boom"); },
       "init threw an exception: boom"},
      {"bad code", [](berth_instance*, const char*) -> berth_code { return BERTH_SKIP; },
       "init returned 5, expected BERTH_SUCCESS or BERTH_ERROR"},
      {"crashes", [](berth_instance*, const char*) -> berth_code { return raise(SIGSEGV); }, "init crashed (SIGSEGV)"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    FakeHandle handle;
    const PluginClass broken = FilteringClass(FilterByRoomAndZone);
    script.init = test.init;
    const auto made = Make(broken, handle, "{\"x\":1}");
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().message, std::string("plugin \"Scripted\" of library scripted.so: ") + test.message);
  }
}

TEST(Adapter, ExplainsWithTheLibrarysNumbersAndProposals) {
  FakeHandle handle;
  AddNodes(handle);
  const auto pod = MakePod("p").Label("zone", "west").Info();
  EXPECT_EQ(MakeAdapter(FilteringClass(FilterByRoomAndZone), handle)->ExplainRejections(*pod), nullptr);

  PluginClass explaining = FilteringClass(FilterByRoomAndZone);
  explaining.table.explain = [](void*, berth_call* call, const berth_nodes* nodes) -> berth_code {
    const berth_string there = Host().node_label(nodes, 0, Text("zone"));
    if (there.size == 0) throw std::runtime_error("no zone");
    Host().add_finding(call, Text("zone"), Host().pod_label(call->pod, Text("zone")), there);
    Host().propose_pod_label(call, Text("zone"), there);
    Host().propose_node_label(call, Text("seen"), Text("yes"));
    return BERTH_SUCCESS;
  };
  const auto plugin = MakeAdapter(explaining, handle);
  const NodeInfo& east = handle.cluster().Node("c");
  EXPECT_THAT(testing::FindingsOf(*plugin, *pod, east),
              ElementsAre("zone | west | east | asks for zone west, has east"));
  const std::vector<framework::Remedy> remedies = testing::RemediesOf(*plugin, *pod, east);
  ASSERT_EQ(remedies.size(), 1u);
  EXPECT_EQ(testing::TextOf(remedies[0]), "label zone=east on the pod and label seen=yes on c");
  EXPECT_EQ(remedies[0].pod()->metadata.labels.Find(Symbol("zone"))->str(), "east");
  EXPECT_EQ(remedies[0].node()->metadata.labels.Find(Symbol("seen"))->str(), "yes");

  const NodeInfo& zoneless = handle.cluster().Node("d");
  EXPECT_THAT(
      testing::FindingsOf(*plugin, *pod, zoneless),
      ElementsAre(HasSubstr("plugin \"Scripted\" of library scripted.so: Explain threw an exception: no zone")));
  EXPECT_TRUE(testing::RemediesOf(*plugin, *pod, zoneless).empty());
}

}  // namespace
}  // namespace berth::plugin_library
