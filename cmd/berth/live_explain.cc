#include "live_explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "api/pod.h"
#include "base/file.h"
#include "base/printable.h"
#include "codec/json.h"
#include "codec/yaml_writer.h"
#include "commands.h"
#include "http/api_transport.h"
#include "input_flags.h"
#include "terminal.h"

namespace berth::cmd {

namespace {

constexpr std::string_view kSecurePort = "10259";
constexpr base::Duration kTimeout = std::chrono::seconds(30);
constexpr size_t kLongestAnswer = size_t{64} << 20;

std::string TextOf(const codec::Value& value, std::initializer_list<std::string_view> path) {
  const codec::Value* at = &value;
  for (const std::string_view key : path) {
    at = at->Find(key);
    if (at == nullptr) return "";
  }
  return std::string(at->text());
}

// The characters of Kubernetes object names; anything else must not become part of a path.
bool IsName(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 253 && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || c == '-' || c == '.'; });
}

// The message of an answer that is not a success: from a Status, our own Problems, or a line of text.
std::string Complaint(const http::Response& response) {
  const Result<codec::Document> document = codec::ParseJson(response.body, "answer");
  if (!document) return std::string(base::Clipped(response.body.substr(0, response.body.find('\n'))));
  if (const codec::Value* errors = document->root().Find("errors"); errors && !errors->items().empty()) {
    return std::string(errors->items().front().text());
  }
  return TextOf(document->root(), {"message"});
}

class LiveCall {
 public:
  LiveCall(http::Transport& transport, const LiveFlags& flags) : transport_(transport), flags_(flags) {}

  Result<LiveAnswer> Explain(const std::string& pod, bool json) {
    const size_t slash = std::min(pod.find('/'), pod.size() - 1);
    const std::string_view name_space = std::string_view(pod).substr(0, slash),
                           name = std::string_view(pod).substr(slash + 1);
    if (!IsName(name_space) || !IsName(name)) {
      return Error::InvalidArgument(fmt::format("expected NAMESPACE/NAME of a pod, found {}", base::Clipped(pod)));
    }
    const std::string page = fmt::format("/debug/berth/pods/{}/{}/explain", name_space, name);
    const http::Headers accept = {{"accept", json ? "application/json" : "text/plain"}};
    if (!flags_.server_url.empty()) return Read(page, accept, flags_.server_url);
    const Result<std::string> scheduler_name = SchedulerOf(pod);
    if (!scheduler_name) return scheduler_name.error();
    const Result<SchedulerPod> scheduler = Leader(LeaseName(*scheduler_name));
    if (!scheduler) return scheduler.error();
    const Result<std::string> token = MakeToken();
    if (!token) return token.error();
    http::Headers headers = accept;
    headers.emplace_back("x-berth-token", *token);
    return Read(fmt::format("/api/v1/namespaces/{}/pods/https:{}:{}/proxy{}", flags_.scheduler_namespace,
                            scheduler->name, scheduler->port, page),
                headers, "pod " + scheduler->name);
  }

 private:
  Result<http::Response> Send(const std::string& method, const std::string& path, http::Headers headers = {},
                              std::string body = "") {
    if (!body.empty()) headers.emplace_back("content-type", "application/json");
    Result<http::Response> response = transport_.SendAndWait(
        {.method = method, .path = path, .headers = std::move(headers), .body = std::move(body), .timeout = kTimeout});
    if (response && response->body.size() > kLongestAnswer) return Error::Unavailable("the answer is too long");
    return response;
  }
  Result<codec::Document> Get(const std::string& path, const std::string& what) {
    const Result<http::Response> response = Send("GET", path, {{"accept", "application/json"}});
    if (!response) return response.error();
    if (response->head.status == 403) {
      return Error::InvalidArgument(fmt::format("no right to read {}: {}", what, Complaint(*response)));
    }
    if (response->head.status != 200) {
      return Error::NotFound(fmt::format("cannot read {}: {}", what, Complaint(*response)));
    }
    return codec::ParseJson(response->body, what);
  }

  Result<std::string> SchedulerOf(const std::string& pod) {
    const size_t slash = pod.find('/');
    const Result<codec::Document> found =
        Get(fmt::format("/api/v1/namespaces/{}/pods/{}", pod.substr(0, slash), pod.substr(slash + 1)), "pod " + pod);
    if (!found) return found.error();
    return TextOf(found->root(), {"spec", "schedulerName"});
  }
  std::string LeaseName(const std::string& scheduler_name) const {
    if (!flags_.lease.empty()) return flags_.lease;
    return api::SchedulerNameOrDefault(scheduler_name) == api::kDefaultSchedulerName ? "kube-scheduler"
                                                                                     : scheduler_name;
  }

  Result<SchedulerPod> Leader(const std::string& lease) {
    const std::string& name_space = flags_.scheduler_namespace;
    const Result<codec::Document> held =
        Get(fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}", name_space, lease),
            fmt::format("lease {}/{}, which names the scheduler (see --lease)", name_space, lease));
    if (!held) return held.error();
    const std::string identity = TextOf(held->root(), {"spec", "holderIdentity"});
    if (identity.empty()) {
      return Error::NotFound(fmt::format("nobody holds lease {}/{}: no scheduler leads", name_space, lease));
    }
    const Result<http::Response> pods =
        Send("GET", fmt::format("/api/v1/namespaces/{}/pods?limit=5000", name_space), {{"accept", "application/json"}});
    if (!pods) return pods.error();
    if (pods->head.status != 200) {
      return Error::InvalidArgument(fmt::format("cannot list the pods of {}: {}", name_space, Complaint(*pods)));
    }
    Result<SchedulerPod> found = FindSchedulerPod(pods->body, identity);
    if (!found) {
      return Error{found.error().code, fmt::format("{} in namespace {} (lease {}); --server-url asks it at its address",
                                                   found.error().message, name_space, lease)};
    }
    return found;
  }

  Result<std::string> MakeToken() {
    const Result<http::Response> made =
        Send("POST",
             fmt::format("/api/v1/namespaces/{}/serviceaccounts/{}/token", flags_.scheduler_namespace, flags_.reader),
             {{"accept", "application/json"}},
             R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",)"
             R"("spec":{"audiences":["berth-scheduler"],"expirationSeconds":600}})");
    if (!made) return made.error();
    if (made->head.status != 201) {
      return Error::InvalidArgument(fmt::format("no token of service account {}/{} to ask the scheduler with: {}",
                                                flags_.scheduler_namespace, flags_.reader, Complaint(*made)));
    }
    const Result<codec::Document> document = codec::ParseJson(made->body, "TokenRequest");
    if (!document) return document.error();
    return TextOf(document->root(), {"status", "token"});
  }

  Result<LiveAnswer> Read(const std::string& path, const http::Headers& headers, const std::string& whom) {
    const Result<http::Response> response = Send("GET", path, headers);
    if (!response) return Error{response.error().code, fmt::format("{}: {}", whom, response.error().message)};
    const std::string_view place = response->head.Find("x-berth-place");
    if (response->head.status == 200 && !place.empty()) {
      return LiveAnswer{response->body, place == "Placed" || place == "Binding" || place == "WaitingForPermit"};
    }
    const std::string complaint = Complaint(*response);
    if (complaint.find("system:anonymous") != std::string::npos || complaint == "404 page not found" ||
        response->head.status == 200) {
      return Error::Unsupported(
          fmt::format("{} does not answer as berth does: another scheduler runs there, or a berth without live "
                      "explanations ({} {})",
                      whom, response->head.status, complaint));
    }
    return Error::Unavailable(fmt::format("{}: {} ({})", whom, complaint, response->head.status));
  }

  http::Transport& transport_;
  const LiveFlags& flags_;
};

// --secure-port=N among a container's command and arguments.
std::string PortOf(const codec::Value& pod) {
  constexpr std::string_view kFlag = "--secure-port=";
  const codec::Value* spec = pod.Find("spec");
  const codec::Value* containers = spec ? spec->Find("containers") : nullptr;
  if (containers == nullptr) return std::string(kSecurePort);
  for (const codec::Value& container : containers->items()) {
    for (const char* list : {"command", "args"}) {
      const codec::Value* words = container.Find(list);
      if (words == nullptr) continue;
      for (const codec::Value& word : words->items()) {
        const std::string_view port = word.text().starts_with(kFlag) ? word.text().substr(kFlag.size()) : "";
        if (!port.empty() && std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; })) {
          return std::string(port);
        }
      }
    }
  }
  return std::string(kSecurePort);
}

bool RunsScheduler(const codec::Value& pod) {
  const std::string component = TextOf(pod, {"metadata", "labels", "component"});
  const std::string app = TextOf(pod, {"metadata", "labels", "app.kubernetes.io/name"});
  return component == "kube-scheduler" || app == "berth";
}

}  // namespace

void LiveFlags::AddTo(FlagSet& flags) {
  flags.Add(&live, "live", 0, "ask the scheduler that runs in the cluster, through the API server");
  flags.Add(&scheduler_namespace, "scheduler-namespace", 0, "NAMESPACE",
            "with --live, where its pod, lease and reader account are (default kube-system)");
  flags.Add(&lease, "lease", 0, "NAME", "with --live, the scheduler's lease (default by the pod's schedulerName)");
  flags.Add(
      &reader, "reader", 0, "NAME",
      "with --live, the service account whose short-lived token authenticates to the scheduler (default berth-reader)");
  flags.Add(&server_url, "server-url", 0, "URL", "with --live, ask the scheduler at this address instead");
  flags.Add(&token_file, "token-file", 0, "FILE", "with --server-url, file with the bearer token");
  flags.Add(&certificate_authority, "certificate-authority", 0, "FILE",
            "with --server-url, certificate authority file");
  flags.Add(&insecure, "insecure-skip-tls-verify", 0, "with --server-url, do not verify its certificate");
}

Result<void> LiveFlags::Check() const {
  const bool of_url = !token_file.empty() || !certificate_authority.empty() || insecure;
  if (!live && (!server_url.empty() || of_url)) return Error::InvalidArgument("--server-url needs --live");
  if (server_url.empty() && of_url) {
    return Error::InvalidArgument(
        "--token-file, --certificate-authority, --insecure-skip-tls-verify: they need "
        "--server-url");
  }
  for (const std::string* name : {&scheduler_namespace, &reader}) {
    if (!IsName(*name)) return Error::InvalidArgument(fmt::format("expected a name, found {}", base::Clipped(*name)));
  }
  if (!lease.empty() && !IsName(lease)) {
    return Error::InvalidArgument(fmt::format("--lease: expected a name, found {}", base::Clipped(lease)));
  }
  if (!server_url.empty() && !server_url.starts_with("https://")) {
    return Error::InvalidArgument(fmt::format("--server-url: expected https://HOST:PORT, found {}", server_url));
  }
  return {};
}

Result<SchedulerPod> FindSchedulerPod(const std::string& pods, const std::string& identity) {
  const std::string host = identity.substr(0, identity.rfind('_'));
  const Result<codec::Document> document = codec::ParseJson(pods, "pods");
  if (!document) return document.error();
  const codec::Value* items = document->root().Find("items");
  std::optional<SchedulerPod> found;
  for (const codec::Value& pod : items ? items->items() : std::span<const codec::Value>()) {
    const std::string name = TextOf(pod, {"metadata", "name"});
    const bool is_named = name == host;
    // On the host's network, a pod has its node's hostname.
    const bool is_there = RunsScheduler(pod) && TextOf(pod, {"spec", "nodeName"}) == host;
    if (is_named || (is_there && !found)) found = {name, PortOf(pod)};
    if (is_named) break;
  }
  if (!found) return Error::NotFound(fmt::format("no scheduler pod found for the leader {}", identity));
  return *found;
}

Result<LiveAnswer> ExplainLive(http::Transport& transport, const LiveFlags& flags, const std::string& pod, bool json) {
  return LiveCall(transport, flags).Explain(pod, json);
}

namespace {

Result<http::RestConfig> SchedulerAt(const LiveFlags& flags, const base::Clock& clock) {
  http::RestConfig rest;
  rest.server = flags.server_url;
  while (rest.server.ends_with('/')) rest.server.pop_back();
  rest.insecure = flags.insecure;
  rest.user_agent = http::UserAgent("berth", BERTH_VERSION);
  if (!flags.certificate_authority.empty()) {
    Result<std::string> ca = base::ReadFile(flags.certificate_authority, size_t{1} << 20);
    if (!ca) return Error{ca.error().code, fmt::format("{}: {}", flags.certificate_authority, ca.error().message)};
    rest.ca = *std::move(ca);
  }
  http::CredentialFiles files;
  files.token_file = flags.token_file;
  rest.credentials = std::make_shared<http::FileCredentials>(std::move(files), clock);
  return rest;
}

// NAMESPACE/NAME for what was typed.
std::string FullName(std::string name, const std::string& name_space) {
  for (const std::string_view resource : {"pod/", "pods/", "po/"}) {
    if (name.starts_with(resource)) name.erase(0, resource.size());
  }
  return name.find('/') != std::string::npos ? name : (name_space.empty() ? "default" : name_space) + "/" + name;
}

}  // namespace

int RunLiveExplain(const LiveFlags& flags, const ClusterFlags& cluster, const std::string& name_space,
                   const std::vector<std::string>& pods, const std::string& output) {
  const base::SystemClock clock;
  Result<http::RestConfig> rest =
      flags.server_url.empty() ? ConnectionTo(cluster, clock, {}) : SchedulerAt(flags, clock);
  if (!rest) return BadInput("explain", rest.error().message, output);
  http::ApiTransport transport(*std::move(rest));
  bool placed = true;
  for (const std::string& pod : pods) {
    const Result<LiveAnswer> answer = ExplainLive(transport, flags, FullName(pod, name_space), output != "text");
    if (!answer) return BadInput("explain", answer.error().message, output);
    placed = placed && answer->placed;
    const std::string text = output == "yaml"   ? codec::JsonToYaml(answer->body)
                             : output == "json" ? answer->body
                                                : base::PrintableLines(answer->body);
    if (!WriteOut(text)) return BadInput("explain", "cannot write to standard output");
  }
  return placed ? kOk : kUnplaced;
}

}  // namespace berth::cmd
