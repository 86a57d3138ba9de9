// Http2Connection: one connection to an API server and the exchanges on it. Nothing here blocks; Perform() does
// whatever is possible now.
//
// The frames of all pending requests share a few TLS records and writes. Repeated headers (authorization, user-agent,
// accept) are sent once and then referred to, by HPACK.
//
// Requests are sent only after the server's SETTINGS have arrived, which say how many it allows at a time. If the
// server has been silent for a while with exchanges open, it is pinged; without an answer the connection is given up.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "http/byte_stream.h"
#include "http/exchange.h"
#include "http/transport_options.h"

typedef struct nghttp2_session nghttp2_session;

namespace berth::http {

class Http2Connection;

// An exchange on an HTTP/2 connection.
struct Http2Stream final : PoolState {
  Http2Stream(Exchange& carried, Headers fields, CredentialsPtr shown)
      : exchange(carried), headers(std::move(fields)), credentials(std::move(shown)) {}

  Exchange& exchange;
  Headers headers;
  CredentialsPtr credentials;
  Http2Connection* connection = nullptr;  // null: waits for one
  int32_t id = 0;
  bool went_out = false;  // at least its head
  size_t sent = 0;        // bytes of the body
  int status = 0;
  Headers answer{};  // the head that is coming in
};

class Http2Connection {
 public:
  enum class State { kOpening, kReady, kLeaving, kDead };
  // A stream that is over; the connection no longer refers to it.
  struct Ended {
    Http2Stream* stream;
    Result<void> how;
    bool unseen;  // not processed by the server: it may be sent again
  };

  // All must outlive this.
  Http2Connection(const Server& server, const TransportOptions& options, TlsContexts& contexts,
                  CredentialsPtr credentials);
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  // Opens the connection, writes what is pending, reads what has arrived, and appends the streams that have ended.
  void Perform(std::vector<Ended>& ended);
  // Gives up the connection for this reason.
  void Fail(Error why);

  // Adds a request, if HasRoom(); the next Perform() sends it.
  bool HasRoom() const;
  void Submit(Http2Stream& stream);
  // Drops a stream that has not ended.
  void Forget(Http2Stream& stream);
  void Consumed(Http2Stream& stream, size_t bytes);

  State state() const { return state_; }
  bool was_ready() const { return was_ready_; }
  // The handshake has shown that the server does not speak HTTP/2.
  bool is_unsuitable() const { return unsuitable_; }
  const Error& failure() const { return *failure_; }  // why it is dead
  const CredentialsPtr& credentials() const { return credentials_; }
  size_t streams() const { return streams_.size(); }
  // When data of any exchange last arrived; pings do not count.
  SteadyTime heard() const { return heard_; }

  // What to poll for.
  int fd() const { return stream_.fd(); }
  bool wants_write() const { return stream_.wants_write(); }
  bool has_more() const { return has_more_; }  // to do without polling
  SteadyTime next_check() const;

 private:
  friend struct Http2Callbacks;

  void Open();
  Result<void> Flush();
  Result<void> Receive();
  void CheckLife(SteadyTime now);
  void OnStreamClosed(Http2Stream& stream, uint32_t error_code);

  const Server& server_;
  const TransportOptions& options_;
  const CredentialsPtr credentials_;
  const SteadyTime created_;
  ByteStream stream_;
  nghttp2_session* session_ = nullptr;
  State state_ = State::kOpening;
  bool was_ready_ = false;
  bool unsuitable_ = false;
  bool has_more_ = false;
  std::optional<Error> failure_;
  std::unordered_set<Http2Stream*> streams_;
  std::vector<Ended> ended_;  // not reported yet
  std::string out_;           // not written yet, from out_begin_ on
  size_t out_begin_ = 0;
  std::vector<char> in_;
  SteadyTime heard_{}, alive_{};
  bool pinged_ = false;  // since alive_
};

}  // namespace berth::http
