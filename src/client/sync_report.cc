#include "client/sync_report.h"

#include <fmt/core.h>

#include <utility>

namespace berth::client {

SyncReport::SyncReport(base::Loop& loop, std::vector<const Reflector*> reflectors,
                       std::function<void(const std::string& missing)> on_late, base::Duration patience)
    : loop_(loop), reflectors_(std::move(reflectors)), on_late_(std::move(on_late)), patience_(patience) {}

SyncReport::~SyncReport() {
  loop_.RunNow([this] {
    *stopped_ = true;
    loop_.Cancel(timer_);
  });
}

void SyncReport::Start() {
  loop_.Post([this, stopped = stopped_] {
    if (*stopped) return;
    loop_.Cancel(timer_);
    timer_ = loop_.RunAfter(patience_, [this] { Look(); });
  });
}

void SyncReport::Look() {
  if (*stopped_) return;
  const std::string missing = Missing();
  if (missing.empty()) return;
  on_late_(missing);
  timer_ = loop_.RunAfter(patience_, [this] { Look(); });
}

std::string SyncReport::Missing() const {
  std::string missing;
  const base::Duration now = loop_.Now();
  for (const Reflector* reflector : reflectors_) {
    const ReflectorState state = reflector->state();
    if (state.synced && !state.catching_up) continue;
    const base::Duration tried = state.behind_since ? now - *state.behind_since : base::Duration::zero();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(tried).count();
    if (!missing.empty()) missing += ", ";
    missing += fmt::format("{} (for {}s{}{})", state.resource, seconds, state.last_error.empty() ? "" : ": ",
                           state.last_error);
  }
  return missing;
}

}  // namespace berth::client
