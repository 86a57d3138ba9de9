#include "client/api_client.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "client/api_path.h"

namespace berth::client {
namespace {

constexpr int kMaxRetries = 10;
// Delays before reading a pod that may or may not have been bound: a request that timed out may still take effect.
constexpr base::Duration kWaitToRead = std::chrono::milliseconds(50);
constexpr base::Duration kWaitForStragglers = std::chrono::milliseconds(1500);
constexpr base::Duration kLongestWaitToRead = std::chrono::seconds(5);
// Of one such read, and of a write that can be repeated until its outcome is known. Others wait for that outcome, and
// another request may be answered at once.
constexpr base::Duration kReadBackTimeout = std::chrono::seconds(10);

// Identifies the object that a write is about.
std::string KeyFor(const api::Object& object) {
  const api::ObjectMeta& metadata = object.metadata();
  return metadata.uid.empty() ? ObjectPath(object.kind(), metadata.namespace_.str(), metadata.name) : metadata.uid;
}

ApiClient::Done<void> OnLoop(base::Loop& loop, ApiClient::Done<void> done) {
  return [&loop, done = std::move(done)](Result<void> result) { loop.Post([done, result] { done(result); }); };
}

bool MayHaveTakenEffect(const ApiAnswer& answer) {
  const int code = answer.status.code;
  // Code 0 and kConflict: the write window was closed, so it was not sent.
  return code == 0 ? answer.error != ErrorCode::kConflict : code >= 500 || code == 409;
}

// Times lose their fractions of a second at the server.
bool SameDevices(const api::ResourceClaim& a, const api::ResourceClaim& b) {
  if (!a.status.allocation || !b.status.allocation) return !a.status.allocation && !b.status.allocation;
  return a.status.allocation->devices.results == b.status.allocation->devices.results;
}

}  // namespace

struct ApiClient::Direct {
  http::Request request;
  std::function<void(ApiAnswer)> done;
  base::Duration deadline{};  // of all attempts together; set by the first
  int retries = 0;
};

// A write whose answer leaves open whether it took effect: its object is read to find out.
struct ApiClient::Doubt {
  api::Kind kind;
  std::string name_space;
  std::string name;
  std::function<bool(const api::Object& read)> took_effect;
  Done<api::Object> done;
  Error refusal{};  // reported if it did not take effect
  base::Duration wait = kWaitToRead;
  int reads = 0;  // that count against the limit

  // The outcome of the write, if this answer to a read is the API server's about the object.
  std::optional<Result<api::Object>> OutcomeFrom(const ApiAnswer& answer) const {
    if (answer.status.SaysGone(api::InfoOf(kind).resource, name)) return refusal;
    if (!answer.ok()) return std::nullopt;
    Result<api::Object> read = DecodeOne(answer.response);
    if (!read || read->kind() != kind || read->metadata().name != name) return std::nullopt;
    return took_effect(*read) ? std::move(read) : Result<api::Object>(refusal);
  }
};

ApiClient::ApiClient(http::Transport& transport, base::Loop& loop, const base::Clock& clock, ApiClientOptions options)
    : transport_(transport), loop_(loop), clock_(clock), options_(std::move(options)) {
  path_ = std::make_unique<WritePath>(
      loop_,
      [this](http::Request request, std::function<void(ApiAnswer)> answer) {
        Attempt(std::move(request), true, std::move(answer));
      },
      WritePath::Options{.bucket = options_.bucket,
                         .budgets = options_.budgets,
                         .observer = options_.observer,
                         .on_room = options_.on_room});
  const auto path_of = [](const api::Pod& pod) {
    return ObjectPath(api::Kind::kPod, pod.metadata.namespace_.str(), pod.metadata.name);
  };
  statuses_ = std::make_unique<PodStatusWriter>(
      *path_, loop_, clock_,
      PodStatusWriter::Requests{
          .read = [this, path_of](const api::Pod& pod) { return ObjectRequest("GET", path_of(pod)); },
          .patch = [this, path_of](
                       const api::Pod& pod,
                       std::string body) { return PatchRequest(path_of(pod) + "/status", std::move(body)); }});
}

// The path must not call the status writer after that is destroyed.
ApiClient::~ApiClient() { path_.reset(); }

http::Headers ApiClient::AcceptObjects() const {
  // Not every server has protobuf for every kind: JSON is always the second choice.
  if (options_.protobuf) return {{"Accept", "application/vnd.kubernetes.protobuf, application/json"}};
  return {{"Accept", std::string(kJsonType)}};
}

http::Request ApiClient::ObjectRequest(std::string method, std::string path) const {
  return {.method = std::move(method), .path = std::move(path), .headers = AcceptObjects()};
}

http::Request ApiClient::PatchRequest(std::string path, std::string body) const {
  http::Request request = ObjectRequest("PATCH", std::move(path));
  request.headers.emplace_back("Content-Type", kStrategicMergeType);
  request.body = std::move(body);
  return request;
}

// ---- Conventions.

void ApiClient::Read(http::Request request, std::function<void(ApiAnswer)> done) {
  SendDirect(std::make_shared<Direct>(Direct{.request = std::move(request), .done = std::move(done)}));
}

void ApiClient::Write(WriteClass write_class, std::string key, http::Request request,
                      std::function<void(ApiAnswer)> done) {
  if (write_class == WriteClass::kLease) {
    return SendDirect(std::make_shared<Direct>(Direct{.request = std::move(request), .done = std::move(done)}));
  }
  path_->Submit({.write_class = write_class,
                 .key = std::move(key),
                 .make = [request = std::move(request)] { return std::optional(request); },
                 .done = std::move(done)});
}

void ApiClient::SendDirect(const std::shared_ptr<Direct>& call) {
  if (options_.bucket) options_.bucket->Take(loop_.Now());
  if (options_.observer != nullptr) options_.observer->OnUnlimited(call->request.method);
  const base::Duration now = loop_.Now();
  http::Request request = call->request;
  if (request.timeout == base::Duration::zero()) request.timeout = options_.timeout;
  if (call->retries == 0) call->deadline = now + request.timeout;
  // A timer may be late, and a timeout of zero would be none.
  request.timeout = std::max<base::Duration>(call->deadline - now, std::chrono::milliseconds(1));
  Attempt(std::move(request), false, [this, call](ApiAnswer answer) {
    const std::chrono::seconds wait(answer.status.retry_after_seconds);
    const bool is_too_late = loop_.Now() + wait >= call->deadline;
    if (!answer.status.AsksToWait() || is_too_late || call->retries >= kMaxRetries) {
      return call->done(std::move(answer));
    }
    ++call->retries;
    loop_.RunAfter(wait, [this, call] { SendDirect(call); });
  });
}

void ApiClient::Attempt(http::Request request, bool is_fenced, std::function<void(ApiAnswer)> done) {
  if (request.timeout == base::Duration::zero()) request.timeout = options_.timeout;
  request.urgent = options_.urgent;
  if (is_fenced && options_.window) {
    const base::Duration left = options_.window->TimeLeft(loop_.Now());
    if (left <= base::Duration::zero()) {
      ApiAnswer refused;
      refused.error = ErrorCode::kConflict;
      refused.status.message = fmt::format("not sent: no longer the leader ({} {})", request.method, request.path);
      return done(std::move(refused));
    }
    request.timeout = std::min(request.timeout, left);
  }
  const std::string method = request.method;
  transport_.Send(std::move(request), [method, done = std::move(done)](Result<http::Response> response) {
    ApiAnswer answer;
    if (response) {
      answer.response = std::move(*response);
      answer.status.code = answer.response.head.status;
      if (!answer.ok()) {
        answer.status = ReadStatus(method, answer.response.head, answer.response.body);
      } else if (IsWebPage(answer.response.head, answer.response.body)) {
        answer.status = PageInstead();
        answer.error = ErrorCode::kUnavailable;
      }
    } else {
      answer.status = NoAnswer(response.error());
      answer.error = response.error().code;
    }
    done(std::move(answer));
  });
}

void ApiClient::WriteForObject(WriteClass write_class, const api::Object& object, http::Request request,
                               Done<api::Object> done) {
  Write(write_class, KeyFor(object), std::move(request), [done = std::move(done)](const ApiAnswer& answer) {
    done(answer.ok() ? DecodeOne(answer.response) : Result<api::Object>(answer.ToError()));
  });
}

void ApiClient::WriteForNothing(WriteClass write_class, const api::Pod& pod, http::Request request, Done<void> done) {
  Write(write_class, WriteKeyOf(pod), std::move(request), [done = std::move(done)](const ApiAnswer& answer) {
    done(answer.ok() ? Result<void>() : Result<void>(answer.ToError()));
  });
}

// ---- What a scheduler writes.

void ApiClient::Bind(const api::Pod& pod, std::string_view node, Done<void> done) {
  const api::ObjectMeta& metadata = pod.metadata;
  http::Request request =
      ObjectRequest("POST", ObjectPath(api::Kind::kPod, metadata.namespace_.str(), metadata.name) + "/binding");
  request.headers.emplace_back("Content-Type", options_.protobuf ? kProtobufType : kJsonType);
  request.body = options_.protobuf ? BindingProtobuf(pod, node) : BindingJson(pod, node);
  const std::shared_ptr<Doubt> doubt = DoubtAboutBinding(pod, node, done);
  Write(WriteClass::kBind, WriteKeyOf(pod), std::move(request),
        [this, done = std::move(done), doubt](const ApiAnswer& answer) {
          if (answer.ok()) return done({});
          if (!MayHaveTakenEffect(answer)) return done(answer.ToError());
          Resolve(doubt, answer);
        });
}

std::shared_ptr<ApiClient::Doubt> ApiClient::DoubtAboutBinding(const api::Pod& pod, std::string_view node,
                                                               Done<void> done) {
  const api::ObjectMeta& metadata = pod.metadata;
  const auto is_bound = [uid = metadata.uid, node = std::string(node)](const api::Object& read) {
    const api::Pod* found = read.As<api::Pod>();
    return found != nullptr && found->metadata.uid == uid && found->spec.node_name == node;
  };
  return std::make_shared<Doubt>(Doubt{api::Kind::kPod, std::string(metadata.namespace_.str()), metadata.name, is_bound,
                                       [done = std::move(done)](const Result<api::Object>& bound) {
                                         done(bound ? Result<void>() : Result<void>(bound.error()));
                                       }});
}

void ApiClient::ConfirmBound(const api::Pod& pod, std::string_view node, const Error& refusal, Done<void> done) {
  const std::shared_ptr<Doubt> doubt = DoubtAboutBinding(pod, node, std::move(done));
  doubt->refusal = refusal;
  doubt->wait = kWaitForStragglers;
  loop_.RunAfter(doubt->wait, [this, doubt] { ReadBack(doubt); });
}

// A lost answer must not make a node or a device look free: it would be given to another pod as well.
void ApiClient::Resolve(const std::shared_ptr<Doubt>& doubt, const ApiAnswer& answer) {
  doubt->refusal = answer.ToError();
  if (answer.MayStillTakeEffect()) doubt->wait = kWaitForStragglers;
  loop_.RunAfter(doubt->wait, [this, doubt] { ReadBack(doubt); });
}

void ApiClient::ReadBack(const std::shared_ptr<Doubt>& doubt) {
  http::Request request = ObjectRequest("GET", ObjectPath(doubt->kind, doubt->name_space, doubt->name));
  request.timeout = std::min(options_.timeout, kReadBackTimeout);
  const auto take = [this, doubt](const ApiAnswer& answer) {
    if (const std::optional<Result<api::Object>> outcome = doubt->OutcomeFrom(answer)) return doubt->done(*outcome);
    // The window closes in time if the server cannot be reached, because the lease cannot be renewed then. It may stay
    // open if we may not read the object, or if a proxy does not let us.
    if (!answer.status.IsOutage() || !options_.window) ++doubt->reads;
    const bool is_open = !options_.window || options_.window->TimeLeft(loop_.Now()) > base::Duration::zero();
    if (!is_open || doubt->reads > kMaxRetries) return doubt->done(doubt->refusal);
    // A Retry-After changes nothing: this is slow enough for any server, and the end of a process waits for it.
    doubt->wait = std::min<base::Duration>(doubt->wait * 2, kLongestWaitToRead);
    loop_.RunAfter(doubt->wait, [this, doubt] { ReadBack(doubt); });
  };
  // Within the rate and the number of calls that bindings have: hundreds may be in doubt at once.
  path_->Submit({.write_class = WriteClass::kBind,
                 .make = [request = std::move(request)] { return std::optional(request); },
                 .first = true,
                 .done = take});
}

void ApiClient::PatchPodStatus(const api::Pod& pod, const PodStatusChange& change, Done<void> done,
                               WriteClass write_class) {
  if (!path_->Reserve(write_class)) {
    const std::string why =
        fmt::format("not sent: {} writes of class {} are waiting", path_->waiting(write_class), NameOf(write_class));
    return OnLoop(loop_, std::move(done))(Error::Unavailable(why));
  }
  loop_.Post([this, pod = StatusPartOf(pod), change, write_class, done = std::move(done)]() mutable {
    statuses_->Patch(std::move(pod), change, write_class, std::move(done));
  });
}

void ApiClient::DeletePod(const api::Pod& pod, Done<void> done) {
  const api::ObjectMeta& metadata = pod.metadata;
  http::Request request =
      ObjectRequest("DELETE", ObjectPath(api::Kind::kPod, metadata.namespace_.str(), metadata.name));
  request.headers.emplace_back("Content-Type", kJsonType);
  request.body = DeleteJson(metadata.uid);
  WriteForNothing(WriteClass::kEvict, pod, std::move(request), std::move(done));
}

// Binding a volume is part of binding its pod.
void ApiClient::PatchClaimRef(const api::PersistentVolume& volume, const api::ObjectReference& claim,
                              const api::Annotations& annotations, Done<api::Object> done) {
  const std::string& name = volume.metadata.name;
  const std::string path = ObjectPath(api::Kind::kPersistentVolume, {}, name);
  Write(WriteClass::kBind, volume.metadata.uid.empty() ? path : volume.metadata.uid,
        PatchRequest(path, ClaimRefPatch(volume, claim, annotations)),
        [done = std::move(done)](const ApiAnswer& answer) {
          done(answer.ok() ? DecodeOne(answer.response) : Result<api::Object>(answer.ToError()));
        });
}

void ApiClient::PatchAnnotations(const api::Object& object, const api::Annotations& annotations,
                                 Done<api::Object> done) {
  const api::ObjectMeta& metadata = object.metadata();
  http::Request request = PatchRequest(ObjectPath(object.kind(), metadata.namespace_.str(), metadata.name),
                                       AnnotationsPatch(metadata.resource_version, annotations));
  WriteForObject(WriteClass::kBind, object, std::move(request), std::move(done));
}

void ApiClient::PatchResourceClaim(const api::ResourceClaim& claim, ClaimWrite what, Done<api::Object> done) {
  const api::ObjectMeta& metadata = claim.metadata;
  std::string path = ObjectPath(api::Kind::kResourceClaim, metadata.namespace_.str(), metadata.name);
  const std::string key = metadata.uid;
  if (what != ClaimWrite::kFinalizers) path += "/status";
  http::Request request = ObjectRequest("PATCH", std::move(path));
  request.headers.emplace_back("Content-Type", "application/merge-patch+json");
  request.body = what == ClaimWrite::kFinalizers ? ClaimFinalizersPatch(claim)
                 : what == ClaimWrite::kStatus   ? ClaimStatusPatch(claim)
                                                 : ClaimDeallocationPatch(claim);
  if (what != ClaimWrite::kStatus) {
    return Write(WriteClass::kBind, key, std::move(request), [done = std::move(done)](const ApiAnswer& answer) {
      done(answer.ok() ? DecodeOne(answer.response) : Result<api::Object>(answer.ToError()));
    });
  }
  const auto is_written = [claim](const api::Object& read) {
    const api::ResourceClaim* found = read.As<api::ResourceClaim>();
    return found != nullptr && found->metadata.uid == claim.metadata.uid && SameDevices(*found, claim) &&
           found->status.reserved_for == claim.status.reserved_for;
  };
  const auto doubt = std::make_shared<Doubt>(Doubt{api::Kind::kResourceClaim, std::string(metadata.namespace_.str()),
                                                   metadata.name, is_written, std::move(done)});
  Write(WriteClass::kBind, key, std::move(request), [this, doubt](const ApiAnswer& answer) {
    if (answer.ok()) return doubt->done(DecodeOne(answer.response));
    // The caller knows best how to handle a conflict.
    if (!MayHaveTakenEffect(answer) || answer.status.code == 409) return doubt->done(answer.ToError());
    Resolve(doubt, answer);
  });
}

void ApiClient::CreateResourceClaim(const api::ResourceClaim& claim, Done<api::Object> done) {
  const api::Object object = api::MakeObject(claim);
  // JSON, because the configuration inside is kept as JSON.
  http::Request request = ObjectRequest("POST", CollectionPath(object.kind(), claim.metadata.namespace_.str()));
  request.headers.emplace_back("Content-Type", kJsonType);
  request.body = api::EncodeJson(object);
  Write(WriteClass::kBind, "", std::move(request), [done = std::move(done)](const ApiAnswer& answer) {
    done(answer.ok() ? DecodeOne(answer.response) : Result<api::Object>(answer.ToError()));
  });
}

// For the version of the claim that is known, and repeated until its outcome is: a copy that arrives late must not end
// the reservation that a later attempt of the pod has made. That reservation waits for this write, being of the same
// object.
void ApiClient::UnreserveResourceClaim(const api::ResourceClaim& claim, std::string_view pod_uid, Done<void> done) {
  struct State {
    api::ResourceClaim claim;
    std::string pod_uid;
    bool reads = false;

    Again Take(const ApiAnswer& answer) {
      if (std::exchange(reads, false)) return TakeRead(answer);
      if (answer.ok()) return Again::kNo;
      reads = answer.status.code == 409 || answer.MayStillTakeEffect();
      return reads ? Again::kLater : Again::kNo;
    }
    Again TakeRead(const ApiAnswer& answer) {
      if (answer.status.SaysGone(api::InfoOf(api::Kind::kResourceClaim).resource, claim.metadata.name))
        return Again::kNo;
      const Result<api::Object> read = answer.ok() ? DecodeOne(answer.response) : Result<api::Object>(answer.ToError());
      const api::ResourceClaim* found = read ? read->As<api::ResourceClaim>() : nullptr;
      if (found == nullptr) {
        reads = true;
        return Again::kLater;
      }
      if (found->metadata.uid != claim.metadata.uid || !IsReserved(*found)) return Again::kNo;
      claim = *found;
      return Again::kAtOnce;
    }
    bool IsReserved(const api::ResourceClaim& read) const {
      const auto& reserved = read.status.reserved_for;
      return std::any_of(reserved.begin(), reserved.end(),
                         [&](const auto& consumer) { return consumer.uid == pod_uid; });
    }
  };
  const auto state = std::make_shared<State>(State{.claim = claim, .pod_uid = std::string(pod_uid)});
  const std::string path = ObjectPath(api::Kind::kResourceClaim, claim.metadata.namespace_.str(), claim.metadata.name);
  path_->Submit(
      {.write_class = WriteClass::kBind,
       .key = claim.metadata.uid,
       .make =
           [this, state, path] {
             http::Request request =
                 state->reads ? ObjectRequest("GET", path)
                              : PatchRequest(path + "/status", ClaimUnreservePatch(state->claim, state->pod_uid));
             request.timeout = std::min(options_.timeout, kReadBackTimeout);
             return std::optional(std::move(request));
           },
       .again = [state](const ApiAnswer& answer) { return state->Take(answer); },
       .done = [done = std::move(done)](
                   const ApiAnswer& answer) { done(answer.ok() ? Result<void>() : Result<void>(answer.ToError())); }});
}

void ApiClient::DeleteResourceClaim(const api::ResourceClaim& claim, Done<void> done) {
  const api::ObjectMeta& metadata = claim.metadata;
  http::Request request =
      ObjectRequest("DELETE", ObjectPath(api::Kind::kResourceClaim, metadata.namespace_.str(), metadata.name));
  request.headers.emplace_back("Content-Type", kJsonType);
  request.body = DeleteJson(metadata.uid);
  Write(WriteClass::kBind, metadata.uid, std::move(request), [done = std::move(done)](const ApiAnswer& answer) {
    done(answer.ok() ? Result<void>() : Result<void>(answer.ToError()));
  });
}

void ApiClient::PatchPodClaims(const api::Pod& pod, std::string body, Done<void> done) {
  const std::string path = ObjectPath(api::Kind::kPod, pod.metadata.namespace_.str(), pod.metadata.name);
  WriteForNothing(WriteClass::kBind, pod, PatchRequest(path + "/status", std::move(body)), std::move(done));
}

void ApiClient::Get(api::Kind kind, std::string_view name_space, std::string_view name, Done<api::Object> done) {
  Read(ObjectRequest("GET", ObjectPath(kind, name_space, name)), [done = std::move(done)](const ApiAnswer& answer) {
    done(answer.ok() ? DecodeOne(answer.response) : Result<api::Object>(answer.ToError()));
  });
}

http::Request ApiClient::CreateRequest(const api::Object& object) const {
  http::Request request = ObjectRequest("POST", CollectionPath(object.kind(), object.metadata().namespace_.str()));
  request.headers.emplace_back("Content-Type", options_.protobuf ? kProtobufType : kJsonType);
  request.body = options_.protobuf ? api::EncodeProtobuf(object) : api::EncodeJson(object);
  return request;
}

void ApiClient::Create(const api::Object& object, Done<api::Object> done) {
  WriteForObject(WriteClass::kLease, object, CreateRequest(object), std::move(done));
}

http::Request ApiClient::SeriesRequest(const api::Event& event) const {
  const api::ObjectMeta& metadata = event.metadata;
  return PatchRequest(ObjectPath(api::Kind::kEvent, metadata.namespace_.str(), metadata.name),
                      SeriesPatch(event.series.value_or(api::EventSeries{})));
}

void ApiClient::Update(const api::Object& object, Done<api::Object> done) {
  const api::ObjectMeta& metadata = object.metadata();
  http::Request request = ObjectRequest("PUT", ObjectPath(object.kind(), metadata.namespace_.str(), metadata.name));
  request.headers.emplace_back("Content-Type", options_.protobuf ? kProtobufType : kJsonType);
  request.body = options_.protobuf ? api::EncodeProtobuf(object) : api::EncodeJson(object);
  WriteForObject(WriteClass::kLease, object, std::move(request), std::move(done));
}

}  // namespace berth::client
