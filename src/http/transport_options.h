// Options of a transport other than the server's address.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace berth::http {

struct TransportOptions {
  // Requests in flight; the others are queued. Together with the watches this should stay below what servers allow on
  // one HTTP/2 connection (100 and more), so that one connection carries them all.
  int max_requests = 64;
  // Exchanges with an idle timeout, or with no timeout at all, are watches. They have their own limit, so that requests
  // and watches do not delay each other.
  int max_watches = 256;
  base::Duration connect_timeout = std::chrono::seconds(30);
  // If a request got no answer in time and nothing else was received on its connection for this long, the connection is
  // given up with everything on it. The kernel does the same when the peer acknowledges nothing.
  base::Duration silence = std::chrono::seconds(15);
};

}  // namespace berth::http
