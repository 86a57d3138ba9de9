// Http1Connection: one connection to a server and the exchange on it, one at a time. Nothing here blocks; Perform()
// does whatever is possible now.
//
//   opening → carrying an exchange ⇄ idle
//        \__________________|__________/→ dead
//
// A connection is opened for a particular exchange, so it has one from the beginning. Dropping an exchange closes its
// connection, because the rest of the answer may still arrive on it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/byte_stream.h"
#include "http/exchange.h"
#include "http/http1_parser.h"
#include "http/transport_options.h"

namespace berth::http {

class Http1Connection;

// An exchange on an HTTP/1.1 connection.
struct Http1Call final : PoolState {
  explicit Http1Call(Exchange& carried) : exchange(carried) {}

  Exchange& exchange;
  Http1Connection* connection = nullptr;
};

class Http1Connection final : private Http1Parser::Sink {
 public:
  // An exchange that is over; the connection no longer refers to it.
  struct Ended {
    Http1Call* call;
    Result<void> how;
    bool unseen;  // not processed by the server: it may be sent again
  };

  // All must outlive this.
  Http1Connection(const Server& server, const TransportOptions& options, TlsContexts& contexts,
                  CredentialsPtr credentials);
  Http1Connection(const Http1Connection&) = delete;
  Http1Connection& operator=(const Http1Connection&) = delete;

  // Queues a request for the next Perform(); there must be no other exchange. `head` ends with an empty line.
  void Begin(Http1Call& call, std::string head);
  // Opens the connection, writes what is pending and reads what has arrived into `buffer`.
  void Perform(std::span<char> buffer);
  // The exchange that has ended since the last call, if any.
  std::optional<Ended> TakeEnded();
  void Consumed(size_t bytes);

  bool is_dead() const { return dead_; }
  bool is_opening() const { return !dead_ && !stream_.is_open(); }
  bool is_idle() const { return !dead_ && call_ == nullptr && stream_.is_open(); }
  SteadyTime idle_since() const { return idle_since_; }
  const CredentialsPtr& credentials() const { return credentials_; }

  // What to poll for; -1: nothing, because the server is being throttled.
  int fd() const;
  bool wants_write() const { return stream_.wants_write(); }
  // There is something to do regardless of the file descriptor: set by Begin() and Consumed(), by the caller after
  // polling, and when there was more to read than fits into one turn.
  bool is_ready() const { return ready_; }
  void SetReady() { ready_ = true; }
  SteadyTime next_check() const;

 private:
  void OnHead(int status, Headers headers) override;
  Result<void> OnData(std::string_view bytes) override;

  void Open();
  void Write();
  void Read(std::span<char> buffer);
  void ReadIdle(std::span<char> buffer);
  void Take(std::string_view bytes);
  void OnStreamEnd(const Error& error);
  // The unsent rest of the request, head and body.
  std::string_view unsent() const;
  // How many bytes may be read before the server is throttled.
  size_t allowance() const;
  void End(Result<void> how, bool unseen = false);

  const TransportOptions& options_;
  const CredentialsPtr credentials_;
  const SteadyTime created_;
  ByteStream stream_;
  bool dead_ = false;
  bool ready_ = true;
  bool was_used_ = false;  // an exchange has ended on it before this one
  SteadyTime idle_since_{};
  std::optional<Ended> ended_;

  // About the current exchange.
  Http1Call* call_ = nullptr;
  std::string head_;       // of the request, and its body if that is small
  std::string_view body_;  // otherwise
  size_t sent_ = 0;        // bytes of both
  std::optional<Error> write_error_;
  std::optional<Http1Parser> parser_;
  bool received_ = false;  // anything of the answer
  size_t unused_ = 0;      // bytes of a paced answer
};

}  // namespace berth::http
