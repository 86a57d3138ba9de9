// For tests: a scheduling loop on its own thread, with an API server that accepts every request.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "config/load.h"
#include "live/binding_threads.h"
#include "live/scheduling_loop.h"
#include "plugins/registry.h"
#include "testing/builders.h"

namespace berth::live::testing {

using berth::testing::MakeNode;
using berth::testing::PodBuilder;

// An API server that accepts every request, unless told otherwise, and records "METHOD PATH BODY".
class YesServer final : public http::Transport {
 public:
  explicit YesServer(base::Loop& loop) : loop_(loop) {}

  http::CallId Start(http::Request request, http::ResponseHandler handler) override {
    const std::string line = request.method + " " + request.path + " " + request.body;
    int status = 201;
    std::string body = R"({"kind":"Status","apiVersion":"v1","status":"Success"})";
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [part, answer] : answers_) {
        if (line.find(part) != std::string::npos) status = answer;
      }
      if (status >= 300) body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no"})";
      for (auto& [part, bodies] : bodies_) {
        if (line.find(part) == std::string::npos) continue;
        body = bodies.front();
        if (bodies.size() > 1) bodies.pop_front();
      }
      lines_.push_back(line);
    }
    const auto answer = [status, body, handler = std::move(handler)] {
      http::ResponseHead head{.status = status, .headers = {{"content-type", "application/json"}}};
      handler.on_head(head);
      handler.on_data(body);
      handler.on_done({});
    };
    bool is_held = false;
    {
      const std::lock_guard lock(mutex_);
      for (auto& [part, answers] : held_) {
        if (is_held || line.find(part) == std::string::npos) continue;
        answers.push_back(answer);
        is_held = true;
      }
    }
    seen_.notify_all();
    if (!is_held) loop_.Post(answer);
    return ++calls_;
  }
  void Cancel(http::CallId) override {}

  void Answer(const std::string& part, int status) {
    const std::lock_guard lock(mutex_);
    answers_[part] = status;
  }
  // Requests that contain `part` are not answered until Release.
  void Hold(const std::string& part) {
    const std::lock_guard lock(mutex_);
    held_[part] = {};
  }
  void Release(const std::string& part) {
    const std::lock_guard lock(mutex_);
    for (auto& answer : held_[part]) loop_.Post(answer);
    held_.erase(part);
  }
  // The bodies that answer requests containing `part`, one after the other; the last one is repeated.
  void Serve(const std::string& part, std::deque<std::string> bodies) {
    const std::lock_guard lock(mutex_);
    bodies_[part] = std::move(bodies);
  }
  // Waits for a request that contains all of these; empty if none comes.
  std::string Await(const std::vector<std::string>& parts) {
    std::unique_lock lock(mutex_);
    std::string found;
    seen_.wait_for(lock, std::chrono::seconds(20), [&] {
      for (const std::string& line : lines_) {
        const bool all = std::all_of(parts.begin(), parts.end(),
                                     [&](const std::string& part) { return line.find(part) != std::string::npos; });
        if (all) found = line;
      }
      return !found.empty();
    });
    return found;
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  base::Loop& loop_;
  std::mutex mutex_;
  std::condition_variable seen_;
  std::vector<std::string> lines_;                             // guarded by mutex_
  std::map<std::string, int> answers_;                         // guarded by mutex_
  std::map<std::string, std::deque<std::string>> bodies_;      // guarded by mutex_
  std::map<std::string, std::vector<base::Loop::Task>> held_;  // guarded by mutex_
  std::atomic<http::CallId> calls_ = 0;
};

class LoopFixture : public ::testing::Test {
 protected:
  LoopFixture() {
    SchedulingLoop::Options options;
    options.verify_incremental = true;
    options.engine_metrics = &engine_metrics_;
    options.journal_bytes = 1 << 20;
    options.kinds = {api::Kind::kNode, api::Kind::kPod};
    config::KubeSchedulerConfiguration configuration = config::DefaultConfiguration(gates_);
    auto made = SchedulingLoop::Create(configuration, plugins::InTreeRegistry(), gates_, clock_, *threads_, client_,
                                       events_, metrics_, options);
    CHECK_WHY(made.ok(), made.ok() ? "" : made.error().message.c_str());
    loop_ = std::move(*made);
    thread_ = std::thread([this] { loop_->Run(); });
  }
  ~LoopFixture() override {
    loop_->Stop();
    thread_.join();
    threads_.reset();
    io_.Stop();  // while the loop still exists for late answers
  }

  void Tell(const PodBuilder& pod, client::ObjectChange::Type type = client::ObjectChange::Type::kAdded) {
    loop_->OnChanges(api::Kind::kPod, {{type, api::Object(PodBuilder(pod).Shared())}});
  }
  void TellNode(const std::string& name, const std::string& cpu) {
    loop_->OnChanges(
        api::Kind::kNode,
        {{client::ObjectChange::Type::kAdded,
          api::Object(
              MakeNode(name).Capacity("cpu", cpu).Capacity("memory", "8Gi").Capacity("pods", "110").Shared())}});
  }
  // Waits until the loop has read everything reported so far.
  void Settle() {
    std::promise<void> read;
    loop_->Post([&] { read.set_value(); });
    read.get_future().wait();
  }

  config::FeatureGates gates_;
  base::SystemClock clock_;
  base::ThreadLoop io_;
  YesServer server_{io_};
  client::ApiClient client_{server_, io_, clock_, {.protobuf = false}};
  client::EventRecorder events_{client_, io_, clock_, {.hostname = "here"}};
  metrics::Registry registry_;
  metrics::SchedulerMetrics metrics_{registry_, {true, true, true, true, true}};
  metrics::EngineMetrics engine_metrics_{registry_};
  std::unique_ptr<BindingThreads> threads_ = std::make_unique<BindingThreads>(64);
  std::unique_ptr<SchedulingLoop> loop_;
  std::thread thread_;
};

}  // namespace berth::live::testing
