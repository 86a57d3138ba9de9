#include "sim/testing/fuzz_targets.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace berth::sim {
namespace {

constexpr char kCluster[] = R"(apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1, zone: a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2", "labels": {"zone": "b"}},
   "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}, "status": {"capacity": {"cpu": 2, "pods": 5}}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      priorityClassName: high
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}
      containers: [{name: c, resources: {requests: {cpu: 500m}, limits: {memory: 1Gi}}}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  selector: {matchLabels: {app: db}}
  volumeClaimTemplates:
  - {metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}, accessModes: [ReadWriteOnce]}}
  template:
    metadata: {labels: {app: db}}
    spec:
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: app, operator: In, values: [db]}]}}]}}
      containers: [{name: c}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {tolerations: [{operator: Exists}], containers: [{name: c}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {completions: 3, parallelism: 2, completionMode: Indexed, template: {spec: {containers: [{name: c}]}}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
---
apiVersion: v1
kind: LimitRange
metadata: {name: l}
spec: {limits: [{type: Container, default: {cpu: 1}, max: {memory: 4Gi}}]}
)";

// Edits that keep some of the structure: bytes changed, lines doubled or removed, absurd numbers.
std::string Mutated(std::string text, base::Random& random) {
  static constexpr std::string_view kSpicy[] = {"-1", "2147483647", "1e12",    "&a ", "*a ",
                                                "{",  "]",          "\n---\n", "~",   "\xff"};
  for (uint64_t edits = 1 + random.Below(4); edits > 0 && !text.empty(); --edits) {
    const size_t at = random.Below(text.size());
    const size_t line = text.rfind('\n', at) + 1;
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    switch (random.Below(5)) {
      case 0:
        text[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        text.insert(at, kSpicy[random.Below(std::size(kSpicy))]);
        break;
      case 2:
        text.erase(line, end - line);
        break;
      case 3:
        text.insert(line, text.substr(line, end - line));
        break;
      case 4:
        text.erase(at, 1 + random.Below(4));
        break;
    }
  }
  return text;
}

TEST(FuzzTargets, SimulationsSurviveMutations) {
  ASSERT_TRUE(input::ReadClusterTexts({{"input", kCluster}}, {}, 1)) << "the seed itself must be sound";
  base::Random random(20240601);
  FuzzSimulate(kCluster);
  for (int i = 0; i < 300; ++i) FuzzSimulate(Mutated(kCluster, random));
}

}  // namespace
}  // namespace berth::sim
