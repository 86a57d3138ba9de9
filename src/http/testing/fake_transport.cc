#include "http/testing/fake_transport.h"

#include <utility>

namespace berth::http::testing {

void FakeCall::Head(int status, Headers headers) {
  if (ended_) return;
  ArmIdle();
  if (handler_.on_head) handler_.on_head({.status = status, .headers = std::move(headers)});
}

void FakeCall::Data(std::string_view bytes) {
  if (ended_ || bytes.empty()) return;
  ArmIdle();
  if (handler_.on_data) handler_.on_data(bytes);
}

void FakeCall::End(Result<void> how) {
  if (ended_) return;
  ended_ = true;
  loop_.Cancel(timeout_);
  loop_.Cancel(idle_);
  // Handlers own what started the call: they must not outlive it.
  const ResponseHandler handler = std::move(handler_);
  handler_ = {};
  if (handler.on_done) handler.on_done(std::move(how));
}

void FakeCall::Answer(int status, std::string_view body, Headers headers) {
  Head(status, std::move(headers));
  Data(body);
  End();
}

void FakeCall::Arm() {
  if (request_.timeout > base::Duration::zero()) {
    timeout_ = loop_.RunAfter(request_.timeout, [call = weak_from_this()] {
      if (const FakeCallPtr self = call.lock()) self->End(Error{ErrorCode::kDeadlineExceeded, "no answer in time"});
    });
  }
  ArmIdle();
}

void FakeCall::ArmIdle() {
  if (request_.idle_timeout <= base::Duration::zero()) return;
  loop_.Cancel(idle_);
  idle_ = loop_.RunAfter(request_.idle_timeout, [call = weak_from_this()] {
    if (const FakeCallPtr self = call.lock())
      self->End(Error{ErrorCode::kDeadlineExceeded, "the connection is silent"});
  });
}

CallId FakeTransport::Start(Request request, ResponseHandler handler) {
  FakeCallPtr call(new FakeCall(loop_, std::move(request), std::move(handler)));
  call->Arm();
  calls_.push_back(call);
  loop_.Post([this, call] { server_(call); });
  return calls_.size();
}

void FakeTransport::Cancel(CallId call) {
  loop_.Post([call = calls_.at(call - 1)] { call->End(Error::Unavailable("cancelled")); });
}

std::vector<FakeCallPtr> FakeTransport::open() const {
  std::vector<FakeCallPtr> found;
  for (const FakeCallPtr& call : calls_) {
    if (!call->ended()) found.push_back(call);
  }
  return found;
}

}  // namespace berth::http::testing
