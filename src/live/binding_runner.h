// BindingRunner: where binding cycles run, and how they wait there for answers of the API. A live scheduler has threads
// for it (BindingThreads); a test can run one cycle at a time, in virtual time.
#pragma once

#include <functional>

namespace berth::live {

class BindingRunner {
 public:
  using Task = std::function<void()>;
  using Resume = std::function<void()>;

  enum class Length {
    kShort,  // an answer of the API
    kLong,   // a volume that is being provisioned: minutes, perhaps, in which others may run
  };

  virtual ~BindingRunner() = default;

  // Any thread.
  virtual void Run(Task task) = 0;
  // For tasks. Hands a function to `begin`, and returns when that function has been called, which has to happen once,
  // on any thread. False when the runner has ended: then nobody may have called it, and it may still be called.
  virtual bool WaitFor(Length length, const std::function<void(Resume)>& begin) = 0;
};

}  // namespace berth::live
