#include "storm/api_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace berth::storm {
namespace {

void Send(const ExchangePtr& exchange, Reply reply, std::optional<Delivery> delivery = {}) {
  exchange->Answer(reply.code, std::move(reply.body), std::move(reply.headers), delivery);
}
void Send(const ExchangePtr& exchange, const Refusal& refusal) { Send(exchange, RefusalReply(refusal)); }

Refusal TooLarge(const std::string& version) {
  return {.code = 504,
          .reason = "Timeout",
          .message = fmt::format("Timeout: Too large resource version: {}, current: 1", version),
          .retry_after = 1,
          .cause = "ResourceVersionTooLarge"};
}

constexpr int kErrors[] = {500, 502, 503, 504};
constexpr int kUnreasonableWait = 3600;
constexpr base::Duration kAdmission = std::chrono::milliseconds(30);
constexpr base::Duration kLongestDoubt = std::chrono::seconds(6);

struct ProxyAnswer {
  int code;
  const char* body;
};
constexpr ProxyAnswer kProxyAnswers[] = {
    {404, "default backend - 404"},
    {200, "<html><form action=\"/login\">"},
    {401, "<html>Authorization Required"},
    {403, "<html>Forbidden"},
};

}  // namespace

ApiServer::ApiServer(Timeline& timeline, Store& store, Faults& faults, Trace& trace, ServerOptions options,
                     uint64_t seed)
    : timeline_(timeline),
      store_(store),
      faults_(faults),
      trace_(trace),
      options_(options),
      writes_(timeline, store, faults),
      watches_(timeline, store, faults, options.streaming, seed + 1) {}

void ApiServer::SetServed(api::Kind kind, bool served) {
  served ? static_cast<void>(not_served_.erase(kind)) : static_cast<void>(not_served_.insert(kind));
  if (!served) watches_.End(kind);
}

void ApiServer::Compact() {
  store_.Compact();
  continues_.clear();
}

void ApiServer::Serve(const ExchangePtr& exchange) {
  const http::Request& request = exchange->request();
  const Result<ApiRequest> parsed = ReadRequest(request);
  if (!parsed) return Send(exchange, Refusal{404, "NotFound", parsed.error().message});
  if (Refuse(exchange, *parsed)) return;
  if (request.method != "GET") return HandleWrite(exchange, *parsed);
  if (FailsToRelist(*exchange, *parsed)) {
    return Send(exchange, Refusal{.code = 500, .reason = "Timeout", .message = "etcdserver: request timed out"});
  }
  if (exchange->is_watch()) return watches_.Start(exchange, *parsed);
  parsed->name.empty() ? List(exchange, *parsed) : Get(exchange, *parsed);
}

bool ApiServer::Refuse(const ExchangePtr& exchange, const ApiRequest& request) {
  const bool is_read = exchange->request().method == "GET";
  if (is_read && not_served_.contains(request.kind)) {
    Send(exchange, Refusal{404, "NotFound", "the server could not find the requested resource"});
    return true;
  }
  if (faults_.Strikes(Fault::kTooManyRequests)) {
    Send(exchange, Refusal{.code = 429,
                           .reason = "TooManyRequests",
                           .message = "too many requests, please try again later",
                           // Some proxies ask for patience that no scheduler can have.
                           .retry_after = faults_.Below(Fault::kTooManyRequests, 8) == 0
                                              ? kUnreasonableWait
                                              : static_cast<int>(1 + faults_.Below(Fault::kTooManyRequests, 3))});
    return true;
  }
  if (faults_.Strikes(Fault::kServerError)) {
    exchange->Answer(kErrors[faults_.Below(Fault::kServerError, 4)], "no healthy upstream", {});
    return true;
  }
  const bool is_read_of_all = is_read && request.name.empty();
  if (is_read_of_all && faults_.Strikes(Fault::kNotFoundOnce)) {
    exchange->Answer(404, "default backend - 404", {});
    return true;
  }
  const bool is_of_lease = request.kind == api::Kind::kLease;
  const bool hides_outcome = is_read && request.kind == api::Kind::kPod && timeline_.Now() < in_doubt_until_;
  if (!request.name.empty() && !is_of_lease && (hides_outcome || faults_.Strikes(Fault::kProxyAnswers))) {
    const ProxyAnswer& answer = kProxyAnswers[faults_.Below(Fault::kProxyAnswers, std::size(kProxyAnswers))];
    exchange->Answer(answer.code, answer.body, {{"Content-Type", "text/html"}});
    return true;
  }
  const std::string& version = request.Parameter("resourceVersion");
  if (is_read_of_all && !version.empty() && version != "0" && faults_.Strikes(Fault::kVersionTooLarge)) {
    Send(exchange, TooLarge(version));
    return true;
  }
  return false;
}

bool ApiServer::FailsToRelist(const Exchange& exchange, const ApiRequest& request) const {
  if (options_.relists_latest || !request.name.empty() || !request.Parameter("continue").empty()) return false;
  const bool is_list = !exchange.is_watch() || request.Parameter("sendInitialEvents") == "true";
  return is_list && request.Parameter("resourceVersion").empty() && has_picture_ && has_picture_(exchange.process());
}

void ApiServer::List(const ExchangePtr& exchange, const ApiRequest& request) {
  const Result<FieldSelector> selector = FieldSelector::Parse(request.Parameter("fieldSelector"));
  if (!selector) return Send(exchange, Refusal{400, "BadRequest", selector.error().message});
  const std::string& token = request.Parameter("continue");
  const std::string& version = request.Parameter("resourceVersion");
  Rest rest;
  if (!token.empty()) {
    const auto found = continues_.find(token);
    if (found == continues_.end()) return Send(exchange, Expired("The provided continue parameter is too old"));
    rest = found->second;
  } else {
    const uint64_t least = std::strtoull(version.c_str(), nullptr, 10);
    rest.revision = version.empty() ? store_.revision() : watches_.CachedRevision(least);
    store_.ForEachAt(request.kind, rest.revision, [&](const api::Object& object) {
      if (selector->Matches(object)) rest.objects.push_back(object);
    });
  }
  size_t limit = std::strtoul(request.Parameter("limit").c_str(), nullptr, 10);
  if (limit > 0 && options_.page_size > 0) limit = std::min(limit, options_.page_size);
  if (version == "0" && !options_.pages_any_version) limit = 0;
  std::string next;
  if (limit > 0 && rest.objects.size() > limit) {
    next = fmt::format("token-{}", ++last_token_);
    const auto end = rest.objects.begin() + static_cast<std::ptrdiff_t>(limit);
    continues_[next] = {rest.revision, {end, rest.objects.end()}};
    rest.objects.erase(end, rest.objects.end());
  }
  const std::optional<Delivery> whole =
      next.empty() ? std::optional(Delivery{request.kind, rest.revision}) : std::nullopt;
  Send(exchange, ListReply(request.protobuf, request.kind, rest.objects, rest.revision, next), whole);
}

void ApiServer::Get(const ExchangePtr& exchange, const ApiRequest& request) {
  const api::Object* found = store_.FindObject(request.kind, request.Key());
  if (found == nullptr) {
    return Send(
        exchange,
        Refusal{404, "NotFound", fmt::format("{} \"{}\" not found", api::InfoOf(request.kind).resource, request.name)});
  }
  Send(exchange, ObjectReply(200, request.protobuf, *found));
}

void ApiServer::HandleWrite(const ExchangePtr& exchange, const ApiRequest& request) {
  Reply reply = writes_.Handle(exchange->request(), request,
                               {.process = exchange->process(), .life = exchange->life(), .sent = exchange->sent()});
  trace_.Add("server", "{} {} {} by {}: {} (revision {})", exchange->request().method, request.Key(),
             request.subresource, exchange->process(), reply.code, store_.revision());
  const bool is_binding = request.subresource == "binding";
  const bool is_in_doubt = is_binding && reply.code < 300 && faults_.Strikes(Fault::kInDoubt);
  if (is_in_doubt) {
    watches_.Stall(timeline_.Now() + faults_.UpTo(Fault::kInDoubt, kLongestDoubt));
    in_doubt_until_ = timeline_.Now() + kLongestDoubt;
  }
  if (is_in_doubt || (reply.code < 300 && faults_.Strikes(Fault::kServerErrorAfter))) {
    reply = RefusalReply({.code = 504, .reason = "Timeout", .message = "etcdserver: request timed out"});
  }
  if (is_binding && reply.code == kRefusedByAdmission) {
    // Admission takes its time.
    timeline_.After(kAdmission, [exchange, reply = std::move(reply)]() mutable { Send(exchange, std::move(reply)); });
    return;
  }
  Send(exchange, std::move(reply));
}

}  // namespace berth::storm
