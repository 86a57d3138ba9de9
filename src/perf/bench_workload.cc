#include "perf/bench_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/workload.h"
#include "perf/bench_devices.h"
#include "perf/bench_volumes.h"

namespace berth::perf {

namespace {

constexpr char kZone[] = "topology.kubernetes.io/zone";
constexpr char kHostname[] = "kubernetes.io/hostname";

api::Quantity Amount(std::string_view text) { return *api::Quantity::Parse(text); }

api::LabelSelector Selecting(std::string_view key, std::string_view value) {
  return {{{Symbol(key), Symbol(value)}}, {}};
}

api::PodAffinityTerm Near(const char* topology, std::string_view key, std::string_view value) {
  api::PodAffinityTerm term;
  term.label_selector = Selecting(key, value);
  term.topology_key = Symbol(topology);
  return term;
}

api::Affinity& AffinityOf(api::Pod& pod) {
  return pod.spec.affinity ? *pod.spec.affinity : pod.spec.affinity.emplace();
}

void Request(api::Pod& pod, const api::Quantity& cpu, const api::Quantity& memory) {
  static const Symbol cpu_name("cpu");
  static const Symbol memory_name("memory");
  pod.spec.containers.front().resources.requests = {{cpu_name, cpu}, {memory_name, memory}};
}

void Plain(uint64_t, api::Pod&) {}

void Mixed(uint64_t number, api::Pod& pod) {
  const auto shape = static_cast<int64_t>(number % 50);
  Request(pod, api::Quantity::FromMilli(50 + 10 * shape, api::Quantity::Format::kDecimalSI),
          api::Quantity::FromInt((100 + 20 * shape) << 20, api::Quantity::Format::kBinarySI));
  pod.metadata.labels.Set(Symbol("app"), Symbol(fmt::format("a{}", shape)));
}

void NodeAffinity(uint64_t, api::Pod& pod) {
  api::NodeSelector& required =
      AffinityOf(pod).node_affinity.emplace().required_during_scheduling_ignored_during_execution.emplace();
  required.node_selector_terms.push_back({{{Symbol(kZone), "In", {Symbol("zone-0"), Symbol("zone-1")}}}, {}});
}

void AntiAffinity(uint64_t number, api::Pod& pod) {
  const std::string colour = fmt::format("c{}", number / 4000);
  pod.metadata.labels.Set(Symbol("color"), Symbol(colour));
  AffinityOf(pod).pod_anti_affinity.emplace().required_during_scheduling_ignored_during_execution.push_back(
      Near(kHostname, "color", colour));
}

void Affinity(uint64_t, api::Pod& pod) {
  AffinityOf(pod).pod_affinity.emplace().required_during_scheduling_ignored_during_execution.push_back(
      Near(kZone, "app", "load"));
}

void PreferredAffinity(uint64_t, api::Pod& pod) {
  AffinityOf(pod).pod_affinity.emplace().preferred_during_scheduling_ignored_during_execution.push_back(
      {1, Near(kHostname, "app", "load")});
}

void Spread(api::Pod& pod, std::string when_unsatisfiable) {
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = 1;
  constraint.topology_key = Symbol(kZone);
  constraint.when_unsatisfiable = std::move(when_unsatisfiable);
  constraint.label_selector = Selecting("app", "load");
  pod.spec.topology_spread_constraints.push_back(std::move(constraint));
}
void HardSpread(uint64_t, api::Pod& pod) { Spread(pod, "DoNotSchedule"); }
void SoftSpread(uint64_t, api::Pod& pod) { Spread(pod, "ScheduleAnyway"); }

constexpr uint64_t kServices = 100;

// Spread by the default constraints, through a Service and a ReplicaSet.
void ServiceSpread(uint64_t number, api::Pod& pod) {
  const std::string name = fmt::format("s{}", number % kServices);
  pod.metadata.labels.Set(Symbol("app"), Symbol(name));
  pod.metadata.owner_references.push_back({"apps/v1", "ReplicaSet", name, "rs-" + name, true});
}

void Preempting(uint64_t, api::Pod& pod) {
  pod.spec.priority = 100;
  Request(pod, Amount("4"), Amount("1Gi"));
}

// Eight kinds of preempting pods, with two priorities.
void PreemptingMix(uint64_t number, api::Pod& pod) {
  pod.spec.priority = number % 2 == 0 ? 100 : 50;
  Request(pod,
          api::Quantity::FromInt(static_cast<int64_t>(2 + 3 * (number / 2 % 4)), api::Quantity::Format::kDecimalSI),
          Amount("1Gi"));
}

constexpr uint64_t kBudgets = 50;

// Their victims: four priorities, half of them with disruption budgets, some not started.
void MixedVictim(uint64_t number, uint64_t nodes, api::Pod& pod) {
  Request(pod, Amount("4"), Amount("1Gi"));
  pod.spec.priority = static_cast<int32_t>((number / nodes + number) % 4 * 10);
  pod.metadata.labels.Set(Symbol("app"), Symbol(fmt::format("a{}", number % (2 * kBudgets))));
  // In the past, whatever the clock starts from.
  pod.status.start_time = base::Time(std::chrono::seconds(number) - std::chrono::hours(24 * 365));
  if (number % 5 == 0) pod.status.start_time.reset();
}

api::PodDisruptionBudget Budget(uint64_t number) {
  api::PodDisruptionBudget budget;
  budget.metadata.name = fmt::format("b{}", number);
  budget.metadata.namespace_ = Symbol("default");
  budget.spec.selector = Selecting("app", fmt::format("a{}", number));
  budget.status.disruptions_allowed = static_cast<int32_t>(number % 3);
  return budget;
}

// Shares nothing with pods of other numbers.
void MakeUnlike(uint64_t number, api::Pod& pod) {
  const auto amount = static_cast<int64_t>(number);
  Request(pod, api::Quantity::FromMilli(100 + amount % 100, api::Quantity::Format::kDecimalSI),
          api::Quantity::FromInt((amount + 1) << 10, api::Quantity::Format::kBinarySI));
  pod.metadata.labels.Set(Symbol("app"), Symbol(fmt::format("u{}", number)));
  pod.spec.containers.front().image = fmt::format("registry.example/u{}:v1", number);
}

void EverySecondTooLarge(uint64_t number, api::Pod& pod) {
  if (number % 2 == 1) Request(pod, Amount("64"), Amount("500Mi"));
}

}  // namespace

const std::vector<BenchWorkload::Kind>& BenchWorkload::Table() {
  static const std::vector<Kind> kTable = {
      {"basic", Plain},
      {"mixed", Mixed},
      {"nodeaffinity", NodeAffinity},
      {"antiaffinity", AntiAffinity},
      {"affinity", Affinity},
      {"prefaffinity", PreferredAffinity},
      {"spread", HardSpread},
      {"prefspread", SoftSpread},
      {"svcspread", ServiceSpread},
      {"preempt", Preempting},
      {"preemptmix", PreemptingMix},
      {"unschedulable", EverySecondTooLarge},
      {"churn", Plain},
      {"dra", Plain},
      {"drashared", Plain},
      {"drapartition", Plain},
      {"draconsumable", Plain},
      {"drapairs", Plain},
      {"draextended", Plain},
      {"pvbound", Plain},
      {"csilimits", Plain},
      {"pvwait", Plain},
      {"pvlocal", Plain},
  };
  return kTable;
}

std::vector<std::string_view> BenchWorkload::Kinds() {
  std::vector<std::string_view> names;
  for (const Kind& kind : Table()) names.push_back(kind.name);
  return names;
}

Result<std::unique_ptr<BenchWorkload>> BenchWorkload::Create(const EngineBenchOptions& options) {
  for (const Kind& kind : Table()) {
    if (kind.name == options.kind) return std::unique_ptr<BenchWorkload>(new BenchWorkload(options, kind));
  }
  std::string known;
  for (const Kind& kind : Table()) known += fmt::format("{}{}", known.empty() ? "" : ", ", kind.name);
  return Error::InvalidArgument(fmt::format("--kind: expected one of {}; found \"{}\"", known, options.kind));
}

std::shared_ptr<const api::Node> BenchWorkload::Node(uint64_t number) const {
  api::Node node;
  node.metadata.name = fmt::format("node-{}", number);
  node.metadata.labels = {{Symbol(kHostname), Symbol(node.metadata.name)},
                          {Symbol(kZone), Symbol(fmt::format("zone-{}", number % 3))}};
  node.status.allocatable = {
      {Symbol("cpu"), Amount("32")}, {Symbol("memory"), Amount("128Gi")}, {Symbol("pods"), Amount("110")}};
  node.status.capacity = node.status.allocatable;
  return std::make_shared<const api::Node>(std::move(node));
}

std::string BenchWorkload::UidOf(uint64_t number) { return fmt::format("uid-{}", number); }

std::shared_ptr<const api::Pod> BenchWorkload::Pod(uint64_t number) const {
  return std::make_shared<const api::Pod>(MakePod(number));
}

api::Pod BenchWorkload::MakePod(uint64_t number) const {
  static const Symbol name_space("default");
  static const api::Labels labels = {{Symbol("app"), Symbol("load")}};
  static const api::Quantity cpu = Amount("100m");
  static const api::Quantity memory = Amount("500Mi");
  api::Pod pod;
  pod.metadata.name = fmt::format("pod-{}", number);
  pod.metadata.namespace_ = name_space;
  pod.metadata.uid = UidOf(number);
  pod.metadata.labels = labels;
  pod.spec.scheduler_name = api::kDefaultSchedulerName;
  pod.spec.containers.resize(1);
  pod.spec.containers.front().name = "c";
  pod.spec.containers.front().image = "registry.example/load:v1";
  Request(pod, cpu, memory);
  kind_.shape(number, pod);
  if (IsDeviceKind(kind_.name)) ShapeDevicePod(kind_.name, number, pod);
  if (IsVolumeKind(kind_.name)) ShapeVolumePod(number, pod);
  return pod;
}

void BenchWorkload::FillNodes(scheduler::Driver& driver) {
  for (; next_node_ < options_.nodes; ++next_node_) driver.Put(api::Object(Node(next_node_)));
  if (IsDeviceKind(kind_.name)) FillDevices(kind_.name, options_.nodes, driver);
  if (IsVolumeKind(kind_.name)) FillVolumes(kind_.name, options_.nodes, driver);
  if (kind_.name == "svcspread") {
    for (uint64_t i = 0; i < kServices; ++i) {
      const std::string name = fmt::format("s{}", i);
      api::Service service;
      service.metadata.name = name;
      service.metadata.namespace_ = Symbol("default");
      service.spec.selector = {{Symbol("app"), Symbol(name)}};
      PutObject(std::move(service), driver);
      api::ReplicaSet set;
      set.metadata.name = name;
      set.metadata.namespace_ = Symbol("default");
      set.spec.selector = Selecting("app", name);
      PutObject(std::move(set), driver);
    }
  }
}

std::shared_ptr<const api::Pod> BenchWorkload::ExistingPod(uint64_t number) const {
  api::Pod pod = MakePod(number);
  pod.metadata.name = fmt::format("load-6d4b75cb6d-{:05}", number);
  pod.metadata.uid = fmt::format("{:08x}-9d3e-4a58-8f21-{:012x}", number, number);
  pod.spec.node_name = fmt::format("node-{}", number % options_.nodes);
  pod.status.phase = "Running";
  pod.status.start_time = base::Time(std::chrono::seconds(number));
  if (options_.unlike) MakeUnlike(number, pod);
  if (kind_.name == "preempt") pod.spec.priority = 0;
  if (kind_.name == "preemptmix") MixedVictim(number, options_.nodes, pod);
  return std::make_shared<const api::Pod>(std::move(pod));
}

BenchWorkload::Existing BenchWorkload::FillPods(scheduler::Driver& driver) {
  const bool mix = kind_.name == "preemptmix";
  for (uint64_t i = 0; mix && i < kBudgets; ++i) {
    PutObject(Budget(i), driver);
  }
  // Nodes full of small pods of low priority.
  const bool full = mix || kind_.name == "preempt";
  Existing existing{full ? options_.nodes * 8 : options_.existing};
  // Made a few at a time, as a list is decoded page by page: the next step finds each page in the CPU cache.
  constexpr uint64_t kPage = 100;
  std::vector<std::shared_ptr<const api::Pod>> page;
  for (uint64_t first = 0; first < existing.pods; first += kPage) {
    const auto start = std::chrono::steady_clock::now();
    page.clear();
    for (uint64_t i = first; i < std::min(first + kPage, existing.pods); ++i) page.push_back(ExistingPod(i));
    existing.making += std::chrono::steady_clock::now() - start;
    for (std::shared_ptr<const api::Pod>& pod : page) driver.Put(api::Object(std::move(pod)));
  }
  return existing;
}

void BenchWorkload::Disturb(uint64_t number, scheduler::Driver& driver) {
  if (IsDeviceKind(kind_.name)) TurnDevices(kind_.name, number, options_.nodes, driver);
  if (IsVolumeKind(kind_.name)) TurnVolumes(kind_.name, number, options_.nodes, driver);
  if (kind_.name != "churn" || number % 10 != 0 || number == 0) return;
  switch (number / 10 % 3) {
    case 0: {
      api::Node node = *Node(random_.Below(options_.nodes));
      if (!std::as_const(driver).cluster().Find(node.metadata.name)) break;
      node.metadata.labels.Set(Symbol("turn"), Symbol(fmt::format("t{}", number % 7)));
      PutObject(std::move(node), driver);
      break;
    }
    case 1:
      driver.Put(api::Object(Node(next_node_++)));
      break;
    case 2:
      driver.Remove(api::Object(Node(--next_node_)));
      break;
  }
  EndPod(random_.Below(number), driver);
}

void BenchWorkload::EndPod(uint64_t number, scheduler::Driver& driver) {
  const framework::PodInfoPtr pod = std::as_const(driver).cluster().FindPod(UidOf(number));
  if (pod) driver.Remove(api::Object(pod->shared_pod()));
}

}  // namespace berth::perf
