// Fibers: binding cycles wait for answers in the middle of a call. In production each has a thread; in a storm each has
// its own stack, and one thread switches between them, so that the order depends on the seed only.
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
  // On a fiber only. `start` gets the function that ends the wait; it may be called at once, later, or never. Returns
  // false if the wait was abandoned: the fiber should come to an end.
  bool Wait(const std::function<void(Task resume)>& start);

  // Every waiting fiber resumes with its wait abandoned, and runs to its end. No fiber can wait any more.
  void Abandon();

  // Fibers that have begun and not ended.
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
