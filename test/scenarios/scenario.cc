#include "scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "codec/gzip.h"
#include "codec/yaml.h"
#include "config/load.h"
#include "config/policy.h"

namespace berth::scenarios {

namespace {

using sim::PodOutcome;

const std::map<std::string_view, PodOutcome> kOutcomes = {{"pending", PodOutcome::kPending},
                                                          {"gated", PodOutcome::kGated},
                                                          {"notOurs", PodOutcome::kForeign},
                                                          {"preempted", PodOutcome::kPreempted}};

std::string NameOf(PodOutcome outcome) {
  for (const auto& [name, candidate] : kOutcomes) {
    if (candidate == outcome) return std::string(name);
  }
  return "scheduled";
}

std::string Key(std::string_view name) {
  return name.find('/') == std::string_view::npos ? fmt::format("default/{}", name) : std::string(name);
}

class Loader {
 public:
  explicit Loader(std::string file) : file_(std::move(file)) {}

  Result<Scenario> Load() {
    const Result<std::string> text = codec::ReadFile(file_);
    if (!text) return text.error();
    const Result<std::vector<codec::Document>> documents = codec::ParseYaml(*text, file_);
    if (!documents) return documents.error();
    const codec::Value* kind = documents->empty() ? nullptr : documents->front().root().Find("kind");
    if (!kind || kind->text() != "Scenario") return Error::InvalidArgument(file_ + ": must begin with a Scenario");
    scenario_.configuration = config::DefaultConfiguration({});
    for (const codec::Member& member : documents->front().root().members()) ReadMember(member);

    Result<input::ClusterInput> input = input::ReadCluster({file_});
    if (!input) return input.error();
    // Of the scenario itself.
    std::erase_if(input->warnings, [](const std::string& warning) {
      return warning.find("berth.dev/v1 Scenario") != std::string::npos;
    });
    scenario_.input = std::move(*input);
    if (!problems_.empty()) return Error::InvalidArgument(fmt::format("{}", fmt::join(problems_, "\n")));
    return std::move(scenario_);
  }

 private:
  void Problem(const codec::Value& at, std::string_view text) {
    problems_.push_back(fmt::format("{}: {}", codec::Where(file_, at.mark()), text));
  }

  void ReadMember(const codec::Member& member) {
    if (member.key == "apiVersion" || member.key == "kind") return;
    if (member.key == "config") return ReadConfig(config::Load(member.value, {}, {.file_name = file_}));
    if (member.key == "policy") return ReadConfig(config::LoadPolicy(member.value, {}, {.file_name = file_}));
    if (member.key == "expect") {
      for (const codec::Member& pod : member.value.members()) scenario_.pods[Key(pod.key)] = ReadExpectation(pod.value);
    } else if (member.key == "preempted") {
      for (const codec::Member& pod : member.value.members()) scenario_.preempted[Key(pod.key)] = Key(pod.value.text());
    } else {
      Problem(member.value, fmt::format("unknown field {}", member.key));
    }
  }

  void ReadConfig(Result<config::KubeSchedulerConfiguration> loaded) {
    if (!loaded) return problems_.push_back(loaded.error().message);
    scenario_.configuration = std::move(*loaded);
  }

  Expectation ReadExpectation(const codec::Value& value) {
    Expectation expectation;
    if (value.is_string()) {
      expectation.nodes.emplace_back(value.text());
    } else if (value.is_array()) {
      for (const codec::Value& node : value.items()) expectation.nodes.emplace_back(node.text());
    } else if (value.Find("node") != nullptr) {
      ReadPlacement(value, expectation);
    } else if (value.members().size() == 1 && kOutcomes.contains(value.members()[0].key)) {
      expectation.outcome = kOutcomes.at(value.members()[0].key);
      expectation.text = value.members()[0].value.text();
      if (expectation.outcome == PodOutcome::kPreempted) expectation.text = Key(expectation.text);
    } else {
      Problem(value,
              "expected a node, a list of nodes, a node and its score, or one of pending, gated, notOurs, preempted");
    }
    return expectation;
  }

  void ReadPlacement(const codec::Value& value, Expectation& expectation) {
    for (const codec::Member& member : value.members()) {
      if (member.key == "node") {
        expectation.nodes.emplace_back(member.value.text());
      } else if (member.key == "score" && member.value.is_number()) {
        expectation.score = std::atoll(std::string(member.value.text()).c_str());
      } else {
        Problem(member.value, "expected node and score");
      }
    }
  }

  const std::string file_;
  Scenario scenario_;
  std::vector<std::string> problems_;
};

// Empty when the pod went where it should.
std::string Difference(const Expectation& expected, const sim::PodReport& pod) {
  if (expected.outcome != pod.outcome) {
    return fmt::format("expected {} {}{}, found {} {}{}", NameOf(expected.outcome), fmt::join(expected.nodes, " or "),
                       expected.text, NameOf(pod.outcome), pod.node, pod.message);
  }
  if (pod.outcome == PodOutcome::kScheduled) {
    const bool there = std::find(expected.nodes.begin(), expected.nodes.end(), pod.node) != expected.nodes.end();
    if (!there) return fmt::format("expected on {}, found on {}", fmt::join(expected.nodes, " or "), pod.node);
    if (!expected.score || (pod.scored && pod.score == *expected.score)) return "";
    return fmt::format("expected a score of {}, found {}", *expected.score, pod.scored ? pod.score : -1);
  }
  const std::string& text = pod.outcome == PodOutcome::kPreempted ? pod.preempted_by : pod.message;
  if (expected.text.empty() || expected.text == text) return "";
  return fmt::format("expected\n    {}\n  found\n    {}", expected.text, text);
}

}  // namespace

Result<Scenario> Load(const std::string& file) { return Loader(file).Load(); }

std::vector<std::string> Differences(const Scenario& scenario, const sim::SimulationReport& report) {
  std::vector<std::string> differences;
  std::map<std::string, Expectation> unseen = scenario.pods;
  for (const sim::PodReport& pod : report.pods) {
    const auto expected = unseen.find(pod.key);
    if (expected == unseen.end()) {
      differences.push_back(pod.key + ": nothing is expected of it");
      continue;
    }
    if (const std::string text = Difference(expected->second, pod); !text.empty())
      differences.push_back(pod.key + ": " + text);
    unseen.erase(expected);
  }
  for (const auto& [key, expectation] : unseen) differences.push_back(key + ": is not among the pods");

  std::map<std::string, std::string> preempted;
  for (const sim::PodReport& pod : report.preempted) {
    if (!scenario.pods.contains(pod.key)) preempted[pod.key] = pod.preempted_by;
  }
  if (preempted != scenario.preempted) {
    std::string found;
    for (const auto& [victim, preemptor] : preempted) found += fmt::format(" {} by {}", victim, preemptor);
    differences.push_back("preempted: found" + (found.empty() ? " none" : found));
  }
  return differences;
}

}  // namespace berth::scenarios
