// Fibers: binding cycles wait for answers in the middle of a call. In production each has a thread; in a storm each has
// a stack of its own, and one thread goes from one to the other, so that the order is the seed's and nobody else's.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace berth::storm {

class Fibers {
 public:
  using Task = std::function<void()>;

  Fibers();
  ~Fibers();  // as Abandon()
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // Runs the task until it ends or waits for something.
  void Run(Task task);
  // On a fiber only. `start` is given what ends the wait; that may be called at once, later, or never. False when the
  // wait was in vain: whoever waits should come to an end.
  bool Wait(const std::function<void(Task resume)>& start);

  // Every fiber that waits goes on with the news that it waits in vain, and runs to its end. Nobody can wait any more.
  void Abandon();

  // That have begun and not ended.
  size_t live() const { return live_; }

 private:
  struct Fiber;
  void SwitchTo(Fiber& fiber);
  void Leave(Fiber& fiber, bool for_good);
  static void Enter(unsigned low, unsigned high);

  std::vector<std::unique_ptr<Fiber>> fibers_;  // ended ones are used again
  Fiber* running_ = nullptr;
  size_t live_ = 0;
  bool abandoned_ = false;
};

}  // namespace berth::storm
