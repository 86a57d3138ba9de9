// For tests: a reflector of nodes with an in-memory server, in virtual time, in JSON (false) and protobuf (true).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/testing/fake_loop.h"
#include "client/reflector.h"
#include "client/testing/fake_node_server.h"
#include "client/testing/picture_sink.h"
#include "http/testing/fake_transport.h"

namespace berth::client::testing {

class ReflectorFixture : public ::testing::TestWithParam<bool> {
 protected:
  ReflectorFixture()
      : transport_(loop_, [this](const http::testing::FakeCallPtr& call) { server_.Handle(call); }),
        client_(transport_, loop_, clock_, {.protobuf = GetParam()}) {}

  void Start(ReflectorOptions options = {.kind = api::Kind::kNode},
             Reflector::From from = Reflector::From::kAnyVersion) {
    options.on_problem = [this](const Error& error, int status) {
      problems_.push_back(std::to_string(status) + " " + error.message);
    };
    reflector_ = std::make_unique<Reflector>(client_, loop_, sink_, options);
    reflector_->Start(from);
    loop_.Run();
  }

  // The sink knows everything that the server has.
  void ExpectInStep() const {
    ASSERT_EQ(sink_.objects.size(), server_.nodes().size());
    for (const auto& [name, node] : server_.nodes()) {
      ASSERT_TRUE(sink_.objects.contains(name)) << name;
      EXPECT_EQ(sink_.objects.at(name).metadata().resource_version, node.metadata().resource_version) << name;
    }
  }
  const http::Request& Call(size_t index) const { return transport_.calls().at(index)->request(); }
  const http::Request& LastCall() const { return transport_.calls().back()->request(); }

  base::FakeClock clock_;
  base::testing::FakeLoop loop_{&clock_};
  FakeNodeServer server_;
  http::testing::FakeTransport transport_;
  ApiClient client_;
  PictureSink sink_;
  std::vector<std::string> problems_;
  std::unique_ptr<Reflector> reflector_;
};

}  // namespace berth::client::testing
