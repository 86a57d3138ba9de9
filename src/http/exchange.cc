#include "http/exchange.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "http/http1_parser.h"

namespace berth::http {
namespace {

constexpr int kUnauthorized = 401;

// White space and control characters would end the request target, and with it the request line.
bool EndsTarget(char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; }

}  // namespace

Exchange::Exchange(CallId call, Request request, ResponseHandler handler, const Server& server,
                   RequestObserver* observer)
    : id(call), request_(std::move(request)), handler_(std::move(handler)), server_(server), observer_(observer) {}

bool Exchange::HasHeader(std::string_view name) const {
  return std::any_of(request_.headers.begin(), request_.headers.end(),
                     [&](const auto& header) { return base::EqualIgnoringCase(header.first, name); });
}

Result<Headers> Exchange::Begin(CredentialsPtr credentials) {
  credentials_ = std::move(credentials);
  answered_ = refused_ = false;
  status_ = 0;
  received_ = 0;
  decoder_.reset();
  body_error_.reset();
  begun_ = heard_ = std::chrono::steady_clock::now();

  Headers all = request_.headers;
  const RestConfig& config = server_.config();
  if (!credentials_->authorization.empty() && !HasHeader("Authorization")) {
    all.emplace_back("Authorization", credentials_->authorization);
  }
  if (!config.user_agent.empty() && !HasHeader("User-Agent")) all.emplace_back("User-Agent", config.user_agent);
  if (!HasHeader("Impersonate-User")) {
    all.insert(all.end(), config.impersonation.begin(), config.impersonation.end());
  }
  accepts_gzip_ = !config.disable_compression && request_.method != "HEAD" && !HasHeader("Accept-Encoding");
  if (accepts_gzip_) all.emplace_back("Accept-Encoding", "gzip");
  if (Result<void> right = CheckRequest(all); !right) return right.error();
  return all;
}

// A request must not contain anything that a server could take for the end of a line or of the request.
Result<void> Exchange::CheckRequest(const Headers& headers) const {
  if (!IsToken(request_.method)) return Error::InvalidArgument("invalid method");
  for (const std::string_view part : {std::string_view(server_.config().server), std::string_view(request_.path)}) {
    if (std::any_of(part.begin(), part.end(), &EndsTarget))
      return Error::InvalidArgument("invalid character in the URL");
  }
  for (const auto& [name, value] : headers) {
    if (!IsToken(name)) return Error::InvalidArgument(fmt::format("invalid header field name \"{}\"", name));
    if (!IsFieldValue(value)) {
      return Error::InvalidArgument(fmt::format("invalid header field value for \"{}\"", name));
    }
  }
  return {};
}

void Exchange::TakeHead(int status, Headers headers) {
  heard_ = std::chrono::steady_clock::now();
  answered_ = true;
  status_ = status;
  if (observer_ != nullptr) observer_->OnAnswer(request_.method, server_.host(), status, heard_ - begun_);
  if (status == kUnauthorized && !retried_ && !HasHeader("Authorization") &&
      server_.config().credentials->Refuse(credentials_)) {
    refused_ = true;
    return;
  }
  if (accepts_gzip_) ChooseDecoder(headers);
  if (handler_.on_head) handler_.on_head({status, std::move(headers)});
}

void Exchange::ChooseDecoder(Headers& headers) {
  const auto is_gzip = [](const auto& header) {
    return header.first == "content-encoding" && base::EqualIgnoringCase(header.second, "gzip");
  };
  if (std::none_of(headers.begin(), headers.end(), is_gzip)) return;
  decoder_.emplace();
  // They do not describe the decoded body that the handler sees.
  std::erase_if(headers, [](const auto& header) {
    return header.first == "content-encoding" || header.first == "content-length";
  });
}

bool Exchange::TakeData(std::string_view bytes) {
  heard_ = std::chrono::steady_clock::now();
  received_ += bytes.size();
  if (refused_ || body_error_) return !body_error_;
  const auto hand_on = [this](std::string_view data) {
    if (handler_.on_data) handler_.on_data(data);
  };
  if (!decoder_) {
    hand_on(bytes);
    return true;
  }
  const Result<void> decoded = decoder_->Take(bytes, hand_on);
  if (!decoded) body_error_ = decoded.error();
  return decoded.ok();
}

Result<void> Exchange::CheckBody() const {
  if (body_error_) return *body_error_;
  if (decoder_ && !decoder_->is_whole()) return Error::Unavailable("the compressed answer is incomplete");
  return {};
}

void Exchange::Retry() {
  retried_ = true;
  if (observer_ != nullptr) observer_->OnRetry(request_.method, server_.host(), status_);
}

SteadyTime Exchange::idle_deadline() const {
  if (pool_state == nullptr || request_.idle_timeout == base::Duration::zero()) return SteadyTime::max();
  return heard_ + request_.idle_timeout;
}

Error Exchange::Failed(ErrorCode code, std::string_view why) const {
  std::string method = request_.method;
  for (size_t i = 1; i < method.size(); ++i) method[i] = base::LowerCase(method[i]);
  return {code, fmt::format("{} \"{}{}\": {}", method, server_.config().server, request_.path, why)};
}

void Exchange::Finish(Result<void> ended) {
  if (observer_ != nullptr && has_begun()) {
    if (!answered_) {
      observer_->OnAnswer(request_.method, server_.host(), 0, std::chrono::steady_clock::now() - begun_);
    }
    observer_->OnEnd(request_.method, server_.host(), request_.body.size(), received_);
  }
  if (handler_.on_done) handler_.on_done(std::move(ended));
}

}  // namespace berth::http
