#include "scheduler_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/field_error.h"
#include "api/time.h"
#include "base/ascii.h"
#include "codec/gzip.h"
#include "codec/yaml.h"
#include "config/validate.h"

namespace berth::cmd {
namespace {

using Problems = std::vector<std::string>;

// This program emulates kube-scheduler of this version; upstream's components emulate at most three minor versions
// back.
constexpr MinorVersion kOurVersion{1, 36, 0};
constexpr MinorVersion kOldestVersion{1, 33, 0};
constexpr std::string_view kComponent = "kube";

constexpr char kLabelName[] = "[a-zA-Z_][a-zA-Z0-9_]*";
constexpr char kMetricName[] = "[a-zA-Z_:][a-zA-Z0-9_:]*";

void ApplyDeprecated(const SchedulerOptions& options, config::KubeSchedulerConfiguration& configuration) {
  const DeprecatedOptions& from = options.deprecated;
  config::ClientConnection& client = configuration.client_connection;
  if (options.Given("profiling")) configuration.enable_profiling = from.profiling;
  if (options.Given("contention-profiling")) configuration.enable_contention_profiling = from.contention_profiling;
  if (options.Given("kubeconfig")) client.kubeconfig = from.kubeconfig;
  if (options.Given("kube-api-content-type")) client.content_type = from.content_type;
  if (options.Given("kube-api-qps")) client.qps = from.qps;
  if (options.Given("kube-api-burst")) client.burst = from.burst;
}

void ApplyLeaderElection(const SchedulerOptions& options, config::LeaderElection& to) {
  const config::LeaderElection& from = options.leader_election;
  if (options.Given("leader-elect")) to.leader_elect = from.leader_elect;
  if (options.Given("leader-elect-lease-duration")) to.lease_duration = from.lease_duration;
  if (options.Given("leader-elect-renew-deadline")) to.renew_deadline = from.renew_deadline;
  if (options.Given("leader-elect-retry-period")) to.retry_period = from.retry_period;
  if (options.Given("leader-elect-resource-lock")) to.resource_lock = from.resource_lock;
  if (options.Given("leader-elect-resource-name")) to.resource_name = from.resource_name;
  if (options.Given("leader-elect-resource-namespace")) to.resource_namespace = from.resource_namespace;
}

void CheckServing(const SecureServingOptions& options, Problems& problems) {
  if (options.secure_port < 0 || options.secure_port > 65535) {
    problems.push_back(fmt::format(
        "--secure-port {} must be between 0 and 65535, inclusive. 0 for turning off secure port", options.secure_port));
  }
  if (options.secure_port > 0 && options.tls_cert_file.empty() != options.tls_private_key_file.empty()) {
    problems.push_back("missing filename for serving cert");
  }
}

bool HasIgnoringCase(const std::vector<std::string>& names, std::string_view wanted) {
  return std::ranges::any_of(names, [&](const std::string& name) { return base::EqualIgnoringCase(name, wanted); });
}

void CheckHeaders(const SchedulerOptions& options, Problems& problems) {
  const AuthenticationOptions& from = options.authentication;
  const auto not_blank = [&](std::string_view flag, const std::vector<std::string>& names) {
    const bool blank = std::ranges::any_of(
        names, [](const std::string& name) { return name.find_first_not_of(" \t\n\v\f\r") == std::string::npos; });
    if (blank) problems.push_back(fmt::format("empty value in \"{}\"", flag));
  };
  not_blank("requestheader-username-headers", from.requestheader_username_headers);
  not_blank("requestheader-group-headers", from.requestheader_group_headers);
  not_blank("requestheader-extra-headers-prefix", from.requestheader_extra_headers_prefix);
  not_blank("requestheader-allowed-names", from.requestheader_allowed_names);
  const std::vector<std::string>& uid_headers = from.requestheader_uid_headers;
  if (!options.gates.Enabled("RemoteRequestHeaderUID")) {
    if (!uid_headers.empty()) {
      problems.push_back("--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" feature to be enabled");
    }
    return;
  }
  not_blank("requestheader-uid-headers", uid_headers);
  if (!uid_headers.empty() && !HasIgnoringCase(uid_headers, "X-Remote-Uid")) {
    problems.push_back(
        "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will "
        "not work");
  }
}

std::string Json(const std::vector<std::string>& list) {
  Problems quoted;
  for (const std::string& item : list) quoted.push_back(api::Quote(item));
  return fmt::format("[{}]", fmt::join(quoted, ","));
}

std::string Json(const std::map<std::string, std::string>& map) {
  Problems pairs;
  for (const auto& [key, value] : map) pairs.push_back(fmt::format("{}:{}", api::Quote(key), api::Quote(value)));
  return fmt::format("{{{}}}", fmt::join(pairs, ","));
}

// Whether `text` is a valid label name or, with `colons`, a valid metric name.
bool IsName(std::string_view text, bool colons) {
  const auto good = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9') ||
           (colons && c == ':');
  };
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::ranges::all_of(text, good);
}

// What is wrong with a label mapping; nothing if it is valid.
std::optional<std::string> LabelProblem(const std::map<std::string, std::string>& labels, std::string_view path) {
  for (const auto& [key, values] : labels) {
    const size_t comma = key.find(',');
    if (comma != std::string::npos && IsName(key.substr(0, comma), true) && IsName(key.substr(comma + 1), false))
      continue;
    return fmt::format(
        "{}: Invalid value: {}: must have keys with format `metricName,labelName` where metricName matches \"{}\" and "
        "labelName matches \"{}\"",
        path, Json(labels), kMetricName, kLabelName);
  }
  return std::nullopt;
}

void CheckMetrics(const MetricsOptions& options, Problems& problems) {
  const std::string previous = MinorVersion{kOurVersion.major, kOurVersion.minor - 1, 0}.Text();
  if (!options.show_hidden_for_version.empty() && options.show_hidden_for_version != previous) {
    problems.push_back(api::InvalidField(
        "metrics.showHiddenMetricsForVersion", options.show_hidden_for_version,
        fmt::format("must be omitted or have the value '{}'; only the previous minor version is allowed", previous)));
  }
  const auto bad = std::ranges::find_if(options.disabled, [](const std::string& name) { return !IsName(name, true); });
  if (bad != options.disabled.end()) {
    problems.push_back(
        fmt::format("metrics.disabledMetrics: Invalid value: {}: must be fully qualified metric names matching "
                    "\"^{}$\", got {}",
                    Json(options.disabled), kMetricName, api::Quote(*bad)));
  }
  if (auto problem = LabelProblem(options.allow_labels, "metrics.allowListMapping")) {
    problems.push_back(std::move(*problem));
  }
  if (!options.allow_labels.empty() && !options.allow_labels_manifest.empty()) {
    problems.push_back("metrics: cannot specify both allowListMapping and allowListMappingManifest");
  } else if (const auto labels = LoadMetricLabels(options); !labels) {
    problems.push_back(labels.error().message);
  }
}

struct ComponentVersion {
  std::string component;
  MinorVersion version;
};

Result<std::optional<MinorVersion>> OurVersionIn(const std::vector<std::string>& texts) {
  std::vector<ComponentVersion> seen;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    ComponentVersion entry{std::string(kComponent), {}};
    if (equals != std::string::npos) {
      entry.component = text.substr(0, equals);
      std::erase(entry.component, ' ');
    }
    const Result<MinorVersion> version =
        ParseMinorVersion(equals == std::string::npos ? text : text.substr(equals + 1));
    if (!version) return version.error();
    entry.version = *version;
    if (version->patch != 0) {
      return Error::InvalidArgument(
          fmt::format("patch version not allowed, got: {}={}", entry.component, version->Text()));
    }
    const auto twice = std::ranges::find(seen, entry.component, &ComponentVersion::component);
    if (twice != seen.end()) {
      return Error::InvalidArgument(fmt::format("duplicate version flag, {}={} and {}={}", entry.component,
                                                twice->version.Text(), entry.component, version->Text()));
    }
    seen.push_back(std::move(entry));
  }
  for (const ComponentVersion& entry : seen) {
    if (entry.component != kComponent) {
      return Error::InvalidArgument("component not registered: " + entry.component);
    }
  }
  return seen.empty() ? std::optional<MinorVersion>() : seen.front().version;
}

}  // namespace

Result<std::map<std::string, std::string>> LoadMetricLabels(const MetricsOptions& options) {
  if (options.allow_labels_manifest.empty()) return options.allow_labels;
  constexpr std::string_view kPath = "metrics.allowListMappingManifest";
  const auto fail = [&](const std::string& why) {
    return Error::InvalidArgument(api::InvalidField(kPath, options.allow_labels_manifest, why));
  };
  const Result<std::string> text = codec::ReadFile(options.allow_labels_manifest);
  if (!text) return fail("failed to read allow list manifest: " + text.error().message);
  const Result<std::vector<codec::Document>> documents = codec::ParseYaml(*text, options.allow_labels_manifest);
  if (!documents) return fail("failed to parse allow list manifest: " + documents.error().message);
  std::map<std::string, std::string> labels;
  if (documents->empty()) return labels;
  const codec::Value& root = documents->front().root();
  if (!root.is_object()) {
    return fail("failed to parse allow list manifest: expected a map of strings, found " + root.Description());
  }
  for (const codec::Member& member : root.members()) {
    if (member.value.is_array() || member.value.is_object()) {
      return fail(fmt::format("failed to parse allow list manifest: line {}: expected a string, found {}",
                              member.key_mark.line, member.value.Description()));
    }
    labels[std::string(member.key)] = member.value.text();
  }
  if (auto problem = LabelProblem(labels, kPath)) {
    return fail(fmt::format("invalid allow list mapping in manifest: [{}]", *problem));
  }
  return labels;
}

Result<std::string> KubeGates(const GateAssignments& assignments) {
  std::string kube;
  bool with_name = false, without_name = false;
  for (const auto& [component, assignment] : assignments.parts) {
    with_name |= component == kComponent;
    without_name |= component.empty();
    if (!component.empty() && component != kComponent) {
      return Error::InvalidArgument("component not registered: " + component);
    }
    if (!kube.empty()) kube += ',';
    kube += assignment;
  }
  if (with_name && without_name) {
    return Error::InvalidArgument(
        "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use");
  }
  return kube;
}

Result<void> CheckVersions(const SchedulerOptions& options) {
  const Result<std::optional<MinorVersion>> emulated = OurVersionIn(options.emulated_version);
  if (!emulated) return emulated.error();
  const Result<std::optional<MinorVersion>> oldest = OurVersionIn(options.min_compatibility_version);
  if (!oldest) return oldest.error();
  const MinorVersion ours = emulated->value_or(kOurVersion);
  if (ours > kOurVersion || ours < kOldestVersion) {
    return Error::InvalidArgument(fmt::format("emulation version {} is not between [{}, {}.0]", ours.Text(),
                                              kOldestVersion.Text(), kOurVersion.Text()));
  }
  if (*oldest && (**oldest > ours || **oldest < kOldestVersion)) {
    return Error::InvalidArgument(fmt::format("minCompatibilityVersion version {} is not between [{}, {}]",
                                              (*oldest)->Text(), kOldestVersion.Text(), ours.Text()));
  }
  if (ours != kOurVersion) {
    return Error{
        ErrorCode::kUnsupported,
        fmt::format("--emulated-version={}: berth decides as kube-scheduler v{} does and emulates no older one; "
                    "leave the flag out",
                    ours.Text(), kOurVersion.Text())};
  }
  return {};
}

Result<void> CheckLogging(const SchedulerOptions& options) {
  const LoggingOptions& logging = options.logging;
  Problems problems;
  if (logging.flush_frequency <= base::Duration::zero()) {
    problems.push_back(
        api::InvalidField("flushFrequency", api::FormatDuration(logging.flush_frequency), "Must be greater than zero"));
  }
  if (logging.format != "text" && logging.format != "json") {
    problems.push_back(api::InvalidField("format", logging.format, "Unsupported log format"));
  }
  if (!logging.vmodule.items.empty() && logging.format != "text") {
    problems.push_back("vmodule: Forbidden: Only supported for text log format");
  }
  const auto alpha = [&](bool used, std::string_view field) {
    if (!used || options.gates.Enabled("LoggingAlphaOptions")) return;
    problems.push_back(fmt::format("options.{}: Forbidden: Feature LoggingAlphaOptions is disabled", field));
  };
  alpha(logging.text_split_stream, "text.splitStream");
  alpha(logging.text_info_buffer_size.bytes != 0, "text.infoBufferSize");
  alpha(logging.json_split_stream, "json.splitStream");
  alpha(logging.json_info_buffer_size.bytes != 0, "json.infoBufferSize");
  if (!problems.empty()) return Error::InvalidArgument(api::JoinErrors(problems));
  return {};
}

Result<void> ApplyOptions(const SchedulerOptions& options, config::KubeSchedulerConfiguration& configuration) {
  if (options.config_file.empty()) ApplyDeprecated(options, configuration);
  ApplyLeaderElection(options, configuration.leader_election);
  // Upstream validates a file's configuration again but not what flags made of the defaults, and then fails on it
  // later; here both are reported at once.
  Problems problems = config::FindProblems(configuration);
  CheckServing(options.secure_serving, problems);
  CheckHeaders(options, problems);
  CheckMetrics(options.metrics, problems);
  if (!problems.empty()) return Error::InvalidArgument(api::JoinErrors(problems));
  return {};
}

}  // namespace berth::cmd
