// DeadlineSort: an order of the queue of one's own. Pods with a deadline come first, the nearest first; then by
// priority, then by how long they have waited.
//
// The deadline is a time such as 2030-01-01T12:00:00Z in an annotation. One that does not parse counts as none: a typo
// in a pod must not hold up everybody's queue.
#pragma once

#include <berth/plugin.h>

#include <string>
#include <string_view>

namespace example {

struct DeadlineSortArgs {
  std::string annotation = "example.com/deadline";
};
const berth::codec::Message& Describe(const DeadlineSortArgs*);

class DeadlineSort final : public berth::framework::Plugin, public berth::framework::QueueSortPlugin {
 public:
  static berth::NewPlugin Create(const berth::PluginArgs& given, berth::framework::Handle& handle);

  std::string_view name() const override { return "DeadlineSort"; }
  bool Less(const berth::framework::QueuedPodView& a, const berth::framework::QueuedPodView& b) const override;

 private:
  explicit DeadlineSort(std::string annotation) : annotation_(std::move(annotation)) {}

  // The end of time for pods that have none.
  berth::base::Time DeadlineOf(const berth::framework::PodInfo& pod) const;

  const std::string annotation_;
};

}  // namespace example
