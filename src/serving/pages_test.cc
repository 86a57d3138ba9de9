// The pages by themselves: targets, health, statusz, flagz, resource metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/health.h"
#include "serving/http.h"
#include "serving/pod_resource_metrics.h"
#include "serving/status_body.h"
#include "serving/zpages.h"

namespace berth::serving {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

HttpRequest Target(const std::string& target) {
  HttpRequest request;
  EXPECT_TRUE(ParseTarget(target, request).ok()) << target;
  return request;
}

TEST(ParseTarget, DecodesPathAndQuery) {
  const HttpRequest request = Target("/a%2Fb+c?verbose&exclude=x%20y&exclude=z+1&=&bad=%zz#fragment");
  EXPECT_EQ(request.path, "/a/b+c");
  EXPECT_TRUE(request.HasQuery("verbose"));
  EXPECT_THAT(request.QueryValues("exclude"), ElementsAre("x y", "z 1"));
  EXPECT_FALSE(request.HasQuery("bad"));
  HttpRequest ignored;
  for (const char* bad : {"", "*", "http://host/", "/%", "/%1", "/%g1", "healthz"}) {
    EXPECT_FALSE(ParseTarget(bad, ignored).ok()) << bad;
  }
}

class HealthPageTest : public testing::Test {
 protected:
  std::optional<std::string> problem_;
  metrics::Registry registry_;
  metrics::HealthCheckMetrics metrics_{registry_};
  HealthPage page_{
      "readyz",
      {PingCheck(), {"leaderElection", [this] { return problem_; }}, {"shutdown", [] { return std::nullopt; }}},
      &metrics_};
};

TEST_F(HealthPageTest, SaysOkOrEveryCheck) {
  EXPECT_EQ(page_.Serve(Target("/readyz")).body, "ok");
  EXPECT_EQ(page_.Serve(Target("/readyz?verbose")).body,
            "[+]ping ok\n[+]leaderElection ok\n[+]shutdown ok\nreadyz check passed\n");
}

TEST_F(HealthPageTest, WithholdsTheReasonButNotOnTheCheckItself) {
  problem_ = "failed election to renew leadership on lease kube-scheduler";
  const HttpResponse response = page_.Serve(Target("/readyz"));
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body,
            "[+]ping ok\n[-]leaderElection failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n");
  const HttpResponse one = page_.ServeOne(page_.checks()[1]);
  EXPECT_EQ(one.status, 500);
  EXPECT_EQ(one.body, "internal server error: failed election to renew leadership on lease kube-scheduler\n");
  EXPECT_EQ(page_.ServeOne(page_.checks()[0]).body, "ok");
}

TEST_F(HealthPageTest, LeavesOutWhatIsExcluded) {
  problem_ = "not leading";
  const HttpResponse response = page_.Serve(Target("/readyz?verbose&exclude=leaderElection&exclude=etcd&exclude=log"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            "[+]ping ok\n[+]leaderElection excluded: ok\n[+]shutdown ok\n"
            "warn: some health checks cannot be excluded: no matches for \"etcd\",\"log\"\nreadyz check passed\n");
}

TEST_F(HealthPageTest, CountsItsResults) {
  page_.Serve(Target("/readyz"));
  problem_ = "not leading";
  page_.Serve(Target("/readyz"));
  const std::string text = registry_.Expose();
  EXPECT_THAT(text, HasSubstr("kubernetes_healthcheck{name=\"leaderElection\",type=\"readyz\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("kubernetes_healthcheck{name=\"ping\",type=\"readyz\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("kubernetes_healthchecks_total{name=\"leaderElection\",status=\"error\",type=\"readyz\"} 1\n"));
}

TEST(HealthPage, HasPingWhenItHasNothingElse) {
  EXPECT_EQ(HealthPage("livez", {}, nullptr).Serve(Target("/livez?verbose")).body, "[+]ping ok\nlivez check passed\n");
}

ComponentStatus Status() {
  const base::Time started{std::chrono::seconds(1794800546)};
  return {.component = "kube-scheduler",
          .started = started,
          .now = started + std::chrono::seconds(3725),
          .build = {.go_version = "g++ 12"},
          .binary_version = "1.36.4",
          .emulation_version = "1.36",
          .paths = {"/configz", "/healthz", "/healthz/ping", "/metrics", "/metrics/slis"}};
}

TEST(Statusz, IsTextForPeople) {
  EXPECT_EQ(StatuszPage({}, Status()).body,
            "\nkube-scheduler statusz\nWarning: This endpoint is not meant to be machine parseable, has no formatting "
            "compatibility guarantees and is for debugging purposes only.\n\n"
            "Started: Mon Nov 16 03:42:26 UTC 2026\nUp: 1 hr 02 min 05 sec\nGo version: g++ 12\n"
            "Binary version: 1.36.4\nEmulation version: 1.36\nPaths: /configz /healthz /metrics\n");
}

TEST(Statusz, IsAnObjectForWhoAsksForOne) {
  struct Case {
    const char* accept;
    int status;
    const char* body;
  };
  for (const Case& c :
       {Case{"*/*", 200, "\nkube-scheduler statusz"}, Case{"text/plain;q=0.5", 200, "\nkube-scheduler statusz"},
        Case{
            "application/json;v=v1beta1;g=config.k8s.io;as=Statusz", 200,
            "{\"kind\":\"Statusz\",\"apiVersion\":\"config.k8s.io/v1beta1\",\"metadata\":{\"name\":\"kube-scheduler\"},"
            "\"startTime\":\"2026-11-16T03:42:26Z\",\"uptimeSeconds\":3725,\"goVersion\":\"g++ 12\","
            "\"binaryVersion\":\"1.36.4\",\"emulationVersion\":\"1.36\",\"paths\":[\"/configz\",\"/healthz\",\"/"
            "metrics\"]}\n"},
        Case{"text/html, application/json; g=config.k8s.io; v=v1alpha1; as=Statusz", 200, "config.k8s.io/v1alpha1"},
        Case{"application/json", 406, "NotAcceptable"},
        Case{"application/json;v=v1;g=config.k8s.io;as=Statusz", 406, ""}, Case{"image/png", 406, ""},
        Case{";;,,;", 406, ""}}) {
    const HttpResponse response = StatuszPage({.headers = {{"accept", c.accept}}}, Status());
    EXPECT_EQ(response.status, c.status) << c.accept;
    EXPECT_THAT(response.body, HasSubstr(c.body)) << c.accept;
  }
}

TEST(Flagz, ListsFlagsByName) {
  const std::map<std::string, std::string> flags = {{"v", "2"}, {"config", "/etc/c.yaml"}};
  EXPECT_THAT(FlagzPage({}, "kube-scheduler", flags).body, HasSubstr("purposes only.\nconfig=/etc/c.yaml\nv=2\n"));
  EXPECT_THAT(
      FlagzPage({.headers = {{"accept", "application/json;v=v1beta1;g=config.k8s.io;as=Flagz"}}}, "k", flags).body,
      HasSubstr("\"flags\":{\"config\":\"/etc/c.yaml\",\"v\":\"2\"}"));
}

TEST(StatusBody, IsUpstreams) {
  const AccessQuestion question{{.name = "system:anonymous"}, "get", "/metrics"};
  const HttpResponse forbidden = Forbidden({}, question, "");
  EXPECT_EQ(forbidden.status, 403);
  EXPECT_EQ(forbidden.content_type, "application/json");
  EXPECT_EQ(
      forbidden.body,
      "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"forbidden: "
      "User \\\"system:anonymous\\\" cannot get path \\\"/metrics\\\"\",\"reason\":\"Forbidden\",\"details\":{},"
      "\"code\":403}\n");
  EXPECT_THAT(Forbidden({}, {{.name = "<b>"}, "get", "/&"}, "no RBAC").body,
              HasSubstr("User \\\"&lt;b&gt;\\\" cannot get path \\\"/&amp;\\\": no RBAC"));
  EXPECT_EQ(Unauthorized({}).body,
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":"
            "\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}\n");
  EXPECT_THAT(Unauthorized({.headers = {{"user-agent", "curl/8"}}}).body, HasSubstr("{\n"));
}

TEST(PodResourceMetrics, TellRequestsAndLimitsWithUnits) {
  api::Pod pod;
  pod.metadata.name = "web";
  pod.metadata.namespace_ = Symbol("default");
  pod.spec.node_name = "n1";
  pod.spec.scheduler_name = "default-scheduler";
  pod.spec.priority = 1000;
  const auto amounts = [](std::vector<std::pair<const char*, const char*>> list) {
    api::ResourceList out;
    for (const auto& [name, amount] : list) out.Set(Symbol(name), *api::Quantity::Parse(amount));
    return out;
  };
  PodResourceWriter writer;
  writer.Add(pod, amounts({{"cpu", "1500m"}, {"memory", "1Gi"}, {"nvidia.com/gpu", "2"}, {"pods", "0"}}),
             amounts({{"hugepages-2Mi", "4Mi"}}));
  pod.metadata.name = "finished";
  pod.status.phase = "Succeeded";
  writer.Add(pod, amounts({{"cpu", "1"}}), {});
  pod.metadata.name = "pending";
  pod.spec.node_name = "";
  pod.spec.priority.reset();
  writer.Add(pod, amounts({{"attachable-volumes-csi-x", "1"}}), {});
  const std::string text = writer.Finish();
  const std::string web = "namespace=\"default\",node=\"n1\",pod=\"web\",priority=\"1000\",resource=";
  EXPECT_THAT(text, HasSubstr("# HELP kube_pod_resource_request [STABLE] Resources requested by workloads"));
  EXPECT_THAT(text, HasSubstr("kube_pod_resource_request{" + web +
                              "\"cpu\",scheduler=\"default-scheduler\",unit=\"cores\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("\"memory\",scheduler=\"default-scheduler\",unit=\"bytes\"} 1.073741824e+09\n"));
  EXPECT_THAT(text, HasSubstr("\"nvidia.com/gpu\",scheduler=\"default-scheduler\",unit=\"\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("kube_pod_resource_limit{" + web +
                              "\"hugepages-2Mi\",scheduler=\"default-scheduler\",unit=\"bytes\"} 4.194304e+06\n"));
  EXPECT_THAT(text, HasSubstr("node=\"\",pod=\"pending\",priority=\"\",resource=\"attachable-volumes-csi-x\","
                              "scheduler=\"default-scheduler\",unit=\"integer\"} 1\n"));
  EXPECT_EQ(text.find("finished"), std::string::npos);
  EXPECT_EQ(text.find("\"pods\""), std::string::npos);
}

}  // namespace
}  // namespace berth::serving
