// Http1Parser: parses the answer to one HTTP/1.1 request from its bytes, however the network has split them.
//
// Anything that two parsers might read differently is rejected, so that no answer can smuggle in another one: control
// characters in fields, white space before a colon, folded lines, conflicting lengths, a length together with chunks.
// Everything that is buffered is bounded. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/transport.h"

namespace berth::http {

class Http1Parser {
 public:
  class Sink {
   public:
    virtual ~Sink() = default;
    // Called once, with names in lower case. Heads with a 1xx status are skipped.
    virtual void OnHead(int status, Headers headers) = 0;
    // An error is returned by Take().
    virtual Result<void> OnData(std::string_view bytes) = 0;
  };

  static constexpr size_t kMaxHeadBytes = size_t{256} << 10;  // of all heads, and of trailers
  static constexpr size_t kMaxFields = 1000;
  static constexpr size_t kMaxInformational = 5;  // heads of status 1xx before the answer, as in Go
  static constexpr size_t kMaxChunkLine = size_t{4} << 10;

  // `method` is the request's: it decides whether there is a body. `sink` must outlive this.
  Http1Parser(std::string_view method, Sink& sink) : sink_(sink), method_(method) {}

  // Returns how many of the bytes belong to the answer: all of them until it is complete. Unusable after an error.
  Result<size_t> Take(std::string_view bytes);
  // The server has closed the connection: an error unless that ends the answer.
  Result<void> TakeEnd();

  bool is_done() const { return state_ == State::kDone; }
  // The answer is complete and the connection can be reused.
  bool keeps_alive() const { return keeps_alive_; }
  // What follows the number in the status line.
  const std::string& reason() const { return reason_; }

 private:
  enum class State {
    kStatusLine,
    kFields,
    kBody,  // remaining_ bytes of it
    kBodyUntilClose,
    kChunkSize,
    kChunk,  // remaining_ bytes of it
    kChunkEnd,
    kTrailers,
    kDone
  };

  bool is_in_lines() const {
    return state_ != State::kBody && state_ != State::kBodyUntilClose && state_ != State::kChunk;
  }
  // Both consume the bytes they use.
  Result<void> TakeLine(std::string_view& bytes);
  Result<void> TakeBody(std::string_view& bytes);
  Result<void> OnLine(std::string_view line);
  Result<void> OnStatusLine(std::string_view line);
  Result<void> OnField(std::string_view line);
  Result<void> OnChunkSize(std::string_view line);
  Result<void> OnHeadEnd();
  Result<void> ChooseBody();

  Sink& sink_;
  const std::string method_;
  State state_ = State::kStatusLine;
  std::string line_;  // the beginning of an incomplete line
  size_t head_bytes_ = 0;
  size_t fields_ = 0;
  size_t informational_ = 0;
  int status_ = 0;
  std::string reason_;
  bool is_1_0_ = false;
  bool keeps_alive_ = false;
  Headers headers_;
  uint64_t remaining_ = 0;
};

// Whether it is valid as a method or as the name of a field.
bool IsToken(std::string_view text);
// Whether it is valid as the value of a field: no control characters.
bool IsFieldValue(std::string_view text);

}  // namespace berth::http
