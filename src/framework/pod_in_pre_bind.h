// PodInPreBind: whether the binding of a pod that has a node can still be cancelled. It can until PreBind is over;
// after that the binding may already be on its way to the API server. Any thread.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "framework/status.h"

namespace berth::framework {

class PodInPreBind {
 public:
  // False: too late. Otherwise the pod will not be bound; the first cause counts.
  bool Cancel(std::string cause) {
    const std::lock_guard lock(mutex_);
    if (is_prebound_) return false;
    if (!cause_) cause_ = std::move(cause);
    return true;
  }

  // PreBind is over and Bind follows. False: the binding was cancelled.
  bool MarkPrebound() {
    const std::lock_guard lock(mutex_);
    is_prebound_ = !cause_;
    return is_prebound_;
  }

  // An Error with the cause if the binding was cancelled. For waits in PreBind, which must then end.
  std::optional<Status> Cancelled() const {
    const std::lock_guard lock(mutex_);
    if (!cause_) return std::nullopt;
    return Status::Error(*cause_);
  }

 private:
  mutable std::mutex mutex_;
  bool is_prebound_ = false;
  std::optional<std::string> cause_;
};

}  // namespace berth::framework
