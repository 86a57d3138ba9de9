#include "input/input.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <sstream>

#include "api/node.h"
#include "api/pod.h"
#include "base/testing/temporary_folder.h"
#include "codec/gzip.h"
#include "input/text_parts.h"

namespace berth::input {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kPod[] = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c}]}\n";
constexpr char kNode[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: node}\nstatus: {capacity: {cpu: 4, pods: 110}}\n";

class InputTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view text) { return temporary.Write(name, text); }

  // The result of reading one file with this text.
  ClusterInput Read(std::string_view text) {
    Result<ClusterInput> input = ReadCluster({Write("input.yaml", text)});
    EXPECT_TRUE(input) << (input ? "" : input.error().message);
    return input ? std::move(*input) : ClusterInput{};
  }

  // Its problems, one per line, without the folder of the file.
  std::vector<std::string> Problems(std::string_view text) {
    const Result<ClusterInput> input = ReadCluster({Write("input.yaml", text)});
    return input ? std::vector<std::string>{} : Lines(input.error().message);
  }

  std::vector<std::string> Lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with(folder)) line.erase(0, folder.size());
      lines.push_back(line);
    }
    return lines;
  }

  const base::testing::TemporaryFolder temporary;
  const std::string folder = temporary.path() + "/";
};

TEST_F(InputTest, ReadsDocumentsListsJsonAndGzip) {
  EXPECT_THAT(Read(std::string(kPod) + "---\n" + kNode).objects, SizeIs(2));
  EXPECT_THAT(Read("# nothing yet\n---\n---\n" + std::string(kPod)).objects, SizeIs(1));
  EXPECT_THAT(Read(R"({"apiVersion": "v1", "kind": "List", "items": [
      {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "c"}]}},
      {"apiVersion": "v1", "kind": "PodList", "items": [
        {"metadata": {"name": "b"}, "spec": {"containers": [{"name": "c"}]}}]}]})")
                  .objects,
              SizeIs(2));

  const std::string packed = folder + "input.yaml.gz";
  gzFile file = gzopen(packed.c_str(), "wb");
  gzputs(file, kPod);
  gzclose(file);
  const Result<ClusterInput> input = ReadCluster({packed});
  ASSERT_TRUE(input);
  EXPECT_THAT(input->objects, SizeIs(1));
}

TEST_F(InputTest, FillsInWhatTheApiServerWould) {
  const ClusterInput input = Read(std::string(kPod) + "---\n" + kNode);
  EXPECT_EQ(input.objects[0].As<api::Pod>()->metadata.uid, "default/web");
  EXPECT_EQ(input.objects[1].As<api::Node>()->status.allocatable.size(), 2u);
}

TEST_F(InputTest, FilesThatCannotBeRead) {
  const Result<ClusterInput> input = ReadCluster({folder + "missing.yaml", Write("ok.yaml", kPod), folder + "ok.yaml"});
  ASSERT_FALSE(input);
  EXPECT_THAT(Lines(input.error().message),
              ElementsAre("missing.yaml: No such file or directory", "ok.yaml: is given twice"));
}

TEST_F(InputTest, ObjectsOfARunningClusterComeBesideFiles) {
  const std::vector<api::Object> live = Read(kNode).objects;
  const Result<ClusterInput> both = ReadCluster({Write("pod.yaml", kPod)}, live);
  ASSERT_TRUE(both);
  EXPECT_THAT(both->objects, SizeIs(2));
  const Result<ClusterInput> twice = ReadCluster({Write("node.yaml", kNode)}, live);
  ASSERT_TRUE(twice) << twice.error().message;
  EXPECT_THAT(twice->objects, SizeIs(1));
  EXPECT_THAT(twice->notes, ElementsAre(HasSubstr("node.yaml:1:1: Node node replaces the one at the cluster")));
  InputChanges strict;
  strict.live = live;
  strict.strict = true;
  const Result<ClusterInput> refused = ReadCluster({Write("node.yaml", kNode)}, std::move(strict));
  ASSERT_FALSE(refused);
  EXPECT_THAT(Lines(refused.error().message),
              ElementsAre("node.yaml:3:18: Node node: is already given at the cluster"));
}

TEST_F(InputTest, ADirectoryStandsForTheFilesBelowIt) {
  std::filesystem::create_directories(folder + "b/deep");
  std::filesystem::create_directories(folder + "empty");
  Write("b/deep/pod.yaml", kPod);
  Write("a.yml", kNode);
  Write("z.json", R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}})");
  Write("b/notes.txt", "not: [yaml");
  Write("c.yaml.gz", codec::Gzip("apiVersion: v1\nkind: Namespace\nmetadata: {name: x2}\n"));
  const Result<ClusterInput> input = ReadCluster({folder});
  ASSERT_TRUE(input) << input.error().message;
  std::vector<std::string> names;
  for (const api::Object& object : input->objects) names.push_back(object.metadata().name);
  EXPECT_THAT(names, ElementsAre("node", "web", "x2", "x"));
  const Result<ClusterInput> empty = ReadCluster({folder + "empty"});
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("holds no file that ends in .yaml, .yml or .json"));
}

TEST_F(InputTest, ChartsAndKustomizationsAreNotObjects) {
  std::filesystem::create_directories(folder + "chart/templates");
  Write("chart/Chart.yaml", "apiVersion: v2\nname: web\n");
  Write("chart/values.yaml", "replicas: 1\n");
  Write("chart/templates/web.yaml", "kind: {{ .Values.kind }}\n");
  std::filesystem::create_directories(folder + "overlay");
  Write("overlay/kustomization.yaml", "resources: [../base]\n");
  const Result<ClusterInput> input = ReadCluster({folder});
  ASSERT_FALSE(input);
  EXPECT_THAT(
      Lines(input.error().message),
      ElementsAre(HasSubstr("Chart.yaml: is a Helm chart, not objects: give what `helm template "),
                  HasSubstr("kustomization.yaml: is a kustomization, not objects: give what `kubectl kustomize ")));
}

TEST_F(InputTest, YamlInBraces) {
  const std::string pod = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}]}}\n";
  const std::string node =
      R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"pods": 1}}})";
  EXPECT_THAT(Read(pod).objects, SizeIs(1));
  EXPECT_THAT(Read(node + "\n---\n" + pod).objects, SizeIs(2));
  EXPECT_THAT(Read("---\n" + node).objects, SizeIs(1));
}

// However the text is split, the same objects and the same problems are found.
TEST_F(InputTest, PartsOfALargeListAreReadAsTheWhole) {
  std::string text = "apiVersion: v1\nitems:\n";
  for (int i = 0; i < 6'000; ++i) {
    text += fmt::format(
        "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: pod-{}\n  spec:\n    containers:\n    - name: c\n", i);
  }
  const std::string tail = "kind: List\nmetadata:\n  resourceVersion: \"\"\n";
  ASSERT_GT(text.size(), 2 * kPartSize);
  EXPECT_THAT(Read(text + tail).objects, SizeIs(6'000));
  EXPECT_THAT(
      Problems(text +
               "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: pod-7\n  spec:\n    containers:\n    - name: c\n "
               "     imagee: x\n" +
               tail),
      ElementsAre("input.yaml:42010:7: items[6000].spec.containers[0].imagee: unknown field, did you mean \"image\"?"));
  EXPECT_THAT(
      Problems(
          text +
          "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: pod-7\n  spec:\n    containers:\n    - name: c\n" +
          tail),
      ElementsAre(AllOf(HasSubstr("input.yaml:42006:11: Pod default/pod-7: is already given at "),
                        HasSubstr("input.yaml:52:3"))));
  EXPECT_THAT(Problems(text + "- [\n" + tail), ElementsAre(HasSubstr("input.yaml:42005:9: did not find expected")));
  // An anchor in one item may be used in another, which requires the whole list.
  EXPECT_THAT(
      Read(text +
           "- &node {apiVersion: v1, kind: Node, metadata: {name: n1, labels: &l {a: b}}, status: {capacity: {pods: "
           "1}}}\n" +
           "- {apiVersion: v1, kind: Node, metadata: {name: m, labels: *l}, status: {capacity: {pods: 1}}}\n" + tail)
          .objects,
      SizeIs(6'002));
}

TEST_F(InputTest, EveryDocumentThatIsNoYamlIsToldOf) {
  EXPECT_THAT(
      Problems(std::string(kPod) + "---\na: b: c\n---\nkind: [\n---\n" + kNode),
      ElementsAre("input.yaml:6:5: mapping values are not allowed in this context", HasSubstr("input.yaml:9:1: ")));
}

TEST_F(InputTest, RubbishIsRefusedInTime) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char name = 'b'; name < 'k'; ++name) {
    const std::string last(1, static_cast<char>(name - 1));
    bomb += fmt::format("{0}: &{0} [*{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}]\n", name, last);
  }
  EXPECT_THAT(Problems(bomb), ElementsAre(HasSubstr("the document grows out of proportion by its aliases")));
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>(i * 7919 >> 3);
  EXPECT_THAT(Problems(bytes), SizeIs(::testing::Ge(1u)));
  EXPECT_THAT(Problems("\x1f\x8b rubbish"), SizeIs(1));
  EXPECT_THAT(Problems(std::string(200'000, '-')), SizeIs(1));
  EXPECT_THAT(Problems(std::string(200'000, '{')), SizeIs(1));
  std::string many = "apiVersion: v1\nkind: List\nitems:\n";
  for (int i = 0; i < 3'000; ++i) many += "- {apiVersion: v1, kind: Pood}\n";
  EXPECT_THAT(Problems(many), ::testing::AllOf(SizeIs(1'001), ::testing::Contains("and 2000 more problems")));
}

TEST_F(InputTest, AnEmptyFileIsAProblem) {
  for (const char* text : {"", " \n\n", "# only a comment\n", "---\n---\n", "null\n"}) {
    EXPECT_THAT(Problems(text), ElementsAre(HasSubstr("holds no objects"))) << text;
  }
  EXPECT_THAT(Problems("apiVersion: v1\nkind: List\nitems: []\n"),
              ElementsAre(HasSubstr("holds no objects, only an empty list")));
  // Printed by a server: there are no objects of the kind. As the only input it is not enough.
  EXPECT_THAT(Problems("apiVersion: v1\nkind: List\nitems: []\nmetadata: {resourceVersion: \"\"}\n"),
              ElementsAre("the input holds no object that berth reads"));
}

TEST_F(InputTest, TextThatIsNoYamlOrJson) {
  EXPECT_THAT(Problems("a: b: c"), ElementsAre("input.yaml:1:5: mapping values are not allowed in this context"));
  EXPECT_THAT(Problems("{\"a\": }"), ElementsAre(HasSubstr("input.yaml:1:7: ")));
  EXPECT_THAT(Problems("just words"), ElementsAre("input.yaml:1:1: expected an object, found string \"just words\""));
  EXPECT_THAT(Problems("[" + std::string(5000, '[')), ElementsAre(HasSubstr("nested deeper than 1000 levels")));
  EXPECT_THAT(Problems("a: " + std::string(5000, '[')), ElementsAre(HasSubstr("nested deeper than 1000 levels")));
  EXPECT_THAT(Problems(std::string("{\0}", 3)), SizeIs(1));
  EXPECT_THAT(Problems("\xff\xff: 1"), SizeIs(1));
}

TEST_F(InputTest, AllProblemsAreToldAtOnceWithTheirPlace) {
  EXPECT_THAT(
      Problems(R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: c
    resources: {requests: {cpu: 1x}}
    imagee: x
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec:
  containers:
  - name: c
    resources: {requests: {cpu: -1, memory: 2}, limits: {memory: 1}}
  nodeSelector: {zone: "a b"}
  tolerations:
  - {key: x, operator: Like}
  topologySpreadConstraints:
  - {maxSkew: 0, topologyKey: zone, whenUnsatisfiable: Maybe}
---
apiVersion: v1
kind: Node
metadata: {name: node}
status: {allocatable: {cpu: -4, pods: 1}}
---
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {selector: {app: "a b"}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: pdb}
spec:
  selector: {matchExpressions: [{key: app, operator: Inn}]}
)"),
      ElementsAre(
          "input.yaml:7:33: spec.containers[0].resources.requests[cpu]: expected a quantity such as "
          "500m or 2Gi, found string \"1x\"",
          "input.yaml:8:5: spec.containers[0].imagee: unknown field, did you mean \"image\"?",
          "input.yaml:16:33: Pod default/b: spec.containers[0].resources.requests[cpu]: must not be "
          "negative, found -1",
          "input.yaml:16:45: Pod default/b: spec.containers[0].resources.requests[memory]: must not "
          "be more than the limit of 1, found 2",
          HasSubstr("input.yaml:17:24: Pod default/b: spec.nodeSelector[zone]: bad value \"a b\""),
          HasSubstr(
              "input.yaml:19:24: Pod default/b: spec.tolerations[0].operator: expected Equal or Exists or Lt or Gt, "),
          "input.yaml:21:15: Pod default/b: spec.topologySpreadConstraints[0].maxSkew: expected 1 or "
          "more, found 0",
          HasSubstr("input.yaml:21:56: Pod default/b: spec.topologySpreadConstraints[0]."
                    "whenUnsatisfiable: expected DoNotSchedule or ScheduleAnyway, found \"Maybe\""),
          "input.yaml:26:29: Node node: status.allocatable[cpu]: must not be negative, found -4",
          HasSubstr("input.yaml:31:24: Service default/s: spec.selector[app]: bad value \"a b\""),
          "input.yaml:37:13: PodDisruptionBudget default/pdb: spec.selector: \"Inn\" is not a valid "
          "label selector operator"));
}

TEST_F(InputTest, ItemsOfAListArePointedAtToo) {
  EXPECT_THAT(Problems(R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec: {containers: [{name: c}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: b}
  spec: {containers: []}
)"),
              ElementsAre("input.yaml:11:22: Pod default/b: spec.containers: missing: a pod needs at least one"));
}

TEST_F(InputTest, UnknownKinds) {
  const auto about = [](std::string_view api_version, std::string_view kind) {
    return "apiVersion: " + std::string(api_version) + "\nkind: " + std::string(kind) + "\nmetadata: {name: x}\n";
  };
  EXPECT_THAT(Problems(about("v1", "Pood")),
              ElementsAre("input.yaml:1:1: v1 Pood x is not known: did you mean v1 Pod?"));
  EXPECT_THAT(Problems(about("apps/v1", "Pod")),
              ElementsAre("input.yaml:1:1: apps/v1 Pod x is not known: did you mean v1 Pod?"));
  EXPECT_THAT(Problems(about("v1", "Wardrobe")),
              ElementsAre("input.yaml:1:1: v1 Wardrobe x is not known: check apiVersion and kind"));
  EXPECT_THAT(Problems("kind: Pod\nmetadata: {name: x}\n"),
              ElementsAre("input.yaml:1:1: apiVersion: missing: every object needs one"));

  const std::string node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {pods: 1}}\n";
  EXPECT_THAT(Read(about("v1", "ConfigMap") + node).warnings, IsEmpty());
  EXPECT_THAT(Read(about("batch/v1", "CronJob") + "---\n" + about("batch/v1", "CronJob") + node).warnings,
              ElementsAre(HasSubstr("input.yaml:1:1: batch/v1 CronJob x (and 1 more) is passed over: ")));
  EXPECT_EQ(Read(about("v1", "ConfigMap") + "---\n" + about("v1", "Secret") + node).passed_over, 2u);
  EXPECT_THAT(Read(about("example.com/v1", "Widget") + node).warnings,
              ElementsAre(HasSubstr("input.yaml:1:1: example.com/v1 Widget x is passed over")));
}

TEST_F(InputTest, TwoOfTheSame) {
  EXPECT_THAT(Problems(std::string(kPod) + "---\n" + kPod),
              ElementsAre(AllOf(HasSubstr("input.yaml:8:18: Pod default/web: is already given at "),
                                HasSubstr("input.yaml:1:1"))));
  EXPECT_THAT(
      Problems(R"(apiVersion: v1
kind: Pod
metadata: {name: a, uid: same}
spec: {containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b, uid: same}
spec: {containers: [{name: c}]}
)"),
      ElementsAre(HasSubstr("input.yaml:8:26: Pod default/b: metadata.uid: \"same\" is that of Pod default/a at ")));
}

TEST_F(InputTest, AGivenUidMayNotBeOneThatWillBeMadeUp) {
  EXPECT_THAT(Problems(std::string(kPod) + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b, uid: default/web}\n"
                                           "spec: {containers: [{name: c}]}\n"),
              ElementsAre(HasSubstr("input.yaml:8:26: Pod default/b: metadata.uid: \"default/web\" is that of Pod "
                                    "default/web at ")));
}

TEST_F(InputTest, PriorityComesFromTheClass) {
  const std::string classes = R"(
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
preemptionPolicy: Never
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: usual}
value: 7
globalDefault: true
)";
  const auto with = [&](std::string_view fields) {
    const ClusterInput input =
        Read("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c}]\n" +
             std::string(fields) + classes);
    return *input.objects.at(0).As<api::Pod>();
  };
  EXPECT_EQ(with("  priorityClassName: high\n").spec.priority, 1000);
  EXPECT_EQ(with("  priorityClassName: high\n").spec.preemption_policy, "Never");
  EXPECT_EQ(with("  priorityClassName: high\n  priority: 5\n").spec.priority, 5);
  EXPECT_EQ(with("").spec.priority, 7);
  EXPECT_EQ(with("  priorityClassName: system-node-critical\n").spec.priority, 2000001000);

  EXPECT_THAT(Problems("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c}]\n"
                       "  priorityClassName: hihg\n"),
              ElementsAre("input.yaml:6:22: Pod default/p: spec.priorityClassName: no PriorityClass \"hihg\" in the "
                          "input"));
}

// A class that could not be read is not reported as missing.
TEST_F(InputTest, ABrokenObjectDoesNotMakeReferencesToItWrong) {
  EXPECT_THAT(Problems(R"(apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: lots
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c}], priorityClassName: high}
)"),
              ElementsAre(HasSubstr("input.yaml:4:8: value: expected")));
}

TEST_F(InputTest, WarnsOfWhatIsSeldomMeant) {
  EXPECT_THAT(
      Read("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: gone, containers: [{name: c}]}\n")
          .warnings,
      ElementsAre(HasSubstr("input.yaml:4:18: Pod default/p: spec.nodeName: node \"gone\" is not in the input")));
  EXPECT_THAT(Read("apiVersion: v1\nkind: Node\nmetadata: {name: node}\nstatus: {capacity: {cpu: 4}}\n").warnings,
              ElementsAre(HasSubstr("Node node: status.allocatable[pods]: missing")));
  EXPECT_THAT(Read("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {}\n").warnings,
              ElementsAre(HasSubstr("status.disruptionsAllowed: missing, so it allows no disruption")));
}

TEST_F(InputTest, TellsHowFarItHasRead) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p" + std::to_string(i) +
            "}\nspec: {containers: [{name: c, image: i}]}\n";
  }
  std::vector<size_t> told;
  size_t size = 0;
  InputChanges changes;
  changes.progress = [&](size_t bytes, size_t total) {
    told.push_back(bytes);
    size = total;
  };
  ASSERT_TRUE(ReadClusterTexts({{"input.yaml", text}}, std::move(changes), 2));
  EXPECT_GT(told.size(), 1u);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), size);
  EXPECT_LE(size, text.size());
}

}  // namespace
}  // namespace berth::input
