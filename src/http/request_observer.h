// RequestObserver: called for every request, for metrics. Called from the transport's thread; must be quick.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/clock.h"

namespace berth::http {

class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  // The head of an answer came after `took`, or (status 0) none will come. A request that is sent again with other
  // credentials is reported twice.
  virtual void OnAnswer(std::string_view /*method*/, std::string_view /*host*/, int /*status*/,
                        base::Duration /*took*/) {}
  // The exchange is over; bytes of the bodies.
  virtual void OnEnd(std::string_view /*method*/, std::string_view /*host*/, size_t /*sent*/, size_t /*received*/) {}
  // The same request goes out once more, after 401 and with other credentials.
  virtual void OnRetry(std::string_view /*method*/, std::string_view /*host*/, int /*status*/) {}
};

}  // namespace berth::http
