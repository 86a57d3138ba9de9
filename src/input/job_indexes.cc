#include "input/job_indexes.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <string_view>

namespace berth::input {

namespace {

constexpr char kIndex[] = "batch.kubernetes.io/job-completion-index";

// Ranges of completed indexes, "0-3,5": both ends included.
using Ranges = std::vector<std::pair<int64_t, int64_t>>;

bool TakeNumber(std::string_view& text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

Ranges ParseRanges(std::string_view text) {
  Ranges ranges;
  int64_t first = 0;
  while (TakeNumber(text, first)) {
    int64_t last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!TakeNumber(text, last)) break;
    }
    ranges.emplace_back(first, last);
    if (!text.starts_with(',')) break;
    text.remove_prefix(1);
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

bool HasEnded(const api::Job& job) {
  return std::any_of(
      job.status.conditions.begin(), job.status.conditions.end(), [](const api::JobCondition& condition) {
        return condition.status == "True" && (condition.type == "Complete" || condition.type == "Failed");
      });
}

int64_t IndexOf(const api::Pod& pod) {
  const std::string* text = pod.metadata.annotations.Find(kIndex);
  int64_t index = -1;
  std::string_view view = text ? std::string_view(*text) : std::string_view();
  return TakeNumber(view, index) ? index : -1;
}

}  // namespace

JobNeeds NeedsOf(const api::Job& job, std::span<const api::Pod* const> pods) {
  JobNeeds needs;
  needs.indexed = job.spec.completion_mode == "Indexed";
  if (job.spec.suspend.value_or(false) || HasEnded(job)) return needs;

  size_t active = 0, succeeded = 0;
  std::set<int64_t> busy_or_done;
  for (const api::Pod* pod : pods) {
    const bool done = pod->status.phase == "Succeeded";
    const bool at_work = !api::IsTerminated(*pod) && !pod->metadata.deletion_timestamp;
    if (done) ++succeeded;
    if (at_work) ++active;
    if (done || at_work) busy_or_done.insert(IndexOf(*pod));
  }
  succeeded = std::max(succeeded, static_cast<size_t>(std::max(job.status.succeeded, 0)));

  // A Job with neither field wants one pod once.
  const bool once = !job.spec.parallelism && !job.spec.completions;
  const auto parallelism = static_cast<size_t>(std::max(job.spec.parallelism.value_or(1), 0));
  needs.wanted = parallelism;
  if (job.spec.completions || once) {
    const auto completions = static_cast<size_t>(std::max(job.spec.completions.value_or(1), 0));
    needs.wanted = std::min(parallelism, completions - std::min(completions, succeeded));
  } else if (succeeded > 0) {
    needs.wanted = std::min(parallelism, active);  // after the first success a work queue Job gets no new pods
  }
  needs.missing = needs.wanted - std::min(needs.wanted, active);
  if (!needs.indexed) return needs;

  // Enough to know that there are too many.
  constexpr size_t kMost = 1'000'000;
  const Ranges completed = ParseRanges(job.status.completed_indexes);
  auto range = completed.begin();
  for (int64_t index = 0; index < job.spec.completions.value_or(1); ++index) {
    if (needs.indexes.size() >= std::min(needs.missing, kMost)) break;
    while (range != completed.end() && range->second < index) ++range;
    if (range != completed.end() && range->first <= index) {
      index = range->second;
    } else if (!busy_or_done.contains(index)) {
      needs.indexes.push_back(static_cast<int32_t>(index));
    }
  }
  if (needs.indexes.size() < kMost) needs.missing = needs.indexes.size();
  return needs;
}

void AddJobLabels(const api::Job& job, api::Pod& pod) {
  const std::string uid = job.metadata.uid.empty() ? job.metadata.name : job.metadata.uid;
  for (const char* key : {"batch.kubernetes.io/job-name", "job-name"}) {
    pod.metadata.labels.Set(Symbol(key), Symbol(job.metadata.name));
  }
  for (const char* key : {"batch.kubernetes.io/controller-uid", "controller-uid"}) {
    pod.metadata.labels.Set(Symbol(key), Symbol(uid));
  }
}

void AddJobIndex(int32_t index, api::Pod& pod) {
  pod.metadata.annotations.Set(kIndex, std::to_string(index));
  pod.metadata.labels.Set(Symbol(kIndex), Symbol(std::to_string(index)));
}

}  // namespace berth::input
