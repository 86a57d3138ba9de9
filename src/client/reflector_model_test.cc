// A reflector with a server and a connection that fail at random: in the end the sink knows exactly what exists, and it
// was never given a change that did not fit what it knew (testing/picture_sink.h checks that).
#include <gtest/gtest.h>

#include <memory>

#include "base/random.h"
#include "base/testing/fake_loop.h"
#include "client/reflector.h"
#include "client/testing/fake_node_server.h"
#include "client/testing/picture_sink.h"
#include "http/testing/fake_transport.h"

namespace berth::client {
namespace {

using http::testing::FakeCallPtr;
using namespace std::chrono_literals;

class Storm {
 public:
  explicit Storm(uint64_t seed)
      : random_(seed),
        transport_(loop_, [this](const http::testing::FakeCallPtr& call) { server_.Handle(call); }),
        client_(transport_, loop_, clock_, {.protobuf = seed % 2 == 0}),
        reflector_(client_, loop_, sink_, {.kind = api::Kind::kNode, .whole_list = seed % 4 == 2, .seed = seed}) {
    server_.has_streaming = seed % 3 != 0;
    server_.pages_any_version = seed % 5 == 0;
    if (seed % 2 == 1) server_.events_at_once = seed % 7;
    // So that first lists are aborted too.
    for (uint64_t i = random_.Below(12); i > 0; --i) server_.Put("n" + std::to_string(i));
    server_.interfere = [this](const http::testing::FakeCallPtr& call) { return stormy_ && Refuse(call); };
  }

  void Run() {
    reflector_.Start();
    for (int step = 0; step < 150; ++step) {
      for (uint64_t i = random_.Below(5); i > 0; --i) Mutate();
      if (random_.Below(15) == 0) server_.Compact();
      server_.expired_as_event = random_.Below(2) == 0;
      if (random_.Below(4) != 0) {
        server_.Flush(
            [this](const http::testing::FakeCallPtr& call, std::vector<std::string> frames) { Harm(call, frames); });
      }
      if (random_.Below(4) == 0) server_.SendBookmarks();
      server_.SendMoreOfLists(random_.Below(6));
      for (const FakeCallPtr& call : transport_.open()) {
        if (random_.Below(40) == 0) call->End(Error::Unavailable("connection reset"));
      }
      loop_.Advance(std::chrono::milliseconds(random_.Below(20'000)));
    }
    stormy_ = false;
    server_.events_at_once = SIZE_MAX;
    server_.SendMoreOfLists(SIZE_MAX);
    // Whatever is still in progress is either alive or silent.
    loop_.Advance(3min);
    server_.Flush();
    loop_.Advance(3min);
    server_.Flush();
    loop_.Run();
  }

  void Check() const {
    ASSERT_EQ(sink_.objects.size(), server_.nodes().size());
    for (const auto& [name, node] : server_.nodes()) {
      ASSERT_TRUE(sink_.objects.contains(name)) << name;
      EXPECT_EQ(sink_.objects.at(name).metadata().resource_version, node.metadata().resource_version) << name;
    }
  }
  size_t calls() const { return transport_.calls().size(); }
  int parts() const { return sink_.parts; }

 private:
  void Mutate() {
    const std::string name = "n" + std::to_string(random_.Below(12));
    random_.Below(3) == 0 ? server_.Delete(name) : server_.Put(name);
  }

  bool Refuse(const http::testing::FakeCallPtr& call) {
    switch (random_.Below(14)) {
      case 0:
        call->Answer(429, "", {{"retry-after", "3"}});
        return true;
      case 1:
        call->Answer(500, "boom", {});
        return true;
      case 2:
        call->End(Error::Unavailable("connection refused"));
        return true;
      case 3:
        return true;  // never answered
      case 4:
        call->Answer(504, testing::StatusJson(504, "Timeout", "Too large resource version: 9, current: 8"));
        return true;
      default:
        return false;
    }
  }

  void Harm(const http::testing::FakeCallPtr& call, std::vector<std::string>& frames) {
    switch (random_.Below(9)) {
      case 0: {  // cut off
        std::string all;
        for (const std::string& frame : frames) all += frame;
        call->Data(std::string_view(all).substr(0, random_.Below(all.size())));
        return call->End(Error::Unavailable("connection reset"));
      }
      case 1:  // silent from here on
        return server_.Mute(call);
      case 2:  // duplicated
        for (const std::string& frame : frames) {
          call->Data(frame);
          call->Data(frame);
        }
        return;
      case 3:  // out of order
        for (size_t i = 1; i < frames.size(); i += 2) std::swap(frames[i - 1], frames[i]);
        break;
      case 4:  // with repeats of past events
        frames.push_back(server_.OldFrame(call, random_.Below(server_.history_size())));
        break;
      case 5:
        testing::FakeNodeServer::SendAll(call, frames);
        return call->End();
      default:
        break;
    }
    testing::FakeNodeServer::SendAll(call, frames);
  }

  base::Random random_;
  base::FakeClock clock_;
  base::testing::FakeLoop loop_{&clock_};
  testing::FakeNodeServer server_;
  http::testing::FakeTransport transport_;
  ApiClient client_;
  testing::PictureSink sink_;
  Reflector reflector_;
  bool stormy_ = true;
};

TEST(ReflectorModel, TheSinkEndsWithWhatTheServerHas) {
  size_t calls = 0;
  int parts = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Storm storm(seed);
    storm.Run();
    storm.Check();
    calls += storm.calls();
    parts += storm.parts();
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(calls, 2000u) << "the storm must have been one";
  EXPECT_GT(parts, 50) << "first lists must have come in parts";
}

}  // namespace
}  // namespace berth::client
