#include "storm/network.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration kShortestTrip = 200us;
constexpr uint64_t kTripSpread = 3'000'000;  // nanoseconds
constexpr base::Duration kLongestDelay = 3s;
constexpr base::Duration kSlowestBind = 20s;
constexpr base::Duration kShortestAbsence = 4s;
constexpr base::Duration kLongestAbsence = 8s;
// A request about the lease has five seconds, a lease lasts 15.
constexpr base::Duration kSlowestLease = 7s;
constexpr base::Duration kSlowButInTime = 3s;
constexpr base::Duration kShortestStall = 12s;
constexpr base::Duration kSlowestPatch = 3s;
constexpr base::Duration kSlowestVolume = 8s;

// For a watch, without the parameters that are always the same.
std::string PathOf(const http::Request& request) {
  const size_t mark = request.path.find("?watch=true");
  if (mark == std::string::npos) return request.path;
  std::string text = request.path.substr(0, mark) + "?watch";
  if (const size_t from = request.path.find("&resourceVersion="); from != std::string::npos) {
    text += request.path.substr(from, request.path.find('&', from + 1) - from);
  }
  return text + (request.path.find("&sendInitialEvents") != std::string::npos ? "&sendInitialEvents" : "");
}

bool IsBinding(const http::Request& request) { return request.path.ends_with("/binding"); }
bool IsOfLease(const http::Request& request) { return request.path.find("/leases") != std::string::npos; }
bool IsLeaseWrite(const http::Request& request) { return request.method != "GET" && IsOfLease(request); }
// Not of a lease: one that is renewed late, without its holder knowing, would make every storm wait for its end.
bool IsWrite(const http::Request& request) { return request.method != "GET" && !IsLeaseWrite(request); }
bool IsClaimWrite(const http::Request& request) {
  return request.method != "GET" && request.path.find("/resourceclaims/") != std::string::npos;
}
bool IsVolumeWrite(const http::Request& request) {
  return request.method == "PATCH" && request.path.find("/persistentvolume") != std::string::npos;
}
bool IsStatusPatch(const http::Request& request) {
  return request.method == "PATCH" && request.path.ends_with("/status");
}

bool IsEviction(const http::Request& request) {
  return IsStatusPatch(request) && request.body.find("DisruptionTarget") != std::string::npos;
}

}  // namespace

// ---- Exchange: the server's side.

Exchange::Exchange(Network& network, ProcessTransport& transport, http::CallId id, http::Request request,
                   http::ResponseHandler handler)
    : network_(network),
      transport_(&transport),
      process_(transport.process_.name()),
      life_(transport.process_.life()),
      id_(id),
      request_(std::move(request)),
      is_watch_(request_.path.find("watch=true") != std::string::npos),
      sent_(network.timeline_.Now()),
      handler_(std::move(handler)) {}

void Exchange::Head(int status, http::Headers headers) {
  if (!open()) return;
  Faults& faults = network_.faults_;
  if (network_.trace_.on()) network_.trace_.Add(process_, "<- {} {} {}", status, request_.method, PathOf(request_));
  if (!is_watch_ && faults.Strikes(Fault::kAnswerLost)) {
    network_.trace_.Add(process_, "answer lost: {} {}", request_.method, PathOf(request_));
    if (faults.Below(Fault::kAnswerLost, 2) == 0) {
      silent_ = true;
    } else {
      Push({.end = Error::Unavailable("connection reset by peer")});
    }
    answered_ = true;
    return;
  }
  if (answer_delay_ > base::Duration::zero()) last_arrival_ = network_.timeline_.Now() + answer_delay_;
  Push({.head = http::ResponseHead{.status = status, .headers = std::move(headers)}});
}

void Exchange::Data(std::string bytes, std::optional<Delivery> delivery) {
  if (!open() || bytes.empty()) return;
  Faults& faults = network_.faults_;
  if (is_watch_ && faults.Strikes(Fault::kSilentStream)) {
    network_.trace_.Add(process_, "silent from here: {}", PathOf(request_));
    silent_ = true;
    return;
  }
  if (is_watch_ && faults.Strikes(Fault::kBrokenStream)) {
    bytes.resize(faults.Below(Fault::kBrokenStream, bytes.size()));
    if (!bytes.empty()) Push({.data = std::move(bytes)});
    return End(Error::Unavailable("connection reset by peer"));
  }
  if (bytes.size() > 1 && faults.Strikes(Fault::kTornFrame)) {
    const size_t cut = 1 + faults.Below(Fault::kTornFrame, bytes.size() - 1);
    Push({.data = bytes.substr(0, cut)});
    bytes.erase(0, cut);
  }
  Push({.data = std::move(bytes), .delivery = delivery});
}

void Exchange::End(Result<void> how, std::optional<Delivery> delivery) {
  if (!open()) return;
  answered_ = true;
  Push({.end = std::move(how), .delivery = delivery});
}

void Exchange::Answer(int status, std::string body, http::Headers headers, std::optional<Delivery> delivery) {
  Head(status, std::move(headers));
  Data(std::move(body));
  End({}, delivery);
}

void Exchange::Push(Message message) {
  if (silent_ || !open_) return;
  base::Duration when = network_.timeline_.Now() + network_.Latency();
  last_arrival_ = std::max(last_arrival_, when);
  on_the_way_.push_back(std::move(message));
  network_.timeline_.At(last_arrival_, [self = shared_from_this()] { self->Arrive(); });
}

// ---- Exchange: through the network, to the client.

void Exchange::Arrive() {
  if (!open_) return;
  if (const auto healed = network_.PartitionEnd(process_)) {
    network_.timeline_.At(*healed, [self = shared_from_this()] { self->Arrive(); });
    return;
  }
  ++arrived_;
  Flush();
}

void Exchange::Flush() {
  while (arrived_ > 0 && open_) {
    Message& next = on_the_way_.front();
    if (request_.paced && !next.data.empty() && unconsumed_ >= http::kPacedBytes) return;
    unconsumed_ += next.data.size();
    transport_->loop_.Post([self = shared_from_this(), message = std::move(next)] { self->Receive(message); });
    on_the_way_.pop_front();
    --arrived_;
  }
}

void Exchange::Receive(const Message& message) {
  if (!open_) return;
  if (message.delivery && transport_->on_delivery_) transport_->on_delivery_(*message.delivery);
  if (message.head) status_ = message.head->status;
  if (message.end) return Finish(*message.end);
  ArmIdleTimer();
  if (message.head && handler_.on_head) handler_.on_head(*message.head);
  // The handler may have ended the exchange by now.
  if (open_ && !message.data.empty() && handler_.on_data) handler_.on_data(message.data);
}

void Exchange::ArmTimers() {
  if (request_.timeout > base::Duration::zero()) {
    timeout_ = transport_->loop_.RunAfter(request_.timeout, [self = weak_from_this()] {
      if (const ExchangePtr exchange = self.lock()) {
        exchange->Finish(Error{ErrorCode::kDeadlineExceeded, "no answer in time"});
      }
    });
  }
  ArmIdleTimer();
}

void Exchange::ArmIdleTimer() {
  if (request_.idle_timeout <= base::Duration::zero()) return;
  transport_->loop_.Cancel(idle_);
  idle_ = transport_->loop_.RunAfter(request_.idle_timeout, [self = weak_from_this()] {
    if (const ExchangePtr exchange = self.lock()) {
      exchange->Finish(Error{ErrorCode::kDeadlineExceeded, "the connection is silent"});
    }
  });
}

void Exchange::Finish(Result<void> how) {
  if (!open_) return;
  open_ = false;
  closed_ = network_.timeline_.Now();
  if (!how && network_.trace_.on())
    network_.trace_.Add(process_, "x {} {}: {}", request_.method, PathOf(request_), how.error().message);
  if (how && transport_->on_answer_) transport_->on_answer_(request_, status_);
  transport_->loop_.Cancel(timeout_);
  transport_->loop_.Cancel(idle_);
  // Handlers own what started the exchange: they must not outlive it.
  const http::ResponseHandler handler = std::exchange(handler_, {});
  const ExchangePtr self = shared_from_this();
  transport_->open_.erase(id_);
  if (handler.on_done) handler.on_done(std::move(how));
}

void Exchange::Detach() {
  open_ = false;
  closed_ = network_.timeline_.Now();
  handler_ = {};
  transport_ = nullptr;
}

// ---- Network.

std::optional<base::Duration> Network::PartitionEnd(const std::string& process) const {
  const auto found = partitions_.find(process);
  if (found == partitions_.end() || found->second <= timeline_.Now()) return std::nullopt;
  return found->second;
}

base::Duration Network::Latency() {
  base::Duration latency = kShortestTrip + base::Duration(random_.Below(kTripSpread));
  if (faults_.Strikes(Fault::kDelay)) latency += faults_.UpTo(Fault::kDelay, kLongestDelay);
  return latency;
}

void Network::SendRequest(const ExchangePtr& exchange) {
  if (trace_.on()) trace_.Add(exchange->process(), "-> {} {}", exchange->request().method, PathOf(exchange->request()));
  base::Duration latency = Latency();
  if (IsBinding(exchange->request()) && faults_.Strikes(Fault::kSlowBind)) {
    const bool answers_late = faults_.Below(Fault::kSlowBind, 2) == 0;
    (answers_late ? exchange->answer_delay_ : latency) += faults_.UpTo(Fault::kSlowBind, kSlowestBind);
  }
  if (IsStatusPatch(exchange->request()) && faults_.Strikes(Fault::kSlowPatch)) {
    latency += faults_.UpTo(Fault::kSlowPatch, kSlowestBind);
  }
  if (IsOfLease(exchange->request()) && StrikesLease(*exchange)) return;
  if (IsClaimWrite(exchange->request()) && faults_.Strikes(Fault::kSlowClaim)) {
    latency += faults_.UpTo(Fault::kSlowClaim, kSlowestBind);
    if (faults_.Below(Fault::kSlowClaim, 2) == 0) {
      trace_.Add(exchange->process(), "slow and lost: {}", PathOf(exchange->request()));
      return timeline_.After(latency,
                             [exchange] { exchange->Push({.end = Error::Unavailable("connection refused")}); });
    }
  }
  if (IsVolumeWrite(exchange->request()) && Strikes(Fault::kSlowVolume, *exchange)) {
    latency += faults_.UpTo(Fault::kSlowVolume, kSlowestVolume);
    if (faults_.Below(Fault::kSlowVolume, 2) == 0) {
      return timeline_.After(latency,
                             [exchange] { exchange->Push({.end = Error::Unavailable("connection refused")}); });
    }
  }
  if (IsClaimWrite(exchange->request()) && timeline_.Now() < claims_slow_until_) {
    latency += kShortestAbsence + faults_.UpTo(Fault::kReturnsWhileBound, kLongestAbsence);
  }
  if (IsStatusPatch(exchange->request())) {
    const Fault fault = IsEviction(exchange->request()) ? Fault::kPreemptionChanges : Fault::kRecreated;
    if (Strikes(fault, *exchange)) latency += faults_.UpTo(fault, kSlowestPatch);
  }
  if (StrikesPod(Fault::kBoundElsewhere, *exchange)) latency += faults_.UpTo(Fault::kBoundElsewhere, kSlowestBind);
  // Mostly of a binding, so that the claims have been written.
  if ((IsBinding(exchange->request()) || faults_.Below(Fault::kReturnsWhileBound, 8) == 0) &&
      StrikesPod(Fault::kReturnsWhileBound, *exchange)) {
    claims_slow_until_ = timeline_.Now() + kSlowestBind;
    // Usually after the pod has returned, and is being bound again.
    return timeline_.After(kShortestAbsence + faults_.UpTo(Fault::kReturnsWhileBound, kLongestAbsence),
                           [this, exchange] {
                             exchange->Push({.end = Error::Unavailable("connection refused")});
                             if (on_given_up_) on_given_up_();
                           });
  }
  if (IsBinding(exchange->request()) && StrikesPod(Fault::kFailsWithClaim, *exchange)) {
    claims_slow_until_ = timeline_.Now() + kSlowestBind;
    return exchange->Push({.end = Error::Unavailable("connection refused")});
  }
  // What it has written of a claim takes effect, as far as it goes.
  if (StrikesPod(Fault::kCrashesWhileBinding, *exchange) && IsBinding(exchange->request())) return;
  if (IsWrite(exchange->request()) && faults_.Strikes(Fault::kLateEffect)) {
    trace_.Add(exchange->process(), "takes effect late: {}", PathOf(exchange->request()));
    exchange->Push({.end = Error::Unavailable("connection reset by peer")});
    latency += faults_.UpTo(Fault::kLateEffect, kStraggle);
  }
  if (faults_.Strikes(Fault::kRequestLost)) {
    trace_.Add(exchange->process(), "request lost: {} {}", exchange->request().method, PathOf(exchange->request()));
    if (faults_.Below(Fault::kRequestLost, 2) == 0) return;
    exchange->Push({.end = Error::Unavailable("connection refused")});
    return;
  }
  timeline_.After(latency, [this, exchange] { ArriveAtServer(exchange); });
}

bool Network::StrikesPod(Fault fault, const Exchange& exchange) {
  return (IsBinding(exchange.request()) || IsClaimWrite(exchange.request())) && Strikes(fault, exchange);
}

bool Network::Strikes(Fault fault, const Exchange& exchange) {
  return faults_.Strikes(fault) && mishap_ && mishap_(fault, exchange.request(), exchange.process());
}

bool Network::StrikesLease(Exchange& exchange) {
  base::Duration& stalls_until = leases_stall_until_[exchange.process()];
  if (timeline_.Now() < stalls_until) {
    trace_.Add(exchange.process(), "silent: {} {}", exchange.request().method, PathOf(exchange.request()));
    return true;
  }
  if (!IsLeaseWrite(exchange.request())) return false;
  if (timeline_.Now() < leases_slow_until_[exchange.process()]) exchange.answer_delay_ = kSlowButInTime;
  if (faults_.Strikes(Fault::kSlowLease)) exchange.answer_delay_ = faults_.UpTo(Fault::kSlowLease, kSlowestLease);
  if (faults_.Strikes(Fault::kLeaseStalls)) {
    exchange.answer_delay_ = kSlowButInTime + faults_.UpTo(Fault::kLeaseStalls, 2s);
    stalls_until = timeline_.Now() + kShortestStall + faults_.UpTo(Fault::kLeaseStalls, kShortestStall);
  }
  (void)Strikes(Fault::kPausesRenewing, exchange);
  return false;
}

void Network::ArriveAtServer(const ExchangePtr& exchange) {
  if (const auto healed = PartitionEnd(exchange->process())) {
    timeline_.At(*healed, [this, exchange] { ArriveAtServer(exchange); });
    return;
  }
  const base::Duration now = timeline_.Now();
  const base::Duration timeout = exchange->request().timeout;
  if (timeout > base::Duration::zero() && now > exchange->sent_ + timeout + kStraggle) return;
  if (exchange->closed_ && now > *exchange->closed_ + kStraggle) return;
  server_(exchange);
}

// ---- ProcessTransport.

ProcessTransport::~ProcessTransport() { Kill(); }

void ProcessTransport::Kill() {
  dead_ = true;
  for (auto& [id, exchange] : std::exchange(open_, {})) exchange->Detach();
}

http::CallId ProcessTransport::Start(http::Request request, http::ResponseHandler handler) {
  const http::CallId id = ++last_id_;
  if (dead_) return id;
  if (on_request_) on_request_(request);
  const ExchangePtr exchange(new Exchange(network_, *this, id, std::move(request), std::move(handler)));
  open_.emplace(id, exchange);
  exchange->ArmTimers();
  network_.SendRequest(exchange);
  return id;
}

void ProcessTransport::Cancel(http::CallId call) {
  const auto found = open_.find(call);
  if (found == open_.end()) return;
  loop_.Post([exchange = found->second] { exchange->Finish(Error::Unavailable("cancelled")); });
}

void ProcessTransport::Consumed(http::CallId call, size_t bytes) {
  const auto found = open_.find(call);
  if (found == open_.end()) return;
  found->second->unconsumed_ -= std::min(bytes, found->second->unconsumed_);
  found->second->Flush();
}

void ProcessTransport::SilenceWatches() {
  for (const auto& [id, exchange] : open_) exchange->silent_ |= exchange->is_watch();
}

void ProcessTransport::BreakAll(std::string_view why) {
  for (const auto& [id, exchange] : open_) exchange->Push({.end = Error::Unavailable(std::string(why))});
}

}  // namespace berth::storm
