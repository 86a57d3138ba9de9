// ConnectionPool: the connections to one server, and how exchanges get over them. The dispatcher decides what is sent
// when and what an outcome means; a pool only carries it. All but construction happens on the dispatcher's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "http/exchange.h"

namespace berth::http {

// What a pool reports. It never calls these from within a call of its own that is still under way; they may call
// Drop().
class ExchangeListener {
 public:
  virtual ~ExchangeListener() = default;
  // The exchange is over, successfully or not; the message of an error gives the reason alone. The pool has let go of
  // it before it calls this.
  virtual void OnEnded(Exchange& exchange, Result<void> ended) = 0;
  // The server has not processed it, and it may be sent again as if it had not been sent. The pool has let go of it.
  virtual void OnReturned(Exchange& exchange, const Error& why) = 0;
};

class ConnectionPool {
 public:
  virtual ~ConnectionPool() = default;

  // Sends a request; Drop() or a call of the listener ends that.
  virtual void Begin(Exchange& exchange, const Headers& headers, const CredentialsPtr& credentials) = 0;
  // Lets go of an exchange at once, whatever state it is in.
  virtual void Drop(Exchange& exchange) = 0;
  // An exchange got no answer in time: gives up its connection if that has been silent for too long.
  virtual void Suspect(Exchange& exchange, SteadyTime now) = 0;
  // So many bytes of a paced answer have been used.
  virtual void Consumed(Exchange& exchange, size_t bytes) = 0;

  // Sends and receives what can be without waiting, and reports to the listener.
  virtual void Perform() = 0;
  // Returns when there may be something to do, at the latest at `until`; at once when `wake`, a file descriptor, can be
  // read.
  virtual void Wait(SteadyTime until, int wake) = 0;

  // The server does not speak the protocol of this pool: everything on it has to go over another one.
  virtual bool is_unsuitable() const { return false; }
};

using MakePool = std::function<std::unique_ptr<ConnectionPool>(ExchangeListener& listener)>;

}  // namespace berth::http
