#include "http/http1_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/ascii.h"

namespace berth::http {
namespace {

Error Malformed(std::string_view why) { return Error::Unavailable(fmt::format("malformed HTTP response: {}", why)); }

// For an error message: a server may have sent anything.
std::string Excerpt(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 60)) {
    const bool is_plain = c >= ' ' && c < 0x7f && c != '"' && c != '\\';
    out += is_plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return "\"" + out + (text.size() > 60 ? "…\"" : "\"");
}

// Spaces and tabs are all the white space that HTTP has.
std::string_view WithoutBlanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool HasListItem(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (base::EqualIgnoringCase(WithoutBlanks(list.substr(0, comma)), item)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

bool IsTokenChar(char c) {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter || base::IsDigit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// The whole text has to be a number.
std::optional<uint64_t> NumberIn(std::string_view text, int base) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool IsToken(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), &IsTokenChar); }

bool IsFieldValue(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && c != '\t') || byte == 0x7f;
  });
}

Result<size_t> Http1Parser::Take(std::string_view bytes) {
  const size_t given = bytes.size();
  while (!bytes.empty() && state_ != State::kDone) {
    const Result<void> taken = is_in_lines() ? TakeLine(bytes) : TakeBody(bytes);
    if (!taken) return taken.error();
  }
  return given - bytes.size();
}

Result<void> Http1Parser::TakeEnd() {
  if (state_ == State::kBodyUntilClose) state_ = State::kDone;
  if (state_ == State::kDone) return {};
  const bool in_head = state_ == State::kStatusLine || state_ == State::kFields;
  return Error::Unavailable(in_head ? "the connection was closed before the answer" : "the answer is incomplete");
}

Result<void> Http1Parser::TakeLine(std::string_view& bytes) {
  const size_t newline = bytes.find('\n');
  const size_t used = newline == std::string_view::npos ? bytes.size() : newline + 1;
  const bool is_chunk_line = state_ == State::kChunkSize || state_ == State::kChunkEnd;
  if (is_chunk_line && line_.size() + used > kMaxChunkLine) return Malformed("the line of a chunk is too long");
  if (!is_chunk_line && (head_bytes_ += used) > kMaxHeadBytes) {
    return Malformed(fmt::format("the head is larger than {} bytes", kMaxHeadBytes));
  }
  std::string_view line = bytes.substr(0, used);
  bytes.remove_prefix(used);
  if (newline == std::string_view::npos || !line_.empty()) {
    line_ += line;
    if (newline == std::string_view::npos) return {};
    line = line_;
  }
  line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const Result<void> taken = OnLine(line);
  line_.clear();
  return taken;
}

Result<void> Http1Parser::OnLine(std::string_view line) {
  switch (state_) {
    case State::kStatusLine:
      return OnStatusLine(line);
    case State::kFields:
      return line.empty() ? OnHeadEnd() : OnField(line);
    case State::kChunkSize:
      return OnChunkSize(line);
    case State::kChunkEnd:
      if (!line.empty()) return Malformed("a chunk is longer than its size");
      state_ = State::kChunkSize;
      return {};
    case State::kTrailers:
      if (!line.empty()) return OnField(line);
      state_ = State::kDone;
      return {};
    default:
      CHECK(false);
      return {};
  }
}

Result<void> Http1Parser::OnStatusLine(std::string_view line) {
  const bool is_http1 = line.starts_with("HTTP/1.0 ") || line.starts_with("HTTP/1.1 ");
  const std::string_view number = is_http1 ? line.substr(9, 3) : "";
  const std::optional<uint64_t> status = NumberIn(number, 10);
  const bool ends_there = line.size() == 12 || (line.size() > 12 && line[12] == ' ');
  if (!status || *status < 100 || !ends_there || !IsFieldValue(line)) {
    return Malformed(fmt::format("expected a status line, found {}", Excerpt(line)));
  }
  is_1_0_ = line[7] == '0';
  status_ = static_cast<int>(*status);
  reason_ = line.size() > 13 ? line.substr(13) : "";
  headers_.clear();
  state_ = State::kFields;
  return {};
}

Result<void> Http1Parser::OnField(std::string_view line) {
  if (++fields_ > kMaxFields) return Malformed(fmt::format("the head has more than {} fields", kMaxFields));
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
    return Malformed(fmt::format("expected \"name: value\", found {}", Excerpt(line)));
  }
  const std::string_view value = WithoutBlanks(line.substr(colon + 1));
  if (!IsFieldValue(value)) {
    return Malformed(fmt::format("invalid value of field {}", Excerpt(line.substr(0, colon))));
  }
  // Trailers are validated but not used.
  if (state_ == State::kFields) headers_.emplace_back(base::LowerCase(line.substr(0, colon)), value);
  return {};
}

Result<void> Http1Parser::OnHeadEnd() {
  if (status_ == 101) return Malformed("the server switches to a protocol that was not asked for");
  if (status_ < 200) {
    if (++informational_ > kMaxInformational) return Malformed("too many informational heads (status 1xx)");
    state_ = State::kStatusLine;
    return {};
  }
  if (Result<void> chosen = ChooseBody(); !chosen) return chosen;
  // Trailers have their own limit.
  head_bytes_ = 0;
  sink_.OnHead(status_, std::move(headers_));
  return {};
}

// How the body is delimited, by RFC 9112, section 6.3.
Result<void> Http1Parser::ChooseBody() {
  std::optional<std::string_view> length, encoding;
  bool says_close = false, says_keep = false;
  for (const auto& [name, value] : headers_) {
    if (name == "connection") {
      says_close = says_close || HasListItem(value, "close");
      says_keep = says_keep || HasListItem(value, "keep-alive");
    } else if (name == "content-length") {
      if (length && *length != value) return Malformed("two lengths that disagree");
      length = value;
    } else if (name == "transfer-encoding") {
      if (encoding || !base::EqualIgnoringCase(value, "chunked") || is_1_0_) {
        return Malformed(fmt::format("unsupported transfer encoding {}", Excerpt(value)));
      }
      encoding = value;
    }
  }
  const std::optional<uint64_t> size = length ? NumberIn(*length, 10) : std::nullopt;
  if (length && !size) return Malformed(fmt::format("expected a length, found {}", Excerpt(*length)));
  if (length && encoding) return Malformed("both a length and chunks");
  keeps_alive_ = !says_close && (!is_1_0_ || says_keep);

  const bool is_tunnel = method_ == "CONNECT" && status_ < 300;
  if (method_ == "HEAD" || is_tunnel || status_ == 204 || status_ == 304) {
    state_ = State::kDone;
  } else if (encoding) {
    state_ = State::kChunkSize;
  } else if (size) {
    remaining_ = *size;
    state_ = remaining_ == 0 ? State::kDone : State::kBody;
  } else {
    keeps_alive_ = false;
    state_ = State::kBodyUntilClose;
  }
  return {};
}

Result<void> Http1Parser::OnChunkSize(std::string_view line) {
  // Chunk extensions are ignored.
  const std::string_view digits = WithoutBlanks(line.substr(0, line.find(';')));
  const std::optional<uint64_t> size = NumberIn(digits, 16);
  if (!size || !IsFieldValue(line))
    return Malformed(fmt::format("expected the size of a chunk, found {}", Excerpt(line)));
  remaining_ = *size;
  state_ = remaining_ == 0 ? State::kTrailers : State::kChunk;
  return {};
}

Result<void> Http1Parser::TakeBody(std::string_view& bytes) {
  std::string_view data = bytes;
  if (state_ != State::kBodyUntilClose) {
    data = bytes.substr(0, std::min<uint64_t>(bytes.size(), remaining_));
    remaining_ -= data.size();
    if (remaining_ == 0) state_ = state_ == State::kBody ? State::kDone : State::kChunkEnd;
  }
  bytes.remove_prefix(data.size());
  return sink_.OnData(data);
}

}  // namespace berth::http
