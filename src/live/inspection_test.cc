#include "live/inspection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspect/testing/json_schema.h"
#include "live/testing/loop_fixture.h"

namespace berth::live {
namespace {

using berth::testing::MakePod;
using inspect::testing::SchemaProblem;
using serving::HttpRequest;
using serving::HttpResponse;
using ::testing::HasSubstr;

class InspectionTest : public testing::LoopFixture {
 protected:
  HttpResponse Get(const std::string& target, const std::string& accept = "", const std::string& method = "GET") {
    HttpRequest request;
    EXPECT_TRUE(serving::ParseTarget(target, request).ok());
    request.method = method;
    if (!accept.empty()) request.headers.emplace_back("accept", accept);
    return inspection_.Serve(request);
  }
  void Fill() {
    TellNode("small", "1");
    Tell(MakePod("db").SchedulerName("default-scheduler").Request("cpu", "2"));
    Tell(MakePod("web").SchedulerName("default-scheduler").Request("cpu", "500m"));
    loop_->StartScheduling();
    EXPECT_NE(server_.Await({"pods/web/binding"}), "");
    EXPECT_NE(server_.Await({"/events", "Successfully assigned default/web"}), "");
    EXPECT_NE(server_.Await({"/events", "FailedScheduling"}), "");
    Settle();
  }

  std::atomic<bool> leader_ = true;
  Inspection inspection_{*loop_, {.is_leader = [this] { return leader_.load(); }}};
};

TEST_F(InspectionTest, EveryPageIsAsItsSchemaSays) {
  Fill();
  for (const char* page :
       {"/debug/berth/queue", "/debug/berth/decisions", "/debug/berth/nodes", "/debug/berth/nodes?node=small",
        "/debug/berth/pods/default/db/explain", "/debug/berth/pods/default/web/explain?nodes=1&attempts=1"}) {
    const HttpResponse response = Get(page);
    EXPECT_EQ(response.status, 200) << page << response.body;
    EXPECT_EQ(response.content_type, "application/json");
    EXPECT_EQ(SchemaProblem(response.body), "") << page;
    const HttpResponse text = Get(page, "text/plain");
    EXPECT_EQ(text.status, 200);
    EXPECT_EQ(text.content_type, "text/plain; charset=utf-8");
  }
  EXPECT_THAT(Get("/debug/berth/pods/default/db/explain", "text/plain").body, HasSubstr("Insufficient cpu"));
  EXPECT_THAT(Get("/debug/berth/").body, HasSubstr("/debug/berth/queue\n"));
}

TEST_F(InspectionTest, DecisionsCanBeFiltered) {
  Fill();
  const auto pods = [&](const std::string& query) {
    const std::string body = Get("/debug/berth/decisions?" + query).body;
    return std::string(body.find("default/db") != std::string::npos ? "db " : "") +
           (body.find("default/web") != std::string::npos ? "web " : "");
  };
  EXPECT_EQ(pods("limit=2000"), "db web ");
  EXPECT_EQ(pods("outcome=Bound"), "web ");
  EXPECT_EQ(pods("outcome=Unschedulable"), "db ");
  EXPECT_EQ(pods("pod=db"), "db ");
  EXPECT_EQ(pods("node=small"), "web ");
  EXPECT_EQ(pods("namespace=other"), "");
  EXPECT_EQ(pods("before=1"), "");
}

TEST_F(InspectionTest, WhatCannotBeAnsweredIsASentenceWithItsStatus) {
  Fill();
  const auto expect = [&](const std::string& target, int status, const std::string& text) {
    const HttpResponse response = Get(target);
    EXPECT_EQ(response.status, status) << target;
    EXPECT_THAT(response.body, HasSubstr(text)) << target;
    EXPECT_EQ(SchemaProblem(response.body), "") << target;
  };
  expect("/debug/berth/pods/default/nobody/explain", 404, "knows no pod default/nobody");
  expect("/debug/berth/pods/default/explain", 404, "expected /debug/berth/pods/NAMESPACE/NAME/explain");
  expect("/debug/berth/pods//db/explain", 404, "expected /debug/berth/pods/NAMESPACE/NAME/explain");
  expect("/debug/berth/pods/default/db", 404, "expected /debug/berth/pods/NAMESPACE/NAME/explain");
  expect("/debug/berth/nothing", 404, "no such page");
  expect("/debug/berth/nodes?node=nobody", 404, "knows no node");
  expect("/debug/berth/queue?limit=0", 400, "limit: expected a number from 1 to 5000");
  expect("/debug/berth/queue?limit=5001", 400, "found \\\"5001\\\"");
  expect("/debug/berth/queue?name=x", 400, "unknown parameter");
  expect("/debug/berth/decisions?outcome=bound", 400, "outcome: expected Bound");
  leader_ = false;
  expect("/debug/berth/queue", 503, "not the leader");
  leader_ = true;
  EXPECT_EQ(Get("/debug/berth/queue", "", "POST").status, 405);
  EXPECT_EQ(Get("/debug/berth/pods/default/nobody/explain", "text/plain").body,
            "the scheduler knows no pod default/nobody: it does not exist, has run to its end, or waits for another "
            "scheduler\n");
}

TEST_F(InspectionTest, TheConsoleComesWithAStrictPolicyAndItsPartsBesideIt) {
  const auto header = [](const HttpResponse& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return std::string();
  };
  const HttpResponse page = Get("/debug/berth/console");
  EXPECT_EQ(page.status, 200) << "also before the cluster is read: the page says what is the matter";
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(header(page, "content-security-policy"), ::testing::StartsWith("default-src 'none'; script-src 'self'"));
  EXPECT_THAT(header(page, "content-security-policy"), HasSubstr("frame-ancestors 'none'"));
  EXPECT_EQ(header(page, "x-frame-options"), "DENY");
  EXPECT_EQ(Get("/debug/berth/console.js").content_type, "text/javascript; charset=utf-8");
  EXPECT_THAT(Get("/debug/berth/console.css").body, HasSubstr("#lanes"));
}

// A browser that has credentials for the scheduler must not use them for other sites' pages.
TEST_F(InspectionTest, ABrowserMayReadItForItsOwnOriginOnly) {
  Fill();
  const auto status = [&](std::vector<std::pair<std::string, std::string>> headers) {
    HttpRequest request;
    EXPECT_TRUE(serving::ParseTarget("/debug/berth/queue", request).ok());
    request.headers = std::move(headers);
    return inspection_.Serve(request).status;
  };
  EXPECT_EQ(status({{"host", "s:10259"}, {"origin", "https://s:10259"}, {"sec-fetch-site", "same-origin"}}), 200);
  EXPECT_EQ(status({{"host", "s:10259"}, {"sec-fetch-site", "none"}}), 200) << "typed into the address bar";
  EXPECT_EQ(status({{"host", "s:10259"}, {"origin", "https://evil.example"}}), 403);
  EXPECT_EQ(status({{"host", "s:10259"}, {"origin", "null"}}), 403);
  EXPECT_EQ(status({{"host", "s:10259"}, {"origin", "http://s:10259"}}), 403);
  EXPECT_EQ(status({{"host", "s:10259"}, {"sec-fetch-site", "cross-site"}}), 403);
  EXPECT_EQ(status({{"host", "s:10259"}, {"sec-fetch-site", "same-site"}}), 403);
}

TEST_F(InspectionTest, EventsTellWhatHasHappenedSinceTheLastOne) {
  Fill();
  const auto events = [&](const std::string& last) {
    HttpRequest request;
    EXPECT_TRUE(serving::ParseTarget("/debug/berth/events", request).ok());
    if (!last.empty()) request.headers = {{"last-event-id", last}};
    HttpResponse response = inspection_.Serve(request);
    EXPECT_EQ(response.content_type, "text/event-stream");
    EXPECT_NE(response.stream, nullptr);
    return response.stream;
  };
  const auto all = events("");
  const std::string first = all->next().value_or("ended");
  EXPECT_THAT(first, ::testing::StartsWith("retry: 1000\nid: "));
  EXPECT_THAT(first, HasSubstr("default/db"));
  EXPECT_THAT(first, HasSubstr("\"Unschedulable\":1"));
  const std::string id = first.substr(16, first.find('\n', 16) - 16);
  EXPECT_EQ(all->next(), "") << "nothing has happened since";
  EXPECT_THAT(*events(id)->next(), HasSubstr("\"attempts\":[]"));
  EXPECT_THAT(*events("999999999")->next(), HasSubstr("default/db")) << "a number of another scheduler's";
  EXPECT_THAT(*events("nonsense")->next(), HasSubstr("default/db"));
  EXPECT_GE(all->pause, std::chrono::milliseconds(100)) << "ten a second at most";
  EXPECT_NE(all->heartbeat, "");
  Tell(MakePod("late").SchedulerName("default-scheduler").Request("cpu", "100m"));
  EXPECT_NE(server_.Await({"pods/late/binding"}), "");
  std::string told;
  for (int i = 0; i < 1000 && told.find("default/late") == std::string::npos; ++i) {
    std::promise<void> nothing;
    (void)nothing.get_future().wait_for(std::chrono::milliseconds(10));
    told += all->next().value_or("ended");
  }
  EXPECT_THAT(told, HasSubstr("default/late"));
  EXPECT_EQ(told.find("default/db"), std::string::npos) << "it was told before";
  leader_ = false;
  EXPECT_EQ(all->next(), std::nullopt) << "who does not lead any more has nothing to tell";
}

TEST_F(InspectionTest, BeforeTheClusterIsReadThereIsNothingToTell) { EXPECT_EQ(Get("/debug/berth/queue").status, 503); }

// The scheduling thread is busy for longer than a page waits.
TEST_F(InspectionTest, APageThatComesTooLateIsGivenUpAndHarmsNobody) {
  Fill();
  Inspection impatient(*loop_, {.patience = std::chrono::milliseconds(1)});
  std::promise<void> busy, free;
  loop_->Post([&] {
    busy.set_value();
    free.get_future().wait();
  });
  busy.get_future().wait();
  HttpRequest request;
  ASSERT_TRUE(serving::ParseTarget("/debug/berth/queue", request).ok());
  EXPECT_EQ(impatient.Serve(request).status, 504);
  ASSERT_TRUE(serving::ParseTarget("/debug/berth/pods/default/db/explain", request).ok());
  EXPECT_EQ(impatient.Serve(request).status, 504);
  free.set_value();
  Settle();
  EXPECT_EQ(Get("/debug/berth/pods/default/db/explain").status, 200);
}

TEST_F(InspectionTest, OneExplanationAtATimeAndOneThatWaits) {
  Fill();
  std::promise<void> busy, free;
  loop_->Post([&] {
    busy.set_value();
    free.get_future().wait();
  });
  busy.get_future().wait();
  const std::string page = "/debug/berth/pods/default/db/explain";
  std::vector<std::future<int>> answers;
  for (int i = 0; i < 6; ++i) {
    answers.push_back(std::async(std::launch::async, [&] { return Get(page).status; }));
  }
  // Requests for which there is no place are rejected while the others still wait.
  int refused = 0;
  for (int tries = 0; refused < 4 && tries < 10'000; ++tries) {
    refused = 0;
    for (const auto& answer : answers) {
      refused += answer.wait_for(std::chrono::milliseconds(1)) == std::future_status::ready;
    }
  }
  EXPECT_EQ(refused, 4);
  free.set_value();
  int answered = 0;
  for (auto& answer : answers) answered += answer.get() == 200;
  EXPECT_EQ(answered, 2);
}

}  // namespace
}  // namespace berth::live
