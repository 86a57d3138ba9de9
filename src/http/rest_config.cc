#include "http/rest_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "api/field_error.h"
#include "base/ascii.h"
#include "http/kubeconfig.h"

namespace berth::http {
namespace {

constexpr std::string_view kNoConfiguration =
    "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

// client-go's defaults, for a configuration that says 0.
constexpr double kDefaultQps = 5;
constexpr int kDefaultBurst = 10;

constexpr std::string_view kArchitecture =
#if defined(__x86_64__)
    "amd64";
#elif defined(__aarch64__)
    "arm64";
#else
    "unknown";
#endif

// "10.0.0.1", "[::1]:6443": a name or an address, and perhaps a port.
bool IsHostAndPort(std::string_view text) {
  const bool in_brackets = text.starts_with('[');
  const size_t bracket = in_brackets ? text.find(']') : 0;
  if (bracket == std::string_view::npos) return false;
  const size_t colon = text.find(':', bracket);
  const std::string_view host =
      text.substr(in_brackets ? 1 : 0, (in_brackets ? bracket : colon) - (in_brackets ? 1 : 0));
  constexpr std::string_view kAddressBytes = "0123456789abcdefABCDEF:.";
  constexpr std::string_view kNotInNames = " \t\r\n\"#%&()*,/:;<=>?@[\\]^`{|}'$!+~";
  const bool good_host = in_brackets ? host.find_first_not_of(kAddressBytes) == std::string_view::npos
                                     : host.find_first_of(kNotInNames) == std::string_view::npos;
  if (host.empty() || !good_host) return false;
  if (in_brackets && colon != bracket + 1 && bracket + 1 != text.size()) return false;
  if (colon == std::string_view::npos) return true;
  const std::string_view port = text.substr(colon + 1);
  unsigned number = 0;
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), number);
  return problem == std::errc() && end == port.data() + port.size() && number > 0 && number <= 65535;
}

// "host:port" means plain HTTP, as in client-go; user, query and fragment are ignored.
Result<std::string> NormalizeServer(const std::string& server) {
  const Error wrong =
      Error::InvalidArgument(fmt::format("host must be a URL or a host:port pair: {}", api::Quote(server)));
  const size_t mark = server.find("://");
  const std::string scheme = mark == std::string::npos ? "http" : base::LowerCase(server.substr(0, mark));
  if (scheme != "http" && scheme != "https") return wrong;
  std::string_view rest = std::string_view(server).substr(mark == std::string::npos ? 0 : mark + 3);
  rest = rest.substr(0, rest.find_first_of("?#"));
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view host = rest.substr(0, slash), path = rest.substr(slash);
  host.remove_prefix(host.rfind('@') + 1);  // npos + 1 is 0
  if (!IsHostAndPort(host) || path.find_first_of(" \t\r\n") != std::string_view::npos) return wrong;
  while (path.ends_with('/')) path.remove_suffix(1);
  return fmt::format("{}://{}{}", scheme, host, path);
}

bool IsHeaderNameByte(unsigned char c) {
  return std::isalnum(c) != 0 ||
         (c != 0 && std::string_view("!#$&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos);
}

std::string EscapeHeaderName(std::string_view name) {
  std::string escaped;
  for (const char c : name) {
    if (IsHeaderNameByte(static_cast<unsigned char>(c))) {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

Headers Impersonation(const UserEntry& user) {
  Headers headers;
  if (user.as.empty()) return headers;
  headers.emplace_back("Impersonate-User", user.as);
  if (!user.as_uid.empty()) headers.emplace_back("Impersonate-Uid", user.as_uid);
  for (const std::string& group : user.as_groups) headers.emplace_back("Impersonate-Group", group);
  for (const auto& [key, values] : user.as_user_extra) {
    for (const std::string& value : values) {
      headers.emplace_back("Impersonate-Extra-" + EscapeHeaderName(key), value);
    }
  }
  return headers;
}

// Any other kind of credentials takes precedence over the plugin.
bool NeedsPlugin(const UserEntry& user) {
  return user.exec && user.token.empty() && user.token_file.empty() && user.username.empty() &&
         user.client_certificate.empty() && user.client_certificate_data.empty();
}

std::shared_ptr<CredentialSource> SourceFor(const UserEntry& user, const ClusterEntry& cluster,
                                            const base::Clock& clock, const Surroundings& surroundings) {
  if (NeedsPlugin(user)) {
    return std::make_shared<ExecCredentials>(*user.exec, cluster, clock, surroundings.exec_observer);
  }
  return std::make_shared<FileCredentials>(CredentialFiles{.token = user.token,
                                                           .token_file = user.token_file,
                                                           .username = user.username,
                                                           .password = user.password,
                                                           .certificate = user.client_certificate_data,
                                                           .key = user.client_key_data,
                                                           .certificate_file = user.client_certificate,
                                                           .key_file = user.client_key},
                                           clock, surroundings.warn);
}

Result<std::string> LoadAuthorities(const ClusterEntry& cluster) {
  if (cluster.certificate_authority_data.empty() && cluster.certificate_authority.empty()) return std::string();
  std::string pem = cluster.certificate_authority_data;
  if (pem.empty()) {
    Result<std::string> text = ReadFile(cluster.certificate_authority);
    if (!text) return text;
    pem = std::move(*text);
  }
  if (Result<void> usable = CheckAuthorities(pem); !usable) {
    const std::string& place =
        cluster.certificate_authority_data.empty() ? cluster.certificate_authority : "certificate-authority-data";
    return Error::InvalidArgument(
        fmt::format("{} of cluster {}: {}", place, api::Quote(cluster.name), usable.error().message));
  }
  return pem;
}

Result<RestConfig> FromKubeconfig(KubeconfigChoice choice, const base::Clock& clock, const Surroundings& surroundings) {
  RestConfig rest;
  Result<std::string> server = NormalizeServer(choice.cluster.server);
  if (!server) return server.error();
  rest.server = std::move(*server);
  rest.impersonation = Impersonation(choice.user);
  rest.proxy_url = choice.cluster.proxy_url;
  if (!rest.is_tls()) {
    // No credentials are sent over an unencrypted connection.
    rest.credentials = std::make_shared<FileCredentials>(CredentialFiles{}, clock);
    return rest;
  }
  Result<std::string> authorities = LoadAuthorities(choice.cluster);
  if (!authorities) return authorities.error();
  rest.ca = std::move(*authorities);
  rest.insecure = choice.cluster.insecure_skip_tls_verify;
  if (rest.insecure && !rest.ca.empty()) {
    return Error::InvalidArgument("specifying a root certificates file with the insecure flag is not allowed");
  }
  rest.tls_server_name = choice.cluster.tls_server_name;
  choice.cluster.certificate_authority_data = rest.ca;
  rest.credentials = SourceFor(choice.user, choice.cluster, clock, surroundings);
  if (!NeedsPlugin(choice.user)) {
    // A certificate that does not match its key is reported now rather than by the first request.
    if (Result<CredentialsPtr> first = rest.credentials->Fetch(); !first) {
      return Error::InvalidArgument(fmt::format("user {}: {}", api::Quote(choice.user.name), first.error().message));
    }
  }
  return rest;
}

Result<RestConfig> FromServiceAccount(const base::Clock& clock, const Surroundings& surroundings) {
  const std::string host = surroundings.environment("KUBERNETES_SERVICE_HOST");
  const std::string port = surroundings.environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return Error::NotFound(
        "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined");
  }
  RestConfig rest;
  rest.server = host.find(':') == std::string::npos ? fmt::format("https://{}:{}", host, port)
                                                    : fmt::format("https://[{}]:{}", host, port);
  rest.credentials = std::make_shared<FileCredentials>(
      CredentialFiles{.token_file = surroundings.service_account + "/token"}, clock, surroundings.warn);
  if (Result<CredentialsPtr> first = rest.credentials->Fetch(); !first) return first.error();
  const std::string file = surroundings.service_account + "/ca.crt";
  Result<std::string> authorities = ReadFile(file);
  if (authorities) {
    const Result<void> usable = CheckAuthorities(*authorities);
    if (!usable) authorities = usable.error();
  }
  if (authorities) {
    rest.ca = std::move(*authorities);
  } else if (surroundings.warn) {
    surroundings.warn({authorities.error().code, fmt::format("Expected to load root CA config from {}, but got err: {}",
                                                             file, authorities.error().message)});
  }
  return rest;
}

Result<RestConfig> FindServer(const std::string& kubeconfig, const std::string& master, const base::Clock& clock,
                              const Surroundings& surroundings) {
  std::optional<KubeconfigChoice> choice;
  const std::vector<std::string> files = !surroundings.kubeconfigs.empty() ? surroundings.kubeconfigs
                                         : kubeconfig.empty()              ? std::vector<std::string>{}
                                                                           : std::vector{kubeconfig};
  if (!files.empty()) {
    Result<std::optional<KubeconfigChoice>> read = ReadKubeconfigs(files, master, surroundings.context);
    if (!read) return read.error();
    choice = std::move(*read);
  } else if (!master.empty()) {
    choice = KubeconfigChoice{.cluster = {.server = master}};
  }
  if (choice) return FromKubeconfig(std::move(*choice), clock, surroundings);
  Result<RestConfig> inside = FromServiceAccount(clock, surroundings);
  if (inside) return inside;
  return Error::NotFound(fmt::format("{} ({}; {})", kNoConfiguration,
                                     files.empty() ? "neither --kubeconfig nor --master was specified"
                                                   : fmt::format("{} names no server", fmt::join(files, ", ")),
                                     inside.error().message));
}

}  // namespace

Surroundings RealSurroundings() {
  return {.environment = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  }};
}

Result<RestConfig> BuildRestConfig(const config::ClientConnection& connection, const std::string& master,
                                   const std::string& user_agent, const base::Clock& clock,
                                   const Surroundings& surroundings) {
  Result<RestConfig> rest = FindServer(connection.kubeconfig, master, clock, surroundings);
  if (!rest) return rest;
  rest->qps = connection.qps == 0 ? kDefaultQps : static_cast<double>(connection.qps);
  rest->burst = connection.qps == 0 && connection.burst == 0 ? kDefaultBurst : connection.burst;
  if (rest->qps > 0 && rest->burst <= 0) {
    return Error::InvalidArgument(
        "burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0");
  }
  rest->content_type = connection.content_type;
  rest->accept_content_types = connection.accept_content_types;
  rest->user_agent = user_agent;
  return rest;
}

std::string UserAgent(const std::string& component, const std::string& version) {
  return fmt::format("{}/berth-{} (linux/{}) kubernetes/v1.36", component, version, kArchitecture);
}

}  // namespace berth::http
