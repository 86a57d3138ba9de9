#include "http/http1_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::http {
namespace {

// Consecutive reads before other connections get their turn.
constexpr int kReadsPerTurn = 16;
// A body up to this size is written together with its head.
constexpr size_t kSmallBody = size_t{16} << 10;
// While a connection is being opened: another address may have to be tried.
constexpr std::chrono::milliseconds kAddressCheck{500};

// Go's rule: a request that only reads may be sent twice.
bool IsSafeToRepeat(const Request& request) {
  const std::string& method = request.method;
  const bool only_reads = method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
  return only_reads && request.body.empty();
}

}  // namespace

Http1Connection::Http1Connection(const Server& server, const TransportOptions& options, TlsContexts& contexts,
                                 CredentialsPtr credentials)
    : options_(options),
      credentials_(std::move(credentials)),
      created_(std::chrono::steady_clock::now()),
      stream_(server, contexts, credentials_) {}

void Http1Connection::Begin(Http1Call& call, std::string head) {
  CHECK(call_ == nullptr && !dead_);
  call_ = &call;
  call.connection = this;
  head_ = std::move(head);
  body_ = call.exchange.request().body;
  if (body_.size() <= kSmallBody) head_ += std::exchange(body_, {});
  sent_ = 0;
  write_error_.reset();
  parser_.emplace(call.exchange.request().method, static_cast<Http1Parser::Sink&>(*this));
  received_ = false;
  unused_ = 0;
  ready_ = true;
}

void Http1Connection::Perform(std::span<char> buffer) {
  ready_ = false;
  if (!dead_ && !stream_.is_open()) Open();
  if (dead_ || !stream_.is_open()) return;
  if (call_ == nullptr) return ReadIdle(buffer);
  Write();
  Read(buffer);
}

void Http1Connection::Open() {
  const Result<bool> open = stream_.Advance();
  if (!open) return End(open.error());
  const auto took = std::chrono::steady_clock::now() - created_;
  if (*open || took < options_.connect_timeout) return;
  const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
  End(Error{ErrorCode::kDeadlineExceeded, fmt::format("Connection timed out after {} milliseconds", count)});
}

std::string_view Http1Connection::unsent() const {
  if (sent_ < head_.size()) return std::string_view(head_).substr(sent_);
  return body_.substr(sent_ - head_.size());
}

void Http1Connection::Write() {
  while (!write_error_ && !unsent().empty()) {
    const Result<size_t> written = stream_.Write(unsent());
    // The server may have answered before it stopped reading; reading will tell.
    if (!written) write_error_ = written.error();
    if (!written || *written == 0) return;
    sent_ += *written;
  }
}

size_t Http1Connection::allowance() const {
  return call_->exchange.is_paced() ? kPacedBytes - std::min(unused_, kPacedBytes) : kPacedBytes;
}

void Http1Connection::Read(std::span<char> buffer) {
  for (int turn = 0; turn < kReadsPerTurn; ++turn) {
    const size_t size = std::min(buffer.size(), allowance());
    if (size == 0) return;  // until Consumed()
    const Result<size_t> got = stream_.Read(buffer.data(), size);
    if (!got) return OnStreamEnd(got.error());
    if (*got == 0) return;
    received_ = true;
    Take({buffer.data(), *got});
    if (call_ == nullptr) return;
  }
  ready_ = true;
}

void Http1Connection::Take(std::string_view bytes) {
  const Result<size_t> taken = parser_->Take(bytes);
  if (!taken) return End(taken.error());
  if (!parser_->is_done()) return;
  // Bytes after the end of the answer were not requested, so the connection cannot be reused.
  const bool reusable = parser_->keeps_alive() && *taken == bytes.size() && unsent().empty();
  End({});
  dead_ = !reusable;
}

void Http1Connection::OnStreamEnd(const Error& error) {
  if (received_ && stream_.has_ended()) {
    Result<void> whole = parser_->TakeEnd();
    End(std::move(whole));
    dead_ = true;
    return;
  }
  // A server closes connections that have been idle for long, possibly just when the next request is being sent.
  const bool unseen = was_used_ && !received_ && (sent_ == 0 || IsSafeToRepeat(call_->exchange.request()));
  End(write_error_ ? *write_error_ : error, unseen);
}

void Http1Connection::ReadIdle(std::span<char> buffer) {
  const Result<size_t> got = stream_.Read(buffer.data(), buffer.size());
  dead_ = !got || *got > 0;  // bytes that were not requested
}

void Http1Connection::End(Result<void> how, bool unseen) {
  CHECK(call_ != nullptr);
  dead_ = !how;
  call_->connection = nullptr;
  ended_ = Ended{std::exchange(call_, nullptr), std::move(how), unseen};
  was_used_ = true;
  idle_since_ = std::chrono::steady_clock::now();
}

std::optional<Http1Connection::Ended> Http1Connection::TakeEnded() { return std::exchange(ended_, std::nullopt); }

void Http1Connection::OnHead(int status, Headers headers) { call_->exchange.TakeHead(status, std::move(headers)); }

Result<void> Http1Connection::OnData(std::string_view bytes) {
  if (call_->exchange.is_paced()) unused_ += bytes.size();
  if (!call_->exchange.TakeData(bytes)) return call_->exchange.CheckBody();
  return {};
}

void Http1Connection::Consumed(size_t bytes) {
  unused_ -= std::min(bytes, unused_);
  ready_ = true;
}

int Http1Connection::fd() const {
  const bool held_back = call_ != nullptr && stream_.is_open() && allowance() == 0 && !stream_.wants_write();
  return held_back ? -1 : stream_.fd();
}

SteadyTime Http1Connection::next_check() const {
  if (stream_.is_open()) return SteadyTime::max();
  return std::min(created_ + options_.connect_timeout, std::chrono::steady_clock::now() + kAddressCheck);
}

}  // namespace berth::http
