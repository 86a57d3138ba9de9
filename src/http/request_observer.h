// RequestObserver: called for every request, for metrics. Called from the transport's thread; must be quick.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/clock.h"

namespace berth::http {

class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  // The head of an answer arrived after `took`, or (status 0) none will. A request that is sent again with other
  // credentials is reported twice.
  virtual void OnAnswer(std::string_view /*method*/, std::string_view /*host*/, int /*status*/,
                        base::Duration /*took*/) {}
  // The exchange is over; `sent` and `received` are the sizes of the bodies.
  virtual void OnEnd(std::string_view /*method*/, std::string_view /*host*/, size_t /*sent*/, size_t /*received*/) {}
  // The same request is sent once more with other credentials, after a 401.
  virtual void OnRetry(std::string_view /*method*/, std::string_view /*host*/, int /*status*/) {}
};

}  // namespace berth::http
