#include "http/http2_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "http/http2_callbacks.h"

namespace berth::http {
namespace {

// The size of one TLS record, and of one write.
constexpr size_t kRecord = size_t{16} << 10;
constexpr size_t kReadBuffer = size_t{32} << 10;
// Consecutive reads before writing gets its turn.
constexpr int kReadsInARow = 16;
// While a connection is being opened: another address may have to be tried.
constexpr std::chrono::milliseconds kOpeningCheck{500};

nghttp2_nv Field(std::string_view name, std::string_view value) {
  return {.name = reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          .value = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

Http2Connection::Http2Connection(const Server& server, const TransportOptions& options, TlsContexts& contexts,
                                 CredentialsPtr credentials)
    : server_(server),
      options_(options),
      credentials_(std::move(credentials)),
      created_(std::chrono::steady_clock::now()),
      stream_(server, contexts, credentials_) {}

Http2Connection::~Http2Connection() {
  if (session_ == nullptr) return;
  if (state_ != State::kDead) {
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
    static_cast<void>(Flush());
  }
  nghttp2_session_del(session_);
}

void Http2Connection::Perform(std::vector<Ended>& ended) {
  const SteadyTime now = std::chrono::steady_clock::now();
  has_more_ = false;
  if (state_ != State::kDead && session_ == nullptr) Open();
  if (state_ != State::kDead && session_ != nullptr) {
    Result<void> went = Flush();
    if (went) went = Receive();
    if (went) went = Flush();
    const bool is_over = nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
    if (went && is_over) went = Error::Unavailable("the HTTP/2 connection was ended");
    if (!went) Fail(went.error());
  }
  if (state_ != State::kDead) CheckLife(now);
  if (state_ == State::kDead) {
    for (Http2Stream* stream : std::exchange(streams_, {})) {
      stream->connection = nullptr;
      ended_.push_back({stream, *failure_, !stream->went_out});
    }
  }
  std::move(ended_.begin(), ended_.end(), std::back_inserter(ended));
  ended_.clear();
}

void Http2Connection::Open() {
  const Result<bool> open = stream_.Advance();
  if (!open) return Fail(open.error());
  if (!*open) return;
  if (!stream_.speaks_http2()) {
    unsuitable_ = true;
    return Fail(Error::Unavailable("the server does not speak HTTP/2"));
  }
  heard_ = alive_ = std::chrono::steady_clock::now();
  session_ = Http2Callbacks::MakeSession(*this);
}

void Http2Connection::Fail(Error why) {
  if (state_ == State::kDead) return;
  state_ = State::kDead;
  failure_ = std::move(why);
}

Result<void> Http2Connection::Flush() {
  for (;;) {
    while (out_.size() - out_begin_ < kRecord) {
      const uint8_t* frame = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &frame);
      if (size < 0) return Error::Unavailable(nghttp2_strerror(static_cast<int>(size)));
      if (size == 0) break;
      out_.append(reinterpret_cast<const char*>(frame), static_cast<size_t>(size));
    }
    if (out_begin_ == out_.size()) break;
    const Result<size_t> written = stream_.Write(std::string_view(out_).substr(out_begin_, kRecord));
    if (!written) return written.error();
    if (*written == 0) return {};  // the server reads slowly
    out_begin_ += *written;
    if (out_begin_ < kRecord && out_begin_ < out_.size()) continue;
    out_.erase(0, out_begin_);
    out_begin_ = 0;
  }
  out_.clear();
  out_begin_ = 0;
  return {};
}

Result<void> Http2Connection::Receive() {
  in_.resize(kReadBuffer);
  for (int reads = 0; reads < kReadsInARow; ++reads) {
    const Result<size_t> got = stream_.Read(in_.data(), in_.size());
    if (!got) return got.error();
    if (*got == 0) return {};
    alive_ = std::chrono::steady_clock::now();
    pinged_ = false;
    const ssize_t taken = nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(in_.data()), *got);
    if (taken < 0) return Error::Unavailable(nghttp2_strerror(static_cast<int>(taken)));
  }
  has_more_ = true;
  return {};
}

SteadyTime Http2Connection::next_check() const {
  if (state_ == State::kDead) return SteadyTime::min();
  if (state_ == State::kOpening) {
    return std::min(created_ + options_.connect_timeout, std::chrono::steady_clock::now() + kOpeningCheck);
  }
  if (streams_.empty()) return SteadyTime::max();
  return alive_ + (pinged_ ? 2 : 1) * options_.silence;
}

void Http2Connection::CheckLife(SteadyTime now) {
  if (state_ == State::kOpening) {
    if (now - created_ < options_.connect_timeout) return;
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(now - created_).count();
    return Fail({ErrorCode::kDeadlineExceeded, fmt::format("Connection timed out after {} milliseconds", took)});
  }
  if (streams_.empty() || now - alive_ < options_.silence) return;
  if (!std::exchange(pinged_, true)) {
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    if (Result<void> flushed = Flush(); !flushed) Fail(flushed.error());
  } else if (now - alive_ >= 2 * options_.silence) {
    Fail(Error::Unavailable("the connection has gone silent"));
  }
}

bool Http2Connection::HasRoom() const {
  if (state_ != State::kReady || nghttp2_session_check_request_allowed(session_) == 0) return false;
  const size_t allowed = nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  return streams_.size() < std::max<size_t>(1, allowed);
}

void Http2Connection::Submit(Http2Stream& stream) {
  const Request& request = stream.exchange.request();
  const std::string path = server_.prefix() + request.path, length = std::to_string(request.body.size());
  std::vector<nghttp2_nv> fields = {Field(":method", request.method), Field(":scheme", "https"),
                                    Field(":authority", server_.host()), Field(":path", path)};
  for (auto& [name, value] : stream.headers) {
    name = base::LowerCase(name);
    fields.push_back(Field(name, value));
  }
  const bool has_body = !request.body.empty() || request.method == "POST";
  if (has_body) fields.push_back(Field("content-length", length));
  nghttp2_data_provider body = Http2Callbacks::BodyOf(stream);
  const int32_t id = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                            request.body.empty() ? nullptr : &body, &stream);
  streams_.insert(&stream);
  stream.connection = this;
  stream.id = id;
  if (id < 0) {
    // A connection runs out of stream ids after about a thousand million requests.
    state_ = State::kLeaving;
    streams_.erase(&stream);
    stream.connection = nullptr;
    ended_.push_back({&stream, Error::Unavailable(nghttp2_strerror(id)), true});
  }
}

void Http2Connection::Forget(Http2Stream& stream) {
  stream.connection = nullptr;
  CHECK(streams_.erase(&stream) == 1);
  nghttp2_session_set_stream_user_data(session_, stream.id, nullptr);
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_CANCEL);
}

void Http2Connection::Consumed(Http2Stream& stream, size_t bytes) {
  if (stream.id > 0 && stream.exchange.is_paced()) nghttp2_session_consume_stream(session_, stream.id, bytes);
}

// nghttp2 has closed a stream.
void Http2Connection::OnStreamClosed(Http2Stream& stream, uint32_t error_code) {
  streams_.erase(&stream);
  stream.connection = nullptr;
  Result<void> how = stream.exchange.CheckBody();
  if (how && error_code != NGHTTP2_NO_ERROR) {
    how = Error::Unavailable(fmt::format("stream error: {}", nghttp2_http2_strerror(error_code)));
  }
  const bool unseen = !stream.went_out || (error_code == NGHTTP2_REFUSED_STREAM && !stream.exchange.answered());
  ended_.push_back({&stream, std::move(how), unseen});
}

}  // namespace berth::http
