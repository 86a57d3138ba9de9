#include "http/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temporary_folder.h"

namespace berth::http {
namespace {

using base::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::Pair;

Result<std::optional<KubeconfigChoice>> ReadKubeconfig(const std::string& path, const std::string& master,
                                                       const std::string& context = {}) {
  return ReadKubeconfigs({path}, master, context);
}

constexpr std::string_view kWholeKubeconfig = R"(apiVersion: v1
kind: Config
preferences: {colors: true}
current-context: b
clusters:
- name: other
  cluster: {server: "https://other:6443"}
- name: c
  cluster:
    server: https://10.0.0.1:6443/prefix
    tls-server-name: kubernetes
    certificate-authority: pki/ca.crt
    proxy-url: socks5://proxy:1080
    disable-compression: true
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: "x", level: 3}
contexts:
- name: b
  context: {cluster: c, user: u, namespace: ns}
users:
- name: u
  user:
    client-certificate: client.crt
    client-key-data: a2V5
    tokenFile: /abs/token
    token: abc
    as: jane
    as-uid: "7"
    as-groups: [a, b]
    as-user-extra: {scopes: [x, "y"]}
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: bin/plugin
      args: [a, "b c"]
      env: [{name: NAME, value: V}]
      installHint: "install\e[2J it"
      provideClusterInfo: true
)";

TEST(ReadKubeconfig, ReadsWhatTheCurrentContextNames) {
  const TemporaryFolder folder;
  folder.Write("pki/ca.crt", "");
  folder.Write("client.crt", "");
  const std::string path = folder.Write("config", kWholeKubeconfig);
  const Result<std::optional<KubeconfigChoice>> read = ReadKubeconfig(path, "");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(*read);
  const auto& [cluster, user, default_namespace] = **read;
  EXPECT_EQ(default_namespace, "ns");
  EXPECT_EQ(cluster.name, "c");
  EXPECT_EQ(cluster.server, "https://10.0.0.1:6443/prefix");
  EXPECT_EQ(cluster.tls_server_name, "kubernetes");
  EXPECT_EQ(cluster.certificate_authority, folder.path() + "/pki/ca.crt");
  EXPECT_EQ(cluster.proxy_url, "socks5://proxy:1080");
  EXPECT_TRUE(cluster.disable_compression);
  EXPECT_EQ(user.client_certificate, folder.path() + "/client.crt");
  EXPECT_EQ(user.client_key_data, "key");
  EXPECT_EQ(user.token, "abc");
  EXPECT_EQ(user.token_file, "/abs/token");
  EXPECT_EQ(user.as, "jane");
  EXPECT_EQ(user.as_uid, "7");
  EXPECT_THAT(user.as_groups, ElementsAre("a", "b"));
  EXPECT_THAT(user.as_user_extra, ElementsAre(Pair("scopes", ElementsAre("x", "y"))));
  ASSERT_TRUE(user.exec);
  EXPECT_EQ(user.exec->command, folder.path() + "/bin/plugin");
  EXPECT_THAT(user.exec->args, ElementsAre("a", "b c"));
  EXPECT_THAT(user.exec->env, ElementsAre(Pair("NAME", "V")));
  EXPECT_EQ(user.exec->install_hint, "installU+001B[2J it");
  EXPECT_TRUE(user.exec->provide_cluster_info);
  EXPECT_EQ(user.exec->interactive_mode, ExecConfig::InteractiveMode::kIfAvailable);
  EXPECT_EQ(user.exec->cluster_extension, R"({"audience":"x","level":3})");
}

TEST(ReadKubeconfigs, TheFirstFileToNameSomethingWins) {
  const TemporaryFolder folder;
  folder.Write("b/ca.pem", "pem");
  const std::string empty = folder.Write("empty", "");
  const std::string a = folder.Write("a/config",
                                     "contexts:\n- {name: x, context: {cluster: c, user: u}}\n"
                                     "users:\n- {name: u, user: {token: first}}\n");
  const std::string b =
      folder.Write("b/config",
                   "current-context: x\n"
                   "clusters:\n- {name: c, cluster: {server: 'https://second', certificate-authority: ca.pem}}\n"
                   "users:\n- {name: u, user: {token: second, as: nobody}}\n"
                   "contexts:\n- {name: x, context: {cluster: missing, user: missing}}\n");
  const std::string c = folder.Write("c", "current-context: other\n");
  const auto read = ReadKubeconfigs({empty, a, b, c}, "");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_TRUE(read->has_value());
  EXPECT_EQ((*read)->cluster.server, "https://second");
  EXPECT_EQ((*read)->cluster.certificate_authority, folder.path() + "/b/ca.pem") << "relative to its own file";
  EXPECT_EQ((*read)->user.token, "first");
  EXPECT_EQ((*read)->user.as, "") << "an entry counts whole";
}

TEST(ReadKubeconfigs, MistakesNameTheFileTheyAreIn) {
  const TemporaryFolder folder;
  const std::string a = folder.Write("a", "contexts:\n- {name: x, context: {cluster: c, user: u}}\n");
  const std::string b = folder.Write("b", "current-context: x\nusers:\n- {name: u, user: {token: [1]}}\n");
  const auto read = ReadKubeconfigs({a, b}, "");
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, ::testing::HasSubstr("a:2:"));
  EXPECT_THAT(read.error().message, ::testing::HasSubstr("cluster \"c\" was not found for context \"x\""));
  EXPECT_THAT(read.error().message, ::testing::HasSubstr("b:3:"));
}

TEST(ReadKubeconfig, MasterTakesTheServersPlaceAndDropsItsName) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("config", R"(
current-context: a
clusters: [{name: c, cluster: {server: "https://one", tls-server-name: one}}]
contexts: [{name: a, context: {cluster: c}}]
)");
  EXPECT_EQ((*ReadKubeconfig(path, ""))->cluster.tls_server_name, "one");
  const auto read = *ReadKubeconfig(path, "https://two");
  EXPECT_EQ(read->cluster.server, "https://two");
  EXPECT_EQ(read->cluster.tls_server_name, "");
}

TEST(ReadKubeconfig, TheContextAskedForComesBeforeTheCurrentOne) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("config", R"(
current-context: a
clusters: [{name: c, cluster: {server: "https://one"}}, {name: d, cluster: {server: "https://two"}}]
contexts: [{name: a, context: {cluster: c}}, {name: b, context: {cluster: d}}]
)");
  EXPECT_EQ((*ReadKubeconfig(path, "", "b"))->cluster.server, "https://two");
  EXPECT_EQ((*ReadKubeconfig(path, "", ""))->cluster.server, "https://one");
  const Result<std::optional<KubeconfigChoice>> missing = ReadKubeconfig(path, "", "x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, path + ":4:11: contexts: context was not found for specified context: x");
}

TEST(ReadKubeconfig, LineBreaksInBase64AreNothing) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("config", R"(
current-context: a
clusters:
- name: c
  cluster:
    server: https://one
    certificate-authority-data: |
      YWJj
      ZGU=
contexts: [{name: a, context: {cluster: c}}]
)");
  EXPECT_EQ((*ReadKubeconfig(path, ""))->cluster.certificate_authority_data, "abcde");
}

TEST(ReadKubeconfig, AFileWithoutAServerIsNoConfiguration) {
  const TemporaryFolder folder;
  for (const std::string text : {"", "apiVersion: v1\nkind: Config\n", "clusters: []\nusers: null\n",
                                 "clusters: [{name: c, cluster: {server: x}}]\n"}) {
    const Result<std::optional<KubeconfigChoice>> read = ReadKubeconfig(folder.Write("config", text), "");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_FALSE(*read) << text;
  }
}

TEST(ReadKubeconfig, NamesAFileThatIsNotThere) {
  const Result<std::optional<KubeconfigChoice>> read = ReadKubeconfig("/nowhere/config", "");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "open /nowhere/config: no such file or directory");
}

struct MistakeCase {
  const char* name;
  const char* cluster = "{server: \"https://s\"}";
  const char* user = "{}";
  const char* rest = "";
  const char* error;  // without the file's name

  friend void PrintTo(const MistakeCase& test, std::ostream* out) { *out << test.name; }
};

class KubeconfigMistake : public ::testing::TestWithParam<MistakeCase> {};

TEST_P(KubeconfigMistake, IsToldWithItsPlace) {
  const MistakeCase& test = GetParam();
  const TemporaryFolder folder;
  const std::string text = std::string("current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n") +
                           "clusters: [{name: c, cluster: " + test.cluster +
                           "}]\nusers: [{name: u, user: " + test.user + "}]\n" + test.rest;
  const std::string path = folder.Write("config", text);
  const Result<std::optional<KubeconfigChoice>> read = ReadKubeconfig(path, "");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, path + ":" + test.error);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, KubeconfigMistake,
    ::testing::Values(
        MistakeCase{.name = "NoServer",
                    .cluster = "{proxy-url: \"http://p\"}",
                    .error = "3:31: clusters[0].cluster.server: no server found for cluster \"c\""},
        MistakeCase{.name = "ProxyScheme",
                    .cluster = "{server: s, proxy-url: \"ftp://p\"}",
                    .error = "3:54: clusters[0].cluster.proxy-url: invalid 'proxy-url' \"ftp://p\" for cluster \"c\": "
                             "unsupported scheme \"ftp\", must be http, https, or socks5"},
        MistakeCase{.name = "AuthorityNotThere",
                    .cluster = "{server: s, certificate-authority: /no/ca}",
                    .error = "3:66: clusters[0].cluster.certificate-authority: unable to read certificate-authority "
                             "/no/ca for c due to open /no/ca: no such file or directory"},
        MistakeCase{
            .name = "NotBase64",
            .cluster = "{server: s, certificate-authority-data: \"?\"}",
            .error = "3:71: clusters[0].cluster.certificate-authority-data: expected base64, found string \"?\""},
        MistakeCase{.name = "NoKey",
                    .user = "{client-certificate-data: YQ==}",
                    .error = "4:25: users[0].user.client-key: client-key-data or client-key must be specified for u to "
                             "use the clientCert authentication method."},
        MistakeCase{.name = "TwoMethods",
                    .user = "{token: a, username: b, password: c}",
                    .error = "4:25: users[0].user: more than one authentication method found for u; found [token "
                             "basicAuth], only one is allowed"},
        MistakeCase{.name = "AuthProvider",
                    .user = "{auth-provider: {name: gcp}}",
                    .error = "4:41: users[0].user.auth-provider: no Auth Provider found for name \"gcp\"; use an exec "
                             "plugin instead"},
        MistakeCase{.name = "GroupsOfNobody",
                    .user = "{as-groups: [a]}",
                    .error = "4:25: users[0].user.as: requesting uid, groups or user-extra for u without impersonating "
                             "a user"},
        MistakeCase{.name = "ExecWithoutMode",
                    .user = "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x}}",
                    .error = "4:32: users[0].user.exec.interactiveMode: interactiveMode must be specified for u to use "
                             "exec authentication plugin"},
        MistakeCase{.name = "ExecVersion",
                    .user = "{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}",
                    .error = "4:45: users[0].user.exec.apiVersion: exec plugin: invalid apiVersion "
                             "\"client.authentication.k8s.io/v1alpha1\""},
        MistakeCase{.name = "ExecWithoutCommand",
                    .user = "{exec: {apiVersion: client.authentication.k8s.io/v1beta1}}",
                    .error = "4:32: users[0].user.exec.command: command must be specified for u to use exec "
                             "authentication plugin"},
        MistakeCase{.name = "TokenIsNoText",
                    .user = "{token: 12}",
                    .error = "4:33: users[0].user.token: expected a string, found number 12"},
        MistakeCase{.name = "Kind", .rest = "kind: Pod\n", .error = "5:7: kind: expected Config, found \"Pod\""}),
    [](const auto& test) { return test.param.name; });

TEST(ReadKubeconfig, NamesAUserThatIsNotThere) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("config", R"(current-context: x
contexts:
- name: x
  context:
    cluster: c
    user: u
clusters: [{name: c, cluster: {server: "https://s"}}]
)");
  const Result<std::optional<KubeconfigChoice>> read = ReadKubeconfig(path, "");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, path + ":6:11: contexts[0].context.user: user \"u\" was not found for context \"x\"");
}

TEST(ReadKubeconfig, TellsEveryMistake) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("config", R"(current-context: gone
users:
- name: a
- name: a
)");
  const Result<std::optional<KubeconfigChoice>> read = ReadKubeconfig(path, "");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, path + ":4:9: users[1].name: duplicate name \"a\" in list\n" + path +
                                      ":1:18: current-context: context was not found for specified context: gone");
}

}  // namespace
}  // namespace berth::http
