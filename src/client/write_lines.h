// WriteLines: chooses the class to write next. It only counts queued and in-flight calls. See write_path.h.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "client/token_bucket.h"
#include "client/write_path.h"

namespace berth::client {

// Queues of calls in the order of their numbers, and the choice among them. Not thread-safe.
template <class Call>
class WriteLines {
 public:
  using CallPtr = std::shared_ptr<Call>;

  WriteLines(const WriteBudgets& budgets, TokenBucket* bucket) : budgets_(budgets), bucket_(bucket) {
    // One token for leases, if that leaves any for the others.
    lease_tokens_ = bucket_ != nullptr && bucket_->burst() >= 2 ? 1 : 0;
  }

  void Enter(WriteClass write_class, uint64_t number, CallPtr call) {
    Of(write_class).line.emplace(number, std::move(call));
  }
  void Leave(WriteClass write_class, uint64_t number) {
    Line& line = Of(write_class);
    line.line.erase(number);
    if (line.line.empty()) line.credit = 0;
  }
  void Landed(WriteClass write_class) { --Of(write_class).in_flight; }
  size_t in_flight(WriteClass write_class) const { return lines_[static_cast<size_t>(write_class)].in_flight; }

  struct Choice {
    CallPtr call{};                        // null: nothing can be sent now
    std::optional<base::Duration> wait{};  // how long it has to wait for its token
  };
  Choice Next(base::Duration now) {
    const std::optional<size_t> chosen = Choose();
    if (!chosen) return {};
    const Line& line = lines_[*chosen];
    const base::Duration wait = bucket_ ? bucket_->WaitFor(now, Keep(*chosen)) : base::Duration::zero();
    if (wait > base::Duration::zero()) return {.wait = wait};
    return {.call = line.line.begin()->second};
  }
  // Sends the chosen call: it leaves its queue and takes a token, and every other eligible class is credited its share.
  void Send(WriteClass write_class, uint64_t number, base::Duration now) {
    if (bucket_ != nullptr) bucket_->Take(now);
    const size_t sent = static_cast<size_t>(write_class);
    for (size_t i = 0; i < kWriteClasses; ++i) {
      if (i != sent && IsEligible(i)) lines_[i].credit += budgets_[i].share;
    }
    lines_[sent].credit = 0;
    ++lines_[sent].in_flight;
    Leave(write_class, number);
  }

 private:
  struct Line {
    std::map<uint64_t, CallPtr> line;
    size_t in_flight = 0;
    double credit = 0;  // in tokens that others got; with a whole one it is this class's turn
  };
  static constexpr double kWhole = 1 - 1e-9;

  Line& Of(WriteClass write_class) { return lines_[static_cast<size_t>(write_class)]; }
  bool IsEligible(size_t i) const { return !lines_[i].line.empty() && lines_[i].in_flight < budgets_[i].max_in_flight; }
  // The most urgent class, unless one has been passed over long enough to be owed a token.
  std::optional<size_t> Choose() const {
    std::optional<size_t> chosen;
    for (size_t i = 0; i < kWriteClasses; ++i) {
      if (!IsEligible(i)) continue;
      if (lines_[i].credit >= kWhole) return i;
      if (!chosen) chosen = i;
    }
    return chosen;
  }
  // How many tokens must remain. A class that uses its share does not have to leave tokens to more urgent ones.
  double Keep(size_t i) const {
    if (lines_[i].credit >= kWhole) return lease_tokens_;
    return lease_tokens_ + budgets_[i].leaves * (bucket_ ? bucket_->burst() : 0);
  }

  const WriteBudgets& budgets_;
  TokenBucket* const bucket_;
  double lease_tokens_ = 0;
  std::array<Line, kWriteClasses> lines_;
};

}  // namespace berth::client
