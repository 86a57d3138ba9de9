#include "config/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"

namespace berth::config {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using enum ExtensionPoint;

const KnownPlugin kKnown[] = {
    {"A", {kFilter, kScore}}, {"B", {kFilter, kScore}}, {"C", {kFilter}},
    {"Sort", {kQueueSort}},   {"Sort2", {kQueueSort}},  {"Binder", {kBind}},
};

std::vector<std::pair<std::string, int>> ListOf(const std::vector<Plugin>& plugins) {
  std::vector<std::pair<std::string, int>> list;
  for (const Plugin& plugin : plugins) list.emplace_back(plugin.name, plugin.weight);
  return list;
}

Profile Minimal() {
  Profile profile;
  profile.scheduler_name = "x";
  profile.plugins.multi_point.enabled = {{"Sort", 0}, {"A", 3}, {"B", 0}, {"Binder", 0}};
  return profile;
}

std::string ErrorOf(const Profile& profile) {
  const auto resolved = ResolvePlugins(profile, kKnown);
  return resolved ? "" : resolved.error().message;
}

TEST(ResolvePlugins, OverriddenThenMultiPointThenOthers) {
  Profile profile = Minimal();
  profile.plugins.at(kFilter).enabled = {{"C", 0}, {"B", 0}};
  profile.plugins.at(kScore).enabled = {{"B", 8}};
  const auto resolved = ResolvePlugins(profile, kKnown);
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_THAT(ListOf(resolved->at(kFilter)), ElementsAre(Pair("B", 0), Pair("A", 0), Pair("C", 0)));
  EXPECT_THAT(ListOf(resolved->at(kScore)), ElementsAre(Pair("B", 8), Pair("A", 3)));
}

TEST(ResolvePlugins, DisabledPointsAreNotExpanded) {
  Profile profile = Minimal();
  profile.plugins.at(kFilter).disabled = {{"A", 0}};
  profile.plugins.at(kScore).disabled = {{"*", 0}};
  profile.plugins.at(kScore).enabled = {{"B", 0}};
  const auto resolved = ResolvePlugins(profile, kKnown);
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_THAT(ListOf(resolved->at(kFilter)), ElementsAre(Pair("B", 0)));
  EXPECT_THAT(ListOf(resolved->at(kScore)), ElementsAre(Pair("B", 1)));
}

TEST(ResolvePlugins, RefusesInUpstreamsWords) {
  Profile unknown = Minimal();
  unknown.plugins.multi_point.enabled.push_back({"Nope", 0});
  EXPECT_EQ(ErrorOf(unknown), "PreFilterPlugin \"Nope\" does not exist");

  Profile wrong_point = Minimal();
  wrong_point.plugins.at(kScore).enabled = {{"C", 1}};
  EXPECT_EQ(ErrorOf(wrong_point), "plugin \"C\" does not extend ScorePlugin plugin");

  Profile twice = Minimal();
  twice.plugins.multi_point.enabled.push_back({"B", 0});
  EXPECT_EQ(ErrorOf(twice), "plugin \"B\" already registered as \"FilterPlugin\"");

  Profile no_order = Minimal();
  no_order.plugins.at(kQueueSort).disabled = {{"*", 0}};
  EXPECT_EQ(ErrorOf(no_order), "only one queue sort plugin required for profile with scheduler name \"x\", but got 0");

  Profile negative = Minimal();
  negative.plugins.at(kScore).enabled = {{"A", -1}};
  EXPECT_EQ(ErrorOf(negative), "score plugins: total score of Score plugins could overflow");

  Profile bad_args = Minimal();
  bad_args.plugin_config = {{"A", {}, "", "no good"}};
  EXPECT_EQ(ErrorOf(bad_args), "initializing plugin \"A\": no good");
  bad_args.plugins.multi_point.enabled = {{"Sort", 0}, {"Binder", 0}};
  EXPECT_EQ(ErrorOf(bad_args), "");  // the plugin is not made
}

TEST(ResolveProfiles, ProfilesMustSortAlike) {
  KubeSchedulerConfiguration configuration;
  configuration.profiles = {Minimal(), Minimal()};
  configuration.profiles[1].scheduler_name = "y";
  configuration.profiles[1].plugins.multi_point.enabled[0].name = "Sort2";
  const auto resolved = ResolveProfiles(configuration, kKnown);
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().message,
            "initializing profiles: different queue sort plugins for profile \"y\": \"Sort2\", first: \"Sort\"");
}

TEST(ApplyExtenders, NeedsTheFitPlugin) {
  KubeSchedulerConfiguration configuration = DefaultConfiguration({});
  configuration.extenders = {{.url_prefix = "u", .managed_resources = {{"a.com/x", true}, {"a.com/y", false}}}};
  ASSERT_TRUE(ApplyExtenders(configuration));
  for (const PluginConfig& config : configuration.profiles[0].plugin_config) {
    if (config.name != "NodeResourcesFit") continue;
    EXPECT_THAT(std::get<NodeResourcesFitArgs>(config.args).ignored_resources, ElementsAre("a.com/x"));
  }
  configuration.profiles[0].plugin_config.clear();
  EXPECT_EQ(ApplyExtenders(configuration).error().message,
            "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config");
}

TEST(ApplyExtenders, RefusesCertificatesThatCannotWork) {
  struct Case {
    Extender extender;
    const char* error;
  };
  Extender insecure_with_ca{.tls_config = ExtenderTlsConfig{.insecure = true, .ca_data = "x"}};
  Extender no_file{.enable_https = true, .tls_config = ExtenderTlsConfig{.ca_file = "/no/such/ca.pem"}};
  Extender no_pem{.tls_config = ExtenderTlsConfig{.ca_data = "x"}};
  Extender no_key_pem{.tls_config = ExtenderTlsConfig{.cert_data = "-----BEGIN ", .key_data = "x"}};
  Extender plain{.enable_https = true};
  const Case cases[] = {
      {insecure_with_ca,
       "couldn't build extenders: specifying a root certificates file with the insecure flag is not allowed"},
      {no_file, "couldn't build extenders: open /no/such/ca.pem: no such file or directory"},
      {no_pem, "couldn't build extenders: unable to load root certificates: unable to parse bytes as PEM block"},
      {no_key_pem, "couldn't build extenders: tls: failed to find any PEM data in key input"},
      {plain, ""},
  };
  for (const Case& c : cases) {
    KubeSchedulerConfiguration configuration;
    configuration.extenders = {c.extender};
    const Result<void> applied = ApplyExtenders(configuration);
    EXPECT_EQ(applied ? "" : applied.error().message, c.error);
  }
}

}  // namespace
}  // namespace berth::config
