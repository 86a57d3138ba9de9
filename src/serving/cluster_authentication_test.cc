#include "serving/cluster_authentication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "serving/testing/certificates.h"

namespace berth::serving {
namespace {

using testing::HasSubstr;

// A ConfigMap that changes.
class ConfigMapServer final : public http::Transport {
 public:
  http::CallId Start(http::Request, http::ResponseHandler handler) override {
    std::string body;
    int answer = 0;
    {
      const std::lock_guard lock(mutex_);
      body = body_;
      answer = status_;
      ++asked_;
    }
    asked_again_.notify_all();
    handler.on_head({.status = answer});
    handler.on_data(body);
    handler.on_done({});
    return 1;
  }
  void Cancel(http::CallId) override {}

  void Publish(const std::string& client_ca, int status = 200) {
    rapidjson::StringBuffer pem;
    rapidjson::Writer<rapidjson::StringBuffer>(pem).String(client_ca.c_str());
    const std::lock_guard lock(mutex_);
    body_ = std::string(R"({"data":{"client-ca-file":)") + pem.GetString() + "}}";
    status_ = status;
  }
  void AwaitQuestions(int count) {
    std::unique_lock lock(mutex_);
    const int until = asked_ + count;
    asked_again_.wait(lock, [&] { return asked_ >= until; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable asked_again_;
  std::string body_;  // guarded by mutex_
  int status_ = 200;  // guarded by mutex_
  int asked_ = 0;     // guarded by mutex_
};

class ClusterAuthenticationTest : public testing::Test {
 protected:
  bool Knows(const TestAuthority& authority) {
    return authenticator_->Authenticate({.client_certificates = {DerOf(authority.Sign({"admin"}).certificate)}}).ok();
  }

  base::SystemClock clock_;
  TestAuthority before_{"before"}, after_{"after"};
  std::unique_ptr<Authenticator> authenticator_ = *Authenticator::Create({}, nullptr, clock_, clock_);
  ConfigMapServer server_;
  ClusterAuthenticationFollower follower_{server_, *authenticator_};
};

TEST_F(ClusterAuthenticationTest, NewAuthoritiesReplaceTheOldOnes) {
  server_.Publish(before_.pem());
  ASSERT_TRUE(follower_.Refresh().ok());
  EXPECT_TRUE(Knows(before_));
  EXPECT_FALSE(Knows(after_));
  server_.Publish(after_.pem());
  ASSERT_TRUE(follower_.Refresh().ok());
  EXPECT_FALSE(Knows(before_));
  EXPECT_TRUE(Knows(after_));
}

TEST_F(ClusterAuthenticationTest, WhatCannotBeReadOrUsedChangesNothing) {
  server_.Publish(before_.pem());
  ASSERT_TRUE(follower_.Refresh().ok());
  server_.Publish(after_.pem(), 403);
  EXPECT_THAT(follower_.Refresh().error().message, HasSubstr("found 403"));
  EXPECT_TRUE(Knows(before_));
  server_.Publish("no certificate");
  EXPECT_FALSE(follower_.Refresh().ok());
  EXPECT_TRUE(Knows(before_));
}

TEST_F(ClusterAuthenticationTest, FollowingLooksAgainAndAgain) {
  server_.Publish(before_.pem(), 503);
  follower_.Follow(std::chrono::milliseconds(1));
  server_.AwaitQuestions(2);
  server_.Publish(after_.pem());
  server_.AwaitQuestions(2);  // the first may have been answered before the change
  EXPECT_TRUE(Knows(after_));
}

}  // namespace
}  // namespace berth::serving
