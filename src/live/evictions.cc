#include "live/evictions.h"

#include <fmt/format.h>

#include "base/log.h"

namespace berth::live {

namespace {

api::PodCondition DisruptionTarget(const api::Pod& preemptor) {
  return {.type = "DisruptionTarget",
          .status = "True",
          .reason = "PreemptionByScheduler",
          .message = fmt::format("{}: preempting to accommodate a higher priority pod", preemptor.spec.scheduler_name)};
}

client::EventNote Preempted(const api::Pod& victim, const api::Pod& preemptor, std::string_view node) {
  return {.reporting_controller = preemptor.spec.scheduler_name,
          .regarding = client::ReferenceTo(api::Kind::kPod, victim.metadata),
          .type = "Normal",
          .reason = "Preempted",
          .action = "Preempting",
          .note = fmt::format("Preempted by pod {} on node {}", preemptor.metadata.uid, node)};
}

}  // namespace

void Evictions::Start(const std::vector<PodPtr>& victims, const framework::PodInfo& preemptor) {
  std::vector<PodPtr> going;
  for (const PodPtr& victim : victims) {
    if (!victim->metadata.deletion_timestamp) {
      going.push_back(victim);
      continue;
    }
    LOG_INFO(2, "Victim Pod is already being deleted, skipping the API call for it", {"preemptor", preemptor.Key()},
             {"victim", api::KeyOf(victim->metadata)});
  }
  if (going.empty()) return;
  const auto round = std::make_shared<Round>();
  // The API does not show a node for a victim whose binding is in flight.
  round->node = cluster_->NodeOf(going.front()->metadata.uid);
  LOG_INFO(2, "Start the preemption asynchronously", {"preemptor", preemptor.Key()}, {"node", round->node},
           {"numVictims", victims.size()}, {"numVictimsToDelete", going.size()});
  round->preemptor = preemptor.shared_pod();
  round->last = going.back();
  round->started = clock_.Now();
  going.pop_back();
  rounds_[preemptor.uid()] = round;
  if (going.empty()) return Proceed(round);
  round->unanswered = going.size();
  for (const PodPtr& victim : going) Evict(round, victim);
}

bool Evictions::IsRunningFor(const std::string& preemptor_uid) const {
  const auto it = rounds_.find(preemptor_uid);
  if (it == rounds_.end()) return false;
  const Round& round = *it->second;
  if (!round.at_last) return true;
  const framework::PodInfoPtr last = cluster_->FindPod(round.last->metadata.uid);
  return last != nullptr && !last->is_terminating();
}

// First the condition, then the deletion, as upstream.
void Evictions::Evict(const RoundPtr& round, const PodPtr& victim) {
  client_.PatchPodStatus(
      *victim, {.condition = DisruptionTarget(*round->preemptor)},
      [this, round, victim](const Result<void>& patched) {
        if (!patched) return Answer(round, victim, patched);
        client_.DeletePod(*victim, [this, round, victim](const Result<void>& deleted) {
          if (deleted) events_.Record(Preempted(*victim, *round->preemptor, round->node));
          Answer(round, victim, deleted);
        });
      },
      client::WriteClass::kEvict);
}

void Evictions::Answer(const RoundPtr& round, const PodPtr& victim, const Result<void>& result) {
  const std::string preemptor = api::KeyOf(round->preemptor->metadata), name = api::KeyOf(victim->metadata);
  // A victim that is already gone is a success.
  const bool failed = !result && result.error().code != ErrorCode::kNotFound;
  if (failed) {
    LOG_ERROR("Tried to preempted pod", {"err", result.error()}, {"pod", name}, {"preemptor", preemptor});
  } else if (!result) {
    LOG_INFO(2, "Victim Pod is already deleted", {"preemptor", preemptor}, {"victim", name});
  } else {
    LOG_INFO(2, "Preemptor Pod preempted victim Pod", {"preemptor", preemptor}, {"victim", name},
             {"node", round->node});
  }
  mailbox_.Post([this, round, failed] {
    round->failed |= failed;
    if (--round->unanswered == 0) Proceed(round);
  });
}

void Evictions::Proceed(const RoundPtr& round) {
  if (!round->at_last && !round->failed) {
    round->at_last = true;
    // It may have ended by itself while the others were being deleted.
    const framework::PodInfoPtr last = cluster_->FindPod(round->last->metadata.uid);
    if (last != nullptr && !last->is_terminating()) {
      round->unanswered = 1;
      return Evict(round, round->last);
    }
  }
  const std::string& uid = round->preemptor->metadata.uid;
  // A preemptor that was released early may have started another round.
  if (const auto it = rounds_.find(uid); it != rounds_.end() && it->second == round) rounds_.erase(it);
  LOG_INFO(2, "Async Preemption finished completely", {"preemptor", api::KeyOf(round->preemptor->metadata)},
           {"node", round->node}, {"result", round->failed ? "error" : "success"});
  // The deletion of a victim that was gone before its turn requeued nothing, because the preemptor was still held back.
  const bool is_gone = cluster_->FindPod(round->last->metadata.uid) == nullptr;
  over_({uid, round->failed, is_gone, clock_.Now() - round->started});
}

}  // namespace berth::live
