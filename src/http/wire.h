// Wire: how exchanges get to a server and their answers back. The dispatcher decides what is sent when and what an
// outcome means; a wire only carries it. All but construction happens on the dispatcher's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "http/exchange.h"

namespace berth::http {

// What a wire tells. None of these calls back into the wire before the wire's own call has returned, but for Drop().
class WireOwner {
 public:
  virtual ~WireOwner() = default;
  // The exchange is over, well or not; the message of an error says why, and no more. The wire has to have let go of
  // it.
  virtual void OnEnded(Exchange& exchange, Result<void> ended) = 0;
  // The server has not seen it, and it may be sent again as if it had not been sent. The wire has let go of it.
  virtual void OnReturned(Exchange& exchange, const Error& why) = 0;
};

class Wire {
 public:
  virtual ~Wire() = default;

  // Puts a request on its way; Drop() or a call of the owner ends that.
  virtual void Begin(Exchange& exchange, const Headers& headers, const CredentialsPtr& credentials) = 0;
  // Lets go of an exchange at once, whatever state it is in.
  virtual void Drop(Exchange& exchange) = 0;
  // An exchange got no answer in time: gives up its connection if that has been silent for too long.
  virtual void Suspect(Exchange& exchange, SteadyTime now) = 0;
  // So many bytes of a paced answer have been used.
  virtual void Consumed(Exchange& exchange, size_t bytes) = 0;

  // Sends and receives what can be without waiting, and tells the owner.
  virtual void Perform() = 0;
  // Returns when there may be something to do, at the latest when `until` has come; at once when `wake`, a file
  // descriptor, can be read.
  virtual void Wait(SteadyTime until, int wake) = 0;

  // The server does not speak what this wire speaks: everything on it has to go another way.
  virtual bool is_unsuitable() const { return false; }
};

using MakeWire = std::function<std::unique_ptr<Wire>(WireOwner& owner)>;

}  // namespace berth::http
