// Options of a transport other than its server's address.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace berth::http {

struct TransportOptions {
  // So many at a time, the others wait in line. With the watches, below what servers allow on one HTTP/2 connection
  // (100 and more), so that one connection carries them all.
  int max_requests = 64;
  // Exchanges with an idle timeout, or with none at all, are watches. They have a budget of their own, so that neither
  // holds up the other.
  int max_watches = 256;
  base::Duration connect_timeout = std::chrono::seconds(30);
  // A connection on which a request got no answer in time, and on which nothing else was heard for this long either, is
  // given up, with all that is on it. The kernel does the same when the other side acknowledges nothing.
  base::Duration silence = std::chrono::seconds(15);
};

}  // namespace berth::http
