// A Transport whose server is a function in the test: it sees each call as it is made and answers when it likes, in
// pieces or not at all. Timeouts are the transport's own, in the loop's virtual time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.h"
#include "http/transport.h"

namespace berth::http::testing {

class FakeTransport;

// One exchange, from the server's side. Whatever the server sends after the end is lost, as on a real connection.
class FakeCall : public std::enable_shared_from_this<FakeCall> {
 public:
  const Request& request() const { return request_; }
  bool ended() const { return ended_; }

  void Head(int status, Headers headers = {});
  void Data(std::string_view bytes);
  void End(Result<void> how = {});
  // Sends the whole answer.
  void Answer(int status, std::string_view body, Headers headers = {{"content-type", "application/json"}});

 private:
  friend class FakeTransport;
  FakeCall(base::Loop& loop, Request request, ResponseHandler handler)
      : loop_(loop), request_(std::move(request)), handler_(std::move(handler)) {}
  void Arm();
  void ArmIdle();

  base::Loop& loop_;
  Request request_;
  ResponseHandler handler_;
  bool ended_ = false;
  base::TimerId timeout_ = 0;
  base::TimerId idle_ = 0;
};

using FakeCallPtr = std::shared_ptr<FakeCall>;

class FakeTransport final : public Transport {
 public:
  using Server = std::function<void(const FakeCallPtr& call)>;

  // `server` runs on the loop, shortly after the call has been made.
  FakeTransport(base::Loop& loop, Server server) : loop_(loop), server_(std::move(server)) {}

  CallId Start(Request request, ResponseHandler handler) override;
  void Cancel(CallId call) override;

  void set_server(Server server) { server_ = std::move(server); }
  // Every call so far.
  const std::vector<FakeCallPtr>& calls() const { return calls_; }
  // The calls that have not ended.
  std::vector<FakeCallPtr> open() const;

 private:
  base::Loop& loop_;
  Server server_;
  std::vector<FakeCallPtr> calls_;
};

}  // namespace berth::http::testing
