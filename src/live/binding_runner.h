// BindingRunner: runs binding cycles and lets them wait for answers from the API. A live scheduler has threads for it
// (BindingThreads); a test can run one cycle at a time, in virtual time.
#pragma once

#include <functional>

namespace berth::live {

class BindingRunner {
 public:
  using Task = std::function<void()>;
  using Resume = std::function<void()>;

  enum class Length {
    kShort,  // an answer from the API
    kLong,   // a volume that is being provisioned: possibly minutes, in which others may run
  };

  virtual ~BindingRunner() = default;

  // Any thread. `report` follows when `work` has ended, on the same thread, but not necessarily at once: a thread can
  // be preempted between the two.
  virtual void Run(Task work, Task report) = 0;
  // Called by tasks. Passes a function to `begin`, and returns when that function has been called, which must happen
  // once, on any thread. Returns false if the runner has stopped: then the function may not have been called, and may
  // still be.
  virtual bool WaitFor(Length length, const std::function<void(Resume)>& begin) = 0;
};

}  // namespace berth::live
