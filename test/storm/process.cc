#include "storm/process.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace berth::storm {
namespace {

constexpr uint64_t kLongestTask = 20'000;  // nanoseconds

}  // namespace

base::Time Process::WallClock::Now() const { return base::Time(kEpoch + timeline.Now() + step); }

Process::Process(Timeline& timeline, std::string name, uint64_t seed)
    : timeline_(timeline),
      name_(std::move(name)),
      origin_(std::chrono::seconds(1000 + seed % 1000)),
      wall_(timeline),
      random_(seed) {}

void Process::Resume() {
  paused_ = false;
  for (VirtualLoop* loop : loops_) loop->Arm();
}

VirtualLoop::VirtualLoop(Process& process) : process_(process), self_(std::make_shared<VirtualLoop*>(this)) {
  process_.loops_.push_back(this);
}

VirtualLoop::~VirtualLoop() {
  *self_ = nullptr;
  std::erase(process_.loops_, this);
}

void VirtualLoop::Post(Task task) {
  posted_.push_back(std::move(task));
  Arm();
}

base::TimerId VirtualLoop::RunAfter(base::Duration delay, Task task) {
  const base::TimerId timer = ++last_timer_;
  const base::Duration due = Now() + std::max(delay, base::Duration::zero());
  timers_.emplace(std::pair(due, timer), std::move(task));
  due_.emplace(timer, due);
  Arm();
  return timer;
}

void VirtualLoop::Cancel(base::TimerId timer) {
  const auto found = due_.find(timer);
  if (found == due_.end()) return;
  timers_.erase({found->second, timer});
  due_.erase(found);
}

void VirtualLoop::Arm() {
  if (process_.paused() || (posted_.empty() && timers_.empty())) return;
  const base::Duration now = process_.timeline().Now();
  base::Duration when = posted_.empty() ? timers_.begin()->first.first - process_.origin_ : now;
  when = std::max({when, busy_until_, now});
  if (when >= armed_for_) return;
  armed_for_ = when;
  process_.timeline().At(when, [self = self_, when] {
    if (*self == nullptr || (*self)->armed_for_ != when) return;
    (*self)->armed_for_ = base::Duration::max();
    (*self)->Wake();
  });
}

void VirtualLoop::Wake() {
  if (process_.paused()) return;
  const std::shared_ptr<VirtualLoop*> self = self_;
  Task task;
  if (!posted_.empty()) {
    task = std::move(posted_.front());
    posted_.pop_front();
  } else if (!timers_.empty() && timers_.begin()->first.first <= Now()) {
    auto first = timers_.extract(timers_.begin());
    due_.erase(first.key().second);
    task = std::move(first.mapped());
  }
  if (task) {
    busy_until_ = process_.timeline().Now() + base::Duration(1 + process_.random_.Below(kLongestTask));
    process_.timeline().set_actor(process_.name_);
    task();
    task = nullptr;  // its captures may own this object
  }
  if (*self != nullptr) {
    process_.timeline().set_actor({});
    Arm();
  }
}

}  // namespace berth::storm
