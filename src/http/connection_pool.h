// ConnectionPool: the connections to one server that carry exchanges. The dispatcher decides what is sent when and what
// an outcome means; a pool only carries it. Everything except construction happens on the dispatcher's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "http/exchange.h"

namespace berth::http {

// What a pool reports. Called from Perform() only, and never from within a connection's calls, so these may call
// Drop().
class ExchangeListener {
 public:
  virtual ~ExchangeListener() = default;
  // The exchange is over, successfully or not; an error's message contains the reason only. The pool has released the
  // exchange before it calls this.
  virtual void OnEnded(Exchange& exchange, Result<void> ended) = 0;
  // The server has not processed the request, so it can safely be sent again. The pool has released the exchange.
  virtual void OnReturned(Exchange& exchange, const Error& why) = 0;
};

class ConnectionPool {
 public:
  virtual ~ConnectionPool() = default;

  // Sends a request. The pool holds the exchange until Drop() or a listener call.
  virtual void Begin(Exchange& exchange, const Headers& headers, const CredentialsPtr& credentials) = 0;
  // Releases an exchange at once, whatever state it is in.
  virtual void Drop(Exchange& exchange) = 0;
  // An exchange got no answer in time: gives up its connection if that has been silent for too long.
  virtual void Suspect(Exchange& exchange, SteadyTime now) = 0;
  // The caller has used this many bytes of a paced answer.
  virtual void Consumed(Exchange& exchange, size_t bytes) = 0;

  // Sends and receives whatever it can without waiting, and reports to the listener.
  virtual void Perform() = 0;
  // Returns when there may be something to do, at `until` at the latest; at once when the file descriptor `wake` is
  // readable.
  virtual void Wait(SteadyTime until, int wake) = 0;

  // The server does not speak this pool's protocol: everything on it has to move to another pool.
  virtual bool is_unsuitable() const { return false; }
};

using MakePool = std::function<std::unique_ptr<ConnectionPool>(ExchangeListener& listener)>;

}  // namespace berth::http
