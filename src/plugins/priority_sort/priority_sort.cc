#include "plugins/priority_sort/priority_sort.h"

#include "plugins/args.h"

namespace berth::plugins {

Result<std::unique_ptr<framework::Plugin>> PrioritySort::Create(const config::PluginArgs& args, framework::Handle&) {
  if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
  return std::unique_ptr<framework::Plugin>(new PrioritySort);
}

bool PrioritySort::Less(const framework::QueuedPodView& a, const framework::QueuedPodView& b) const {
  if (a.pod.priority() != b.pod.priority()) return a.pod.priority() > b.pod.priority();
  return a.added < b.added;
}

}  // namespace berth::plugins
