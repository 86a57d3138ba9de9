// LoopbackServer: answers HTTP requests on a free port of this machine, one after the other; for tests.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace example {

class LoopbackServer {
 public:
  explicit LoopbackServer(std::string body, std::string status = "200 OK");
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/nodes"; }
  // From the next request on.
  void Answer(std::string body, std::string status = "200 OK");
  // Until `count` more requests have come in.
  void AwaitRequests(int count);
  // No one answers any more; the port is closed.
  void Stop();

 private:
  void Serve();

  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  std::condition_variable came_in_;
  std::string body_;  // guarded by mutex_, as all below
  std::string status_;
  int requests_ = 0;
  std::thread thread_;
};

}  // namespace example
