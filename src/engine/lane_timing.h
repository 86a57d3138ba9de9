// Where lanes spend their time, plugin by plugin. A lane answers for many pods with little work for each, so whole
// passes are timed: every build, and one catch-up in sixty-four.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/clock.h"
#include "config/types.h"

namespace berth::engine {

enum class LaneWork : uint8_t {
  kBuild,    // asks about every node
  kCatchUp,  // asks about changed nodes, and passes over topology domains
};

// How long one plugin took at one extension point in one pass. Called on the scheduling thread.
using LaneObserver =
    std::function<void(LaneWork work, config::ExtensionPoint point, std::string_view plugin, base::Duration took)>;

// Decides which passes are timed, and times them.
class LaneTiming {
 public:
  LaneTiming(const LaneObserver& observer, const base::Clock& clock) : observer_(observer), clock_(clock) {}

  void Begin(LaneWork work) {
    work_ = work;
    timed_ = (work == LaneWork::kBuild || passes_++ % kEvery == 0) && observer_;
  }
  template <class Call>
  auto Time(config::ExtensionPoint point, std::string_view plugin, Call&& call) {
    if (!timed_) [[likely]]
      return call();
    const Span span(*this, point, plugin);
    return call();
  }

 private:
  static constexpr uint32_t kEvery = 64;

  struct Span {
    Span(const LaneTiming& timing, config::ExtensionPoint at, std::string_view name)
        : of(timing), point(at), plugin(name), start(timing.clock_.Now()) {}
    ~Span() { of.observer_(of.work_, point, plugin, of.clock_.Now() - start); }
    const LaneTiming& of;
    const config::ExtensionPoint point;
    const std::string_view plugin;
    const base::Time start;
  };

  const LaneObserver& observer_;  // the profile's; may be set later
  const base::Clock& clock_;
  LaneWork work_ = LaneWork::kBuild;
  bool timed_ = false;
  uint32_t passes_ = 0;
};

}  // namespace berth::engine
