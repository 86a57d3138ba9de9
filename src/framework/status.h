// Status: the verdict of a plugin about a pod (and perhaps a node). "Unschedulable" is not an error.
// Success is a null pointer: it costs nothing to make, copy or test.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/symbol.h"

namespace berth::framework {

// What happens to the pod:
enum class Code : uint8_t {
  kSuccess,
  kError,          // internal error: the cycle ends, the pod is retried after a backoff
  kUnschedulable,  // not now; preemption may help; retried when a registered event says so, after a backoff
  kUnschedulableAndUnresolvable,  // as above, but evicting pods would not help: preemption leaves the node alone
  kWait,                          // Permit only: hold the pod until allowed, rejected or timed out
  kSkip,     // PreFilter, PreScore: the coupled Filter or Score need not run; Bind: another plugin should bind
  kPending,  // stopped on purpose until an external event; retried without a backoff
};
std::string_view NameOf(Code code);

// The quantities behind a rejection, so that explaining it does not run the plugin again.
struct Shortfall {
  Symbol resource;
  int64_t requested = 0;
  int64_t used = 0;
  int64_t capacity = 0;
};

class [[nodiscard]] Status {
 public:
  Status() = default;

  static Status Success() { return {}; }
  static Status Skip() { return Status(Code::kSkip, {}); }
  static Status Wait() { return Status(Code::kWait, {}); }
  static Status Error(std::string reason) { return Status(Code::kError, {std::move(reason)}); }
  static Status FromError(const base::Error& error) { return Error(error.message); }
  static Status Pending(std::string reason) { return Status(Code::kPending, {std::move(reason)}); }
  static Status Unschedulable(std::string reason) { return Status(Code::kUnschedulable, {std::move(reason)}); }
  static Status UnschedulableAndUnresolvable(std::string reason) {
    return Status(Code::kUnschedulableAndUnresolvable, {std::move(reason)});
  }
  Status(Code code, std::vector<std::string> reasons, std::vector<Shortfall> shortfalls = {});

  Code code() const { return rep_ ? rep_->code : Code::kSuccess; }
  bool ok() const { return rep_ == nullptr; }
  bool IsSkip() const { return code() == Code::kSkip; }
  bool IsWait() const { return code() == Code::kWait; }
  bool IsError() const { return code() == Code::kError; }
  // Unschedulable, UnschedulableAndUnresolvable or Pending.
  bool IsRejected() const;

  const std::vector<std::string>& reasons() const;
  const std::vector<Shortfall>& shortfalls() const;
  // Name of the plugin that returned it; set by the runtime, empty before.
  std::string_view plugin() const { return rep_ ? std::string_view(rep_->plugin) : std::string_view(); }
  // Reasons joined by ", ".
  std::string Message() const;

  [[nodiscard]] Status WithPlugin(std::string_view plugin) const;

  // The same underlying object, which is stronger than equality.
  bool IsSameObject(const Status& other) const { return rep_ == other.rep_; }

  // Equal code, reasons and plugin; shortfalls are not compared.
  friend bool operator==(const Status& a, const Status& b);

 private:
  struct Rep {
    Code code;
    std::vector<std::string> reasons;
    std::vector<Shortfall> shortfalls;
    std::string plugin;
  };
  // Shared and never changed once made, so that one rejection can stand for many nodes.
  std::shared_ptr<const Rep> rep_;
};

}  // namespace berth::framework
