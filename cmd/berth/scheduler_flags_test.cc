#include "scheduler_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/load.h"

namespace berth::cmd {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Arguments = std::vector<std::string>;

// Facts about kube-scheduler v1.36.4 --help: what precedes a flag's text in its line, and its default.
struct KnownFlag {
  const char* group;
  const char* spelled;
  const char* value;
};

constexpr KnownFlag kKnown[] = {
    {"Misc", "--config string", ""},
    {"Misc", "--master string", ""},
    {"Misc", "--write-config-to string", ""},
    {"Secure serving", "--bind-address ip", "0.0.0.0"},
    {"Secure serving", "--cert-dir string", ""},
    {"Secure serving", "--disable-http2-serving", "false"},
    {"Secure serving", "--http2-max-streams-per-connection int", "0"},
    {"Secure serving", "--permit-address-sharing", "false"},
    {"Secure serving", "--permit-port-sharing", "false"},
    {"Secure serving", "--secure-port int", "10259"},
    {"Secure serving", "--tls-cert-file string", ""},
    {"Secure serving", "--tls-cipher-suites strings", "[]"},
    {"Secure serving", "--tls-curve-preferences int32Slice", "[]"},
    {"Secure serving", "--tls-min-version string", ""},
    {"Secure serving", "--tls-private-key-file string", ""},
    {"Secure serving", "--tls-sni-cert-key namedCertKey", "[]"},
    {"Authentication", "--authentication-kubeconfig string", ""},
    {"Authentication", "--authentication-skip-lookup", "false"},
    {"Authentication", "--authentication-token-webhook-cache-ttl duration", "10s"},
    {"Authentication", "--authentication-tolerate-lookup-failure", "true"},
    {"Authentication", "--client-ca-file string", ""},
    {"Authentication", "--requestheader-allowed-names strings", "[]"},
    {"Authentication", "--requestheader-client-ca-file string", ""},
    {"Authentication", "--requestheader-extra-headers-prefix strings", "[x-remote-extra-]"},
    {"Authentication", "--requestheader-group-headers strings", "[x-remote-group]"},
    {"Authentication", "--requestheader-uid-headers strings", "[]"},
    {"Authentication", "--requestheader-username-headers strings", "[x-remote-user]"},
    {"Authorization", "--authorization-always-allow-paths strings", "[/healthz,/readyz,/livez]"},
    {"Authorization", "--authorization-kubeconfig string", ""},
    {"Authorization", "--authorization-webhook-cache-authorized-ttl duration", "10s"},
    {"Authorization", "--authorization-webhook-cache-unauthorized-ttl duration", "10s"},
    {"Deprecated", "--contention-profiling", "true"},
    {"Deprecated", "--kube-api-burst int32", "100"},
    {"Deprecated", "--kube-api-content-type string", "application/vnd.kubernetes.protobuf"},
    {"Deprecated", "--kube-api-qps float32", "50"},
    {"Deprecated", "--kubeconfig string", ""},
    {"Deprecated", "--pod-max-in-unschedulable-pods-duration duration", "5m0s"},
    {"Deprecated", "--profiling", "true"},
    {"Leader election", "--leader-elect", "true"},
    {"Leader election", "--leader-elect-lease-duration duration", "15s"},
    {"Leader election", "--leader-elect-renew-deadline duration", "10s"},
    {"Leader election", "--leader-elect-resource-lock string", "leases"},
    {"Leader election", "--leader-elect-resource-name string", "kube-scheduler"},
    {"Leader election", "--leader-elect-resource-namespace string", "kube-system"},
    {"Leader election", "--leader-elect-retry-period duration", "2s"},
    {"Feature gate", "--emulated-version strings", "[]"},
    {"Feature gate", "--feature-gates colonSeparatedMultimapStringString", ""},
    {"Feature gate", "--min-compatibility-version strings", "[]"},
    {"Metrics", "--allow-metric-labels stringToString", "[]"},
    {"Metrics", "--allow-metric-labels-manifest string", ""},
    {"Metrics", "--disabled-metrics strings", "[]"},
    {"Metrics", "--show-hidden-metrics-for-version string", ""},
    {"Logs", "--log-flush-frequency duration", "5s"},
    {"Logs", "--log-json-info-buffer-size quantity", "0"},
    {"Logs", "--log-json-split-stream", "false"},
    {"Logs", "--log-text-info-buffer-size quantity", "0"},
    {"Logs", "--log-text-split-stream", "false"},
    {"Logs", "--logging-format string", "text"},
    {"Logs", "-v, --v Level", "0"},
    {"Logs", "--vmodule pattern=N,...", ""},
    {"Global", "-h, --help", "false"},
    {"Global", "--version version[=true]", "false"},
};

// berth's own, which upstream does not have.
constexpr KnownFlag kOwn[] = {
    {"Berth", "--algorithm-provider string", ""},
    {"Berth", "--annotate-results", "false"},
    {"Berth", "--explain-memory quantity", "32Mi"},
    {"Berth", "--plugin-dir strings", "[]"},
    {"Berth", "--policy-config-file string", ""},
    {"Berth", "--policy-configmap string", ""},
    {"Berth", "--policy-configmap-namespace string", "kube-system"},
    {"Berth", "--record string", ""},
    {"Berth", "--record-size quantity", "1Gi"},
    {"Berth", "--seed uint", "0"},
    {"Berth", "--use-legacy-policy-config", "false"},
    {"Berth", "--verify-incremental", "false"},
    {"Berth", "--watch-config", "false"},
};

std::string NameIn(std::string spelled) {
  spelled.erase(0, spelled.find("--") + 2);
  return spelled.substr(0, spelled.find(' '));
}

std::string ErrorOf(const Arguments& arguments) {
  SchedulerFlags flags("kube-scheduler");
  const Result<void> parsed = flags.Parse(arguments);
  return parsed ? "no error" : parsed.error().message;
}

// Parses, which must succeed, and applies the flags to `configuration`.
std::string ApplyErrorOf(const Arguments& arguments, config::KubeSchedulerConfiguration& configuration) {
  SchedulerFlags flags("kube-scheduler");
  const Result<void> parsed = flags.Parse(arguments);
  if (!parsed) return "not parsed: " + parsed.error().message;
  const Result<void> applied = ApplyOptions(flags.options(), configuration);
  return applied ? "no error" : applied.error().message;
}

std::string ApplyErrorOf(const Arguments& arguments) {
  config::KubeSchedulerConfiguration configuration = config::DefaultConfiguration({});
  return ApplyErrorOf(arguments, configuration);
}

TEST(SchedulerFlags, HelpHasUpstreamsGroupsNamesAndTypes) {
  const std::string help = SchedulerFlags("kube-scheduler").Help();
  std::string group;
  size_t at = 0;
  const auto expect = [&](const KnownFlag& flag) {
    if (group != flag.group) {
      group = flag.group;
      const size_t heading = help.find("\n" + group + " flags:\n\n", at);
      ASSERT_NE(heading, std::string::npos) << group << " after the groups before it";
      at = heading;
    }
    const std::string spelled = flag.spelled;
    const size_t line = help.find((spelled[1] == '-' ? "\n      " : "\n  ") + spelled + " ", at);
    ASSERT_NE(line, std::string::npos) << spelled << " in its place";
    at = line;
  };
  for (const KnownFlag& flag : kKnown) expect(flag);
  for (const KnownFlag& flag : kOwn) expect(flag);
  EXPECT_THAT(help, HasSubstr("\nUsage:\n  kube-scheduler [flags]\n"));
}

TEST(SchedulerFlags, DefaultsAreUpstreamsAndThereAreNoOtherFlags) {
  std::map<std::string, std::string> expected;
  for (const KnownFlag& flag : kKnown) expected[NameIn(flag.spelled)] = flag.value;
  for (const KnownFlag& flag : kOwn) expected[NameIn(flag.spelled)] = flag.value;
  std::map<std::string, std::string> found;
  for (const auto& [name, value] : SchedulerFlags("kube-scheduler").Values()) found[name] = value;
  EXPECT_EQ(found, expected);
}

TEST(SchedulerFlags, HelpPrintsDefaultsAsPflagDoes) {
  const std::string help = SchedulerFlags("berth scheduler").Help();
  EXPECT_THAT(
      help, AllOf(HasSubstr(" (default 10259)\n"), HasSubstr(" (default 5m0s)\n"), HasSubstr(" (default \"leases\")\n"),
                  HasSubstr(" (default [x-remote-user])\n"), HasSubstr(" (default true)\n"),
                  HasSubstr(" (default [])\n"), Not(HasSubstr("(default \"\")")), Not(HasSubstr("(default false)"))));
}

TEST(SchedulerFlags, HelpFitsATerminal) {
  std::istringstream help(SchedulerFlags("berth scheduler").Help(120));
  for (std::string line; std::getline(help, line);) EXPECT_LE(line.size(), 120u) << line;
}

TEST(SchedulerFlags, SyntaxIsPflags) {
  SchedulerFlags flags("kube-scheduler");
  const Result<void> parsed = flags.Parse({"--secure_port=0x2812",
                                           "--bind-address",
                                           "::1",
                                           "-v",
                                           "4",
                                           "--leader-elect=F",
                                           "--vmodule=a=1,",
                                           "--vmodule",
                                           "q*=5",
                                           "--kube-api-qps=1.5",
                                           "--leader-elect-retry-period=1m30s",
                                           "--disabled-metrics=a,b",
                                           "--disabled-metrics",
                                           "\"c\"",
                                           "--authorization-always-allow-paths=/x",
                                           "--verify-incremental",
                                           "--allow-metric-labels=m,l=a,b",
                                           "--seed=18446744073709551615",
                                           "--explain-memory=1Mi",
                                           "--plugin-dir=/a,/b",
                                           "--master=",
                                           ""});
  ASSERT_TRUE(parsed) << parsed.error().message;
  const SchedulerOptions& options = flags.options();
  EXPECT_EQ(options.secure_serving.secure_port, 0x2812);
  EXPECT_EQ(options.secure_serving.bind_address.text, "::1");
  EXPECT_EQ(options.logging.verbosity.level, 4u);
  EXPECT_THAT(options.logging.vmodule.items,
              ElementsAre(std::pair<std::string, uint32_t>("a", 1), std::pair<std::string, uint32_t>("q*", 5)));
  EXPECT_FALSE(options.leader_election.leader_elect);
  EXPECT_EQ(options.deprecated.qps, 1.5f);
  EXPECT_EQ(options.leader_election.retry_period, std::chrono::seconds(90));
  EXPECT_THAT(options.metrics.disabled, ElementsAre("a", "b", "c"));
  EXPECT_THAT(options.authorization.always_allow_paths, ElementsAre("/x")) << "a value replaces the default";
  EXPECT_TRUE(options.verify_incremental);
  EXPECT_THAT(options.metrics.allow_labels, ElementsAre(std::pair<const std::string, std::string>("m,l", "a,b")));
  EXPECT_EQ(options.seed, UINT64_MAX);
  EXPECT_EQ(options.explain_memory.bytes, 1 << 20);
  EXPECT_THAT(options.plugin_dirs, ElementsAre("/a", "/b"));
  EXPECT_TRUE(options.Given("secure-port"));
  EXPECT_FALSE(options.Given("cert-dir"));
}

TEST(SchedulerFlags, ErrorsReadAsUpstreams) {
  const struct {
    Arguments arguments;
    const char* error;
  } kCases[] = {
      {{"--foo"}, "unknown flag: --foo"},
      {{"--policy_file=x"}, "unknown flag: --policy_file"},
      {{"--leader-elct"}, "unknown flag: --leader-elct, did you mean --leader-elect?"},
      {{"--secure_prt=1"}, "unknown flag: --secure_prt, did you mean --secure-port?"},
      {{"-xv"}, "unknown shorthand flag: 'x' in -xv"},
      {{"--=x"}, "bad flag syntax: --=x"},
      {{"--config"}, "flag needs an argument: --config"},
      {{"-v"}, "flag needs an argument: 'v' in -v"},
      {{"-v=x"}, "invalid argument \"x\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"x\": invalid syntax"},
      {{"--secure-port=x"},
       "invalid argument \"x\" for \"--secure-port\" flag: strconv.ParseInt: parsing \"x\": invalid syntax"},
      {{"--kube-api-burst=2147483648"},
       "invalid argument \"2147483648\" for \"--kube-api-burst\" flag: strconv.ParseInt: parsing \"2147483648\": value "
       "out of range"},
      {{"--leader-elect=maybe"},
       "invalid argument \"maybe\" for \"--leader-elect\" flag: strconv.ParseBool: parsing \"maybe\": invalid syntax"},
      {{"--leader-elect-retry-period=5"},
       "invalid argument \"5\" for \"--leader-elect-retry-period\" flag: time: missing unit in duration \"5\""},
      {{"--bind-address=localhost"},
       "invalid argument \"localhost\" for \"--bind-address\" flag: failed to parse IP: \"localhost\""},
      {{"--allow-metric-labels=x"},
       "invalid argument \"x\" for \"--allow-metric-labels\" flag: x must be formatted as key=value"},
      {{"--vmodule=x"}, "invalid argument \"x\" for \"--vmodule\" flag: \"x\" does not have the pattern=N format"},
      {{"one", "two"}, "\"kube-scheduler\" does not take any arguments, got [\"one\" \"two\"]"},
      {{"--feature-gates=Nope=true"}, "unrecognized feature gate: Nope"},
      {{"--feature-gates=wardle:A=true"}, "component not registered: wardle"},
      {{"--feature-gates=AllBeta=true,kube:AllAlpha=false"},
       "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use"},
      {{"--emulated-version=1.37"}, "emulation version 1.37 is not between [1.33, 1.36.0]"},
      {{"--emulated-version=kube=1.36.4"}, "patch version not allowed, got: kube=1.36.4"},
      {{"--emulated-version=now"}, "could not parse \"now\" as version"},
      {{"--min-compatibility-version=1.32"}, "minCompatibilityVersion version 1.32 is not between [1.33, 1.36]"},
      {{"--logging-format=xml"}, "format: Invalid value: \"xml\": Unsupported log format"},
      {{"--log-flush-frequency=0"}, "flushFrequency: Invalid value: \"0s\": Must be greater than zero"},
      {{"--logging-format=json", "--vmodule=a=1"}, "vmodule: Forbidden: Only supported for text log format"},
      {{"--log-text-split-stream"}, "options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled"},
  };
  for (const auto& test : kCases) EXPECT_EQ(ErrorOf(test.arguments), test.error);
  EXPECT_EQ(ErrorOf({"--log-text-split-stream", "--feature-gates=kube:LoggingAlphaOptions=true"}), "no error");
  EXPECT_EQ(ErrorOf({"--emulated-version=kube=1.36", "--min-compatibility-version=1.35"}), "no error");
}

TEST(SchedulerFlags, WhatBerthCannotDoIsRefusedWithItsReason) {
  EXPECT_THAT(ErrorOf({"--emulated-version=1.35"}), HasSubstr("--emulated-version=1.35: berth decides as"));
  EXPECT_THAT(ErrorOf({"--version=v1.2.3"}), HasSubstr("berth reports its own version only"));
}

TEST(SchedulerFlags, WarnsOfWhatIsDeprecatedIgnoredOrWithoutEffect) {
  const auto warnings = [](const Arguments& arguments) {
    SchedulerFlags flags("kube-scheduler");
    EXPECT_TRUE(flags.Parse(arguments));
    return flags.warnings();
  };
  EXPECT_THAT(warnings({"--kubeconfig=x"}),
              ElementsAre("--kubeconfig is deprecated; use clientConnection.kubeconfig in the file of --config"));
  EXPECT_THAT(warnings({"--kube-api-qps=1", "--config=f"}),
              ElementsAre("--kube-api-qps is ignored because --config is given; use clientConnection.qps there"));
  EXPECT_THAT(warnings({"--http2-max-streams-per-connection=5"}),
              ElementsAre(StartsWith("--http2-max-streams-per-connection has no effect: ")));
  EXPECT_THAT(warnings({"--log-flush-frequency=5s", "--leader-elect", "--secure-port=1"}), IsEmpty());
}

TEST(SchedulerFlags, HelpAndVersionAreAnsweredWhateverElseIsWrong) {
  SchedulerFlags flags("kube-scheduler");
  ASSERT_TRUE(flags.Parse({"-h", "--tls-curve-preferences=1", "extra"}));
  EXPECT_TRUE(flags.options().help);
  SchedulerFlags version("kube-scheduler");
  ASSERT_TRUE(version.Parse({"--version"}));
  EXPECT_EQ(version.options().version.text, "true");
}

TEST(ApplyOptions, DeprecatedFlagsCountOnlyWithoutAFile) {
  const Arguments deprecated = {"--kubeconfig=k",     "--kube-api-qps=7",
                                "--kube-api-burst=9", "--kube-api-content-type=j",
                                "--profiling=false",  "--contention-profiling=false"};
  config::KubeSchedulerConfiguration alone = config::DefaultConfiguration({});
  EXPECT_EQ(ApplyErrorOf(deprecated, alone), "no error");
  EXPECT_EQ(alone.client_connection.kubeconfig, "k");
  EXPECT_EQ(alone.client_connection.qps, 7);
  EXPECT_EQ(alone.client_connection.burst, 9);
  EXPECT_EQ(alone.client_connection.content_type, "j");
  EXPECT_FALSE(alone.enable_profiling);
  EXPECT_FALSE(alone.enable_contention_profiling);

  Arguments with_file = deprecated;
  with_file.push_back("--config=f");
  config::KubeSchedulerConfiguration file = config::DefaultConfiguration({});
  file.client_connection.kubeconfig = "of the file";
  EXPECT_EQ(ApplyErrorOf(with_file, file), "no error");
  EXPECT_EQ(file.client_connection.kubeconfig, "of the file");
  EXPECT_EQ(file.client_connection.qps, 50);
  EXPECT_TRUE(file.enable_profiling);
}

TEST(ApplyOptions, LeaderElectionFlagsWinOverTheFileWhenGiven) {
  config::KubeSchedulerConfiguration file = config::DefaultConfiguration({});
  file.leader_election.leader_elect = false;
  file.leader_election.lease_duration = std::chrono::seconds(60);
  file.leader_election.resource_name = "mine";
  EXPECT_EQ(ApplyErrorOf({"--config=f", "--leader-elect", "--leader-elect-renew-deadline=40s",
                          "--leader-elect-resource-namespace=ns"},
                         file),
            "no error");
  EXPECT_TRUE(file.leader_election.leader_elect);
  EXPECT_EQ(file.leader_election.lease_duration, std::chrono::seconds(60)) << "not given, so the file's";
  EXPECT_EQ(file.leader_election.renew_deadline, std::chrono::seconds(40));
  EXPECT_EQ(file.leader_election.resource_name, "mine");
  EXPECT_EQ(file.leader_election.resource_namespace, "ns");
}

TEST(ApplyOptions, ProblemsReadAsUpstreams) {
  const struct {
    Arguments arguments;
    const char* error;
  } kCases[] = {
      {{"--secure-port=65536"},
       "--secure-port 65536 must be between 0 and 65535, inclusive. 0 for turning off secure port"},
      {{"--tls-cert-file=c"}, "missing filename for serving cert"},
      {{"--tls-private-key-file=k", "--secure-port=0"}, "no error"},
      {{"--leader-elect-renew-deadline=20s"},
       "leaderElection.leaseDuration: Invalid value: \"20s\": must be greater than `RenewDeadline`"},
      {{"--leader-elect-renew-deadline=20s", "--leader-elect=false"}, "no error"},
      {{"--requestheader-allowed-names=a, "}, "empty value in \"requestheader-allowed-names\""},
      {{"--requestheader-uid-headers=x-remote-uid"}, "no error"},
      {{"--requestheader-uid-headers=x-id"},
       "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will "
       "not work"},
      {{"--requestheader-uid-headers=x-remote-uid", "--feature-gates=RemoteRequestHeaderUID=false"},
       "--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" feature to be enabled"},
      {{"--show-hidden-metrics-for-version=1.35"}, "no error"},
      {{"--show-hidden-metrics-for-version=1.36"},
       "metrics.showHiddenMetricsForVersion: Invalid value: \"1.36\": must be omitted or have the value '1.35'; only "
       "the "
       "previous minor version is allowed"},
      {{"--disabled-metrics=a,1b"},
       "metrics.disabledMetrics: Invalid value: [\"a\",\"1b\"]: must be fully qualified metric names matching "
       "\"^[a-zA-Z_:][a-zA-Z0-9_:]*$\", got \"1b\""},
      {{"--allow-metric-labels=m=a"},
       "metrics.allowListMapping: Invalid value: {\"m\":\"a\"}: must have keys with format `metricName,labelName` "
       "where "
       "metricName matches \"[a-zA-Z_:][a-zA-Z0-9_:]*\" and labelName matches \"[a-zA-Z_][a-zA-Z0-9_]*\""},
      {{"--secure-port=-1", "--requestheader-group-headers= "},
       "[--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure port, empty value in "
       "\"requestheader-group-headers\"]"},
  };
  for (const auto& test : kCases) EXPECT_EQ(ApplyErrorOf(test.arguments), test.error);
}

TEST(ApplyOptions, TheManifestOfMetricLabelsIsRead) {
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) / ("berth_labels_" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << "\"m,l\": \"a,b\"\n\"n,l\": \"\"\n";
  MetricsOptions options{.allow_labels_manifest = file};
  const auto labels = LoadMetricLabels(options);
  ASSERT_TRUE(labels) << labels.error().message;
  EXPECT_EQ(labels->at("m,l"), "a,b");
  EXPECT_EQ(labels->at("n,l"), "");

  std::ofstream(file) << "allowed: {a: b}\n";
  EXPECT_THAT(ApplyErrorOf({"--allow-metric-labels-manifest=" + file.string()}),
              AllOf(StartsWith("metrics.allowListMappingManifest: Invalid value: "),
                    HasSubstr("failed to parse allow list manifest: line 1")));
  std::filesystem::remove(file);
  EXPECT_THAT(ApplyErrorOf({"--allow-metric-labels-manifest=" + file.string()}),
              HasSubstr("failed to read allow list manifest"));
}

}  // namespace
}  // namespace berth::cmd
