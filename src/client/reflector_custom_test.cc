// A reflector of a resource that is not registered: its objects come as JSON, whatever the client prefers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/fake_loop.h"
#include "client/reflector.h"
#include "client/testing/picture_sink.h"
#include "http/testing/fake_transport.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kPool[] =
    R"({"apiVersion":"example.com/v1","kind":"Pool","metadata":{"name":"NAME","uid":"u-NAME","resourceVersion":"VERSION"},"spec":{"seats":2}})";

std::string Pool(const std::string& name, int version) {
  std::string text = kPool;
  for (size_t at = text.find("NAME"); at != std::string::npos; at = text.find("NAME")) text.replace(at, 4, name);
  return text.replace(text.find("VERSION"), 7, std::to_string(version));
}
std::string Event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
std::string InitialEnd(int version) {
  return Event("BOOKMARK", R"({"apiVersion":"example.com/v1","kind":"Pool","metadata":{"resourceVersion":")" +
                               std::to_string(version) + R"(","annotations":{"k8s.io/initial-events-end":"true"}}})");
}

class ReflectorCustomTest : public ::testing::Test {
 protected:
  void Start(bool keep_json) {
    ReflectorOptions options{.kind = api::Kind::kCustomObject};
    options.custom = CustomSource{.resource = {"example.com", "v1", "pools"}, .keep_json = keep_json};
    options.on_problem = [this](const Error& error, int) { problems_.push_back(error.message); };
    reflector_ = std::make_unique<Reflector>(client_, loop_, sink_, std::move(options));
    reflector_->Start();
    loop_.Run();
  }
  const http::testing::FakeCallPtr& Call() const { return transport_.calls().back(); }

  base::FakeClock clock_;
  base::testing::FakeLoop loop_{&clock_};
  http::testing::FakeTransport transport_{loop_, [](const http::testing::FakeCallPtr&) {}};
  ApiClient client_{transport_, loop_, clock_, {.protobuf = true}};
  testing::PictureSink sink_;
  std::vector<std::string> problems_;
  std::unique_ptr<Reflector> reflector_;
};

TEST_F(ReflectorCustomTest, StreamsAndWatchesByItsOwnPathInJson) {
  Start(true);
  const http::Request& request = Call()->request();
  EXPECT_THAT(request.path, HasSubstr("/apis/example.com/v1/pools?watch=true"));
  EXPECT_THAT(request.headers, ::testing::Contains(::testing::Pair("Accept", "application/json")));
  EXPECT_EQ(reflector_->state().resource, "pools.v1.example.com");
  Call()->Head(200, {{"content-type", "application/json"}});
  Call()->Data(Event("ADDED", Pool("a", 5)) + Event("ADDED", Pool("b", 6)) + InitialEnd(6));
  loop_.Run();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a", "+b"));
  EXPECT_THAT(sink_.objects.at("a").As<api::CustomObject>()->json, HasSubstr("\"seats\":2"));
  Call()->Data(Event("MODIFIED", Pool("a", 7)) + Event("DELETED", Pool("b", 8)));
  loop_.Run();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("~a", "-b"));
  EXPECT_THAT(problems_, ::testing::IsEmpty());
}

TEST_F(ReflectorCustomTest, ListsWhereTheServerDoesNotStream) {
  Start(false);
  Call()->Answer(422, R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422})");
  loop_.Run();
  const http::Request& request = Call()->request();
  EXPECT_THAT(request.path, HasSubstr("/apis/example.com/v1/pools?limit=500"));
  EXPECT_THAT(request.headers, ::testing::Contains(::testing::Pair("Accept", "application/json")));
  Call()->Answer(200,
                 R"({"apiVersion":"example.com/v1","kind":"PoolList","metadata":{"resourceVersion":"9"},"items":[)" +
                     Pool("a", 5) + "]}");
  loop_.Run();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a"));
  EXPECT_EQ(sink_.objects.at("a").As<api::CustomObject>()->json, "") << "nobody asked for it";
  EXPECT_EQ(reflector_->resource_version(), "9");
}

}  // namespace
}  // namespace berth::client
