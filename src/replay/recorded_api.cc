#include "replay/recorded_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::replay {

using framework::PodInfo;
using framework::Status;
using scheduler::ApiAnswer;

namespace {

Error NoAnswer() { return Error::Unavailable("the recording has no answer to this call"); }

bool AsksFor(const api::Container& container, const std::string& resource) {
  const Symbol name(resource);
  return container.resources.requests.Contains(name) || container.resources.limits.Contains(name);
}

}  // namespace

const ApiAnswer* RecordedApi::Take(ApiAnswer::Call call) {
  if (input_ && next_answer_ < input_->answers.size() && input_->answers[next_answer_].call == call) {
    return &input_->answers[next_answer_++];
  }
  if (problem_.empty()) {
    problem_ = fmt::format("call {} of the binding cycle is of kind {}, which the recording does not have there",
                           next_answer_ + 1, static_cast<int>(call));
  }
  return nullptr;
}

Status RecordedApi::StatusOf(ApiAnswer::Call call) {
  const ApiAnswer* answer = Take(call);
  return answer ? answer->status : Status::FromError(NoAnswer());
}

Result<void> RecordedApi::DoneOf(ApiAnswer::Call call) {
  const ApiAnswer* answer = Take(call);
  if (!answer) return NoAnswer();
  if (answer->error) return *answer->error;
  return {};
}

framework::ApiWriter::ClaimResult RecordedApi::ClaimOf(ApiAnswer::Call call) {
  const ApiAnswer* answer = Take(call);
  if (!answer) return NoAnswer();
  if (answer->error) return *answer->error;
  if (!answer->claim) return NoAnswer();
  return answer->claim;
}

Result<std::string> RecordedApi::Call(const framework::ObjectCall&) {
  const ApiAnswer* answer = Take(ApiAnswer::Call::kObject);
  if (!answer) return NoAnswer();
  if (answer->error) return *answer->error;
  return answer->body;
}

bool RecordedApi::IsEvictingFor(const PodInfo& preemptor) const {
  if (!input_) return false;
  const size_t nth = evicting_asked_[preemptor.uid()]++;
  const auto found = input_->evicting.find(preemptor.uid());
  return found != input_->evicting.end() && found->second.contains(nth);
}

const ExtenderRecord* RecordedApi::NextOf(std::string_view extender, ExtenderRecord::Kind kind) {
  if (input_ && next_extender_answer_ < input_->extender_answers.size()) {
    const ExtenderRecord& next = input_->extender_answers[next_extender_answer_];
    if (next.extender == extender && next.kind == kind) {
      ++next_extender_answer_;
      return &next;
    }
  }
  if (problem_.empty()) problem_ = fmt::format("the recording has no answer of extender {} here", extender);
  return nullptr;
}

RecordedExtender::RecordedExtender(record::ExtenderNote note, RecordedApi& api) : note_(std::move(note)), api_(api) {}

bool RecordedExtender::IsInterested(const PodInfo& pod) const {
  if (note_.managed_resources.empty()) return true;
  const api::PodSpec& spec = pod.pod().spec;
  return std::any_of(note_.managed_resources.begin(), note_.managed_resources.end(), [&](const std::string& resource) {
    const auto asks = [&](const api::Container& container) { return AsksFor(container, resource); };
    return std::any_of(spec.containers.begin(), spec.containers.end(), asks) ||
           std::any_of(spec.init_containers.begin(), spec.init_containers.end(), asks);
  });
}

Result<engine::ExtenderVerdicts> RecordedExtender::Filter(const PodInfo&, engine::Nodes nodes) {
  const ExtenderRecord* record = api_.NextOf(name(), ExtenderRecord::Kind::kVerdicts);
  if (!record) return NoAnswer();
  if (record->error) return *record->error;
  std::map<std::string_view, const framework::NodeInfo*> by_name;
  for (const framework::NodeInfo* node : nodes) by_name.emplace(node->name(), node);
  engine::ExtenderVerdicts verdicts;
  for (const std::string& node : record->feasible) {
    if (const auto found = by_name.find(node); found != by_name.end()) verdicts.feasible.push_back(found->second);
  }
  for (const auto& [node, why] : record->failed) verdicts.failed.Set(node, why);
  for (const auto& [node, why] : record->unresolvable) verdicts.failed_and_unresolvable.Set(node, why);
  return verdicts;
}

// Several are asked before the first answer is looked at, and the recording has answers in the order of the looks.
std::future<Result<std::vector<engine::HostPriority>>> RecordedExtender::Prioritize(const PodInfo&, engine::Nodes) {
  return std::async(std::launch::deferred, [this]() -> Result<std::vector<engine::HostPriority>> {
    const ExtenderRecord* record = api_.NextOf(name(), ExtenderRecord::Kind::kPriorities);
    if (!record) return NoAnswer();
    if (record->error) return *record->error;
    return record->priorities;
  });
}

Result<std::vector<framework::PreemptionCandidate>> RecordedExtender::ProcessPreemption(
    const PodInfo&, std::span<const framework::PreemptionCandidate>, const framework::ClusterView& cluster) {
  const ExtenderRecord* record = api_.NextOf(name(), ExtenderRecord::Kind::kCandidates);
  if (!record) return NoAnswer();
  if (record->error) return *record->error;
  std::vector<framework::PreemptionCandidate> candidates;
  for (const ExtenderRecord::Candidate& from : record->candidates) {
    framework::PreemptionCandidate candidate;
    candidate.node_name = from.node;
    candidate.victims.pdb_violations = from.pdb_violations;
    if (const framework::NodeInfo* node = cluster.Find(from.node)) {
      for (const std::string& uid : from.victims) {
        const auto found = std::find_if(node->pods().begin(), node->pods().end(),
                                        [&](const framework::PodInfoPtr& pod) { return pod->uid() == uid; });
        if (found != node->pods().end()) candidate.victims.pods.push_back(*found);
      }
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace berth::replay
