#include "storm/fibers.h"

#include <cstdint>
#include <utility>

#include "base/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define BERTH_ASAN_FIBERS 1
#endif

namespace berth::storm {
namespace {

constexpr size_t kStackSize = size_t{1} << 20;

// The address sanitizer has to know when the stack changes.
void BeginSwitch([[maybe_unused]] void** fake, [[maybe_unused]] const void* bottom, [[maybe_unused]] size_t size) {
#ifdef BERTH_ASAN_FIBERS
  __sanitizer_start_switch_fiber(fake, bottom, size);
#endif
}

void EndSwitch([[maybe_unused]] void* fake, [[maybe_unused]] const void** bottom, [[maybe_unused]] size_t* size) {
#ifdef BERTH_ASAN_FIBERS
  __sanitizer_finish_switch_fiber(fake, bottom, size);
#endif
}

}  // namespace

struct Fibers::Fiber {
  Fibers* owner = nullptr;
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(kStackSize);
  ucontext_t context{};
  ucontext_t caller{};
  const void* caller_stack = nullptr;
  size_t caller_stack_size = 0;
  Task task{};
  uint64_t wait = 0;  // counts its waits, so that only the last one can be ended
  bool waits = false;
  bool ended = true;
  Fiber* resumed_by = nullptr;
};

Fibers::Fibers() = default;

Fibers::~Fibers() { Abandon(); }

void Fibers::Abandon() {
  abandoned_ = true;
  for (size_t i = 0; i < fibers_.size(); ++i) {
    Fiber& fiber = *fibers_[i];
    if (fiber.ended || !fiber.waits) continue;
    fiber.waits = false;
    SwitchTo(fiber);
    CHECK_WHY(fiber.ended, "a fiber that waits in vain must come to an end");
  }
}

void Fibers::Run(Task task) {
  Fiber* fiber = nullptr;
  for (const auto& known : fibers_) {
    if (known->ended) fiber = known.get();
  }
  if (fiber == nullptr) fiber = fibers_.emplace_back(std::make_unique<Fiber>()).get();
  fiber->owner = this;
  fiber->task = std::move(task);
  fiber->ended = false;
  ++live_;
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack.get();
  fiber->context.uc_stack.ss_size = kStackSize;
  fiber->context.uc_link = nullptr;
  const auto address = reinterpret_cast<uintptr_t>(fiber);
  makecontext(&fiber->context, reinterpret_cast<void (*)()>(&Fibers::Enter), 2, static_cast<unsigned>(address),
              static_cast<unsigned>(address >> 32));
  SwitchTo(*fiber);
}

void Fibers::SwitchTo(Fiber& fiber) {
  fiber.resumed_by = std::exchange(running_, &fiber);
  void* fake = nullptr;
  BeginSwitch(&fake, fiber.stack.get(), kStackSize);
  swapcontext(&fiber.caller, &fiber.context);
  EndSwitch(fake, nullptr, nullptr);
  running_ = fiber.resumed_by;
}

void Fibers::Leave(Fiber& fiber, bool for_good) {
  void* fake = nullptr;
  BeginSwitch(for_good ? nullptr : &fake, fiber.caller_stack, fiber.caller_stack_size);
  swapcontext(&fiber.context, &fiber.caller);
  EndSwitch(fake, &fiber.caller_stack, &fiber.caller_stack_size);
}

void Fibers::Enter(unsigned low, unsigned high) {
  auto* fiber = reinterpret_cast<Fiber*>(uintptr_t{low} | uintptr_t{high} << 32);
  EndSwitch(nullptr, &fiber->caller_stack, &fiber->caller_stack_size);
  fiber->task();
  fiber->task = nullptr;
  fiber->ended = true;
  --fiber->owner->live_;
  fiber->owner->Leave(*fiber, true);
}

bool Fibers::Wait(const std::function<void(Task resume)>& start) {
  CHECK_WHY(running_ != nullptr, "only a fiber can wait");
  if (abandoned_) return false;
  Fiber& fiber = *running_;
  const uint64_t wait = ++fiber.wait;
  bool done = false;
  bool asleep = false;
  fiber.waits = true;
  // Ends this wait and no other; `done` and `asleep` exist as long as the wait.
  start([this, &fiber, &done, &asleep, wait] {
    if (fiber.wait != wait || !fiber.waits) return;
    fiber.waits = false;
    done = true;
    if (asleep) SwitchTo(fiber);
  });
  if (done) return true;
  asleep = true;
  Leave(fiber, false);
  ++fiber.wait;
  return done;
}

}  // namespace berth::storm
