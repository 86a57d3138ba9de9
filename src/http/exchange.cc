#include "http/exchange.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/ascii.h"

namespace berth::http {
namespace {

constexpr int kUnauthorized = 401;

bool BreaksLine(char c) { return c == '\r' || c == '\n' || c == '\0'; }

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
  for (const auto& [name, value] : all) {
    if (std::any_of(value.begin(), value.end(), BreaksLine)) {
      return Error::InvalidArgument(fmt::format("invalid header field value for \"{}\"", name));
    }
  }
  return all;
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
  if (handler_.on_head) handler_.on_head({status, std::move(headers)});
}

void Exchange::TakeData(std::string_view bytes) {
  heard_ = std::chrono::steady_clock::now();
  received_ += bytes.size();
  if (!refused_ && handler_.on_data) handler_.on_data(bytes);
}

void Exchange::Retry() {
  retried_ = true;
  if (observer_ != nullptr) observer_->OnRetry(request_.method, server_.host(), status_);
}

SteadyTime Exchange::idle_deadline() const {
  if (wire_state == nullptr || request_.idle_timeout == base::Duration::zero()) return SteadyTime::max();
  return heard_ + request_.idle_timeout;
}

Error Exchange::Failed(ErrorCode code, std::string_view why) const {
  std::string method = request_.method;
  std::transform(method.begin() + (method.empty() ? 0 : 1), method.end(), method.begin() + (method.empty() ? 0 : 1),
                 [](unsigned char c) { return std::tolower(c); });
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
