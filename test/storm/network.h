// Network: connects the processes of a storm to the model API server. Messages take time, get lost, arrive in pieces,
// overtake each other on different streams and stop arriving; on one stream they keep their order.
//
// It guarantees one thing, without which nothing could be built: a request takes effect no later than kStraggle after
// its client's timeout or end, however slow the network is.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/kind.h"
#include "base/random.h"
#include "http/transport.h"
#include "storm/faults.h"
#include "storm/process.h"
#include "storm/trace.h"

namespace berth::storm {

inline constexpr base::Duration kStraggle = std::chrono::seconds(1);

class Network;
class ProcessTransport;

// What an answer contains: every change of that kind up to the revision.
struct Delivery {
  api::Kind kind;
  uint64_t revision;
};

// One HTTP exchange. The server's side is public; what it sends after the end is lost.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  const http::Request& request() const { return request_; }
  const std::string& process() const { return process_; }
  int life() const { return life_; }
  base::Duration sent() const { return sent_; }
  bool is_watch() const { return is_watch_; }
  // Neither side has ended it.
  bool open() const { return open_ && !answered_; }

  void Head(int status, http::Headers headers);
  // The delivery is complete with these bytes.
  void Data(std::string bytes, std::optional<Delivery> delivery = {});
  void End(Result<void> how = {}, std::optional<Delivery> delivery = {});
  void Answer(int status, std::string body, http::Headers headers, std::optional<Delivery> delivery = {});

 private:
  friend class Network;
  friend class ProcessTransport;
  struct Message {
    std::optional<http::ResponseHead> head{};
    std::string data{};
    std::optional<Result<void>> end{};
    std::optional<Delivery> delivery{};
  };

  Exchange(Network& network, ProcessTransport& transport, http::CallId id, http::Request request,
           http::ResponseHandler handler);

  void Push(Message message);
  // The next message has passed through the network.
  void Arrive();
  void Flush();
  // On the client's side, the whole message.
  void Receive(const Message& message);
  void ArmTimers();
  void ArmIdleTimer();
  void Finish(Result<void> how);
  void Detach();

  Network& network_;
  ProcessTransport* transport_;  // null once detached
  const std::string process_;
  const int life_;  // of the process
  const http::CallId id_;
  const http::Request request_;
  const bool is_watch_;
  const base::Duration sent_;
  http::ResponseHandler handler_;
  bool open_ = true;       // for the client
  bool answered_ = false;  // by the server, to the end
  int status_ = 0;         // of the answer, once the client has it
  base::Duration answer_delay_{};
  bool silent_ = false;  // nothing arrives any more
  std::optional<base::Duration> closed_{};
  base::Duration last_arrival_{};
  std::deque<Message> on_the_way_;
  size_t arrived_ = 0;     // of on_the_way_, but held back
  size_t unconsumed_ = 0;  // bytes of a paced answer
  base::TimerId timeout_ = 0;
  base::TimerId idle_ = 0;
};

using ExchangePtr = std::shared_ptr<Exchange>;

class Network {
 public:
  using Server = std::function<void(const ExchangePtr& exchange)>;

  Network(Timeline& timeline, Faults& faults, Trace& trace, uint64_t seed)
      : timeline_(timeline), faults_(faults), trace_(trace), random_(seed) {}

  Faults& faults() { return faults_; }
  void set_server(Server server) { server_ = std::move(server); }
  // Lets one of the faults happen that concern a pod or the process; false if it cannot happen to what the request is
  // about.
  using Mishap = std::function<bool(Fault fault, const http::Request& request, const std::string& process)>;
  void set_mishap(Mishap mishap) { mishap_ = std::move(mishap); }
  // When the write fails during which a pod left and returned.
  void set_on_given_up(std::function<void()> on_given_up) { on_given_up_ = std::move(on_given_up); }
  // Disconnects it from the server. Streams that survive continue where they were.
  void Partition(const std::string& process, base::Duration until) { partitions_[process] = until; }
  // Answers to writes of its lease take seconds.
  void SlowLease(const std::string& process, base::Duration until) { leases_slow_until_[process] = until; }
  // When it will be connected again; unset if it is.
  std::optional<base::Duration> PartitionEnd(const std::string& process) const;

 private:
  friend class Exchange;
  friend class ProcessTransport;

  void SendRequest(const ExchangePtr& exchange);
  void ArriveAtServer(const ExchangePtr& exchange);
  base::Duration Latency();
  // Whether the mishap happens; the second one only while a pod is being bound.
  bool Strikes(Fault fault, const Exchange& exchange);
  bool StrikesPod(Fault fault, const Exchange& exchange);
  // Delays the answer, or loses the request; true if it is lost.
  bool StrikesLease(Exchange& exchange);

  Timeline& timeline_;
  Faults& faults_;
  Trace& trace_;
  base::Random random_;
  Server server_;
  Mishap mishap_;
  std::function<void()> on_given_up_;
  std::map<std::string, base::Duration> partitions_;
  std::map<std::string, base::Duration> leases_stall_until_;  // of a process
  std::map<std::string, base::Duration> leases_slow_until_;   // the same
  base::Duration claims_slow_until_{};  // after a pod with a claim has left and is about to return
};

// The Transport of one life of a process. When it is destroyed, its exchanges are dropped without calling their
// handlers, as in a crash; what was sent may still take effect.
class ProcessTransport final : public http::Transport {
 public:
  ProcessTransport(Network& network, Process& process) : network_(network), process_(process), loop_(process) {}
  ~ProcessTransport() override;

  http::CallId Start(http::Request request, http::ResponseHandler handler) override;
  void Cancel(http::CallId call) override;
  void Consumed(http::CallId call, size_t bytes) override;

  size_t open_calls() const { return open_.size(); }
  // The process is dead: nothing is received or sent any more.
  void Kill();
  // Called with each request before it is sent.
  void set_on_request(std::function<void(const http::Request& request)> observer) { on_request_ = std::move(observer); }
  // Called when an answer has arrived whole, before its handler knows.
  void set_on_answer(std::function<void(const http::Request& request, int status)> observer) {
    on_answer_ = std::move(observer);
  }
  // Called before the handler gets the last bytes of a delivery.
  void set_on_delivery(std::function<void(const Delivery& delivery)> observer) { on_delivery_ = std::move(observer); }
  // Ends connections that do not survive a partition.
  void BreakAll(std::string_view why);
  // Makes the watches that are open now half-open.
  void SilenceWatches();

 private:
  friend class Exchange;
  friend class Network;

  Network& network_;
  Process& process_;
  VirtualLoop loop_;
  http::CallId last_id_ = 0;
  bool dead_ = false;
  std::function<void(const http::Request& request)> on_request_;
  std::function<void(const http::Request& request, int status)> on_answer_;
  std::function<void(const Delivery& delivery)> on_delivery_;
  std::map<http::CallId, ExchangePtr> open_;
};

}  // namespace berth::storm
