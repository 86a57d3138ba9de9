#include "http/kubeconfig.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "api/field_error.h"
#include "base/ascii.h"
#include "base/file.h"
#include "codec/decode.h"
#include "codec/field_mark.h"
#include "codec/json_writer.h"
#include "codec/yaml.h"
#include "http/kubeconfig_format.h"

namespace berth::http {
namespace {

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";
constexpr std::string_view kExecVersions[] = {"client.authentication.k8s.io/v1",
                                              "client.authentication.k8s.io/v1beta1"};

// Collects mistakes with their positions.
class Mistakes {
 public:
  explicit Mistakes(const codec::Value& root) : root_(root) {}

  void Add(std::string path, std::string message) {
    found_.push_back({.path = path, .where = codec::FieldMark(root_, path), .message = std::move(message)});
  }
  std::vector<codec::Diagnostic>& found() { return found_; }

 private:
  const codec::Value& root_;
  std::vector<codec::Diagnostic> found_;
};

// The index of an entry in its list, or -1.
template <class Named>
int IndexOf(const std::vector<Named>& entries, std::string_view name) {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

template <class Named>
void CheckNames(const std::vector<Named>& entries, std::string_view list, Mistakes& mistakes) {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (IndexOf(entries, entries[i].name) == static_cast<int>(i)) continue;
    mistakes.Add(fmt::format("{}[{}].name", list, i), fmt::format("duplicate name \"{}\" in list", entries[i].name));
  }
}

std::string WhyUnreadable(const std::string& path) {
  errno = 0;
  if (access(path.c_str(), R_OK) == 0) return {};
  std::string reason = std::strerror(errno);
  reason[0] = base::LowerCase(reason[0]);
  return fmt::format("open {}: {}", path, reason);
}

bool IsEmptyCluster(const FileCluster& cluster) { return codec::IsEmpty(codec::kTypeOf<FileCluster>, &cluster); }

void CheckCluster(const FileCluster& cluster, const std::string& name, const std::string& path, Mistakes& mistakes) {
  if (cluster.server.empty()) {
    mistakes.Add(path + ".server", fmt::format("no server found for cluster {}", api::Quote(name)));
  }
  if (const std::string wrong = CheckProxyUrl(cluster.proxy_url); !cluster.proxy_url.empty() && !wrong.empty()) {
    mistakes.Add(path + ".proxy-url", fmt::format("invalid 'proxy-url' {} for cluster {}: {}",
                                                  api::Quote(cluster.proxy_url), api::Quote(name), wrong));
  }
  if (cluster.certificate_authority.empty()) return;
  if (!cluster.certificate_authority_data.bytes.empty()) {
    mistakes.Add(path + ".certificate-authority",
                 fmt::format("certificate-authority-data and certificate-authority are both specified for {}. "
                             "certificate-authority-data will override.",
                             name));
  }
  if (const std::string why = WhyUnreadable(cluster.certificate_authority); !why.empty()) {
    mistakes.Add(path + ".certificate-authority",
                 fmt::format("unable to read certificate-authority {} for {} due to {}", cluster.certificate_authority,
                             name, why));
  }
}

void CheckCertificate(const FileUser& user, const std::string& name, const std::string& path, Mistakes& mistakes) {
  const bool has_data = !user.client_certificate_data.bytes.empty();
  const bool has_key_data = !user.client_key_data.bytes.empty();
  if (user.client_certificate.empty() && !has_data) return;
  if (!user.client_certificate.empty() && has_data) {
    mistakes.Add(path + ".client-certificate",
                 fmt::format("client-cert-data and client-cert are both specified for {}. client-cert-data will "
                             "override.",
                             name));
  }
  if (!user.client_key.empty() && has_key_data) {
    mistakes.Add(path + ".client-key", fmt::format("client-key-data and client-key are both specified for {}; "
                                                   "client-key-data will override",
                                                   name));
  }
  if (user.client_key.empty() && !has_key_data) {
    mistakes.Add(path + ".client-key", fmt::format("client-key-data or client-key must be specified for {} to use the "
                                                   "clientCert authentication method.",
                                                   name));
  }
  const std::pair<const char*, const std::string&> files[] = {{"cert", user.client_certificate},
                                                              {"key", user.client_key}};
  for (const auto& [what, file] : files) {
    if (file.empty()) continue;
    if (const std::string why = WhyUnreadable(file); !why.empty()) {
      mistakes.Add(path + (what == files[0].first ? ".client-certificate" : ".client-key"),
                   fmt::format("unable to read client-{} {} for {} due to {}", what, file, name, why));
    }
  }
}

void CheckExec(const FileExec& exec, const std::string& name, const std::string& path, Mistakes& mistakes) {
  const auto add = [&](std::string_view field, std::string message) {
    mistakes.Add(fmt::format("{}.exec.{}", path, field), std::move(message));
  };
  const auto missing = [&](std::string_view field) {
    add(field, fmt::format("{} must be specified for {} to use exec authentication plugin", field, name));
  };
  if (exec.command.empty()) missing("command");
  if (exec.api_version.empty()) {
    missing("apiVersion");
  } else if (exec.api_version != kExecVersions[0] && exec.api_version != kExecVersions[1]) {
    add("apiVersion", fmt::format("exec plugin: invalid apiVersion {}", api::Quote(exec.api_version)));
  }
  for (size_t i = 0; i < exec.env.size(); ++i) {
    if (!exec.env[i].name.empty()) continue;
    add(fmt::format("env[{}].name", i),
        fmt::format("env variable name must be specified for {} to use exec authentication plugin", name));
  }
  const std::string& mode = exec.interactive_mode;
  if (mode.empty() && exec.api_version == kExecVersions[0]) {
    missing("interactiveMode");
  } else if (!mode.empty() && mode != "Never" && mode != "IfAvailable" && mode != "Always") {
    add("interactiveMode", fmt::format("invalid interactiveMode for {}: {}", name, api::Quote(mode)));
  }
}

void CheckUser(const FileUser& user, const std::string& name, const std::string& path, Mistakes& mistakes) {
  CheckCertificate(user, name, path, mistakes);
  if (user.exec) CheckExec(*user.exec, name, path, mistakes);
  if (user.auth_provider) {
    const codec::Value* provider = user.auth_provider->value.Find("name");
    mistakes.Add(path + ".auth-provider", fmt::format("no Auth Provider found for name {}; use an exec plugin instead",
                                                      api::Quote(provider ? provider->text() : "")));
  }
  if (!user.token.empty() && (!user.username.empty() || !user.password.empty())) {
    mistakes.Add(path, fmt::format("more than one authentication method found for {}; found [token basicAuth], only "
                                   "one is allowed",
                                   name));
  }
  if (user.token.empty() && !user.token_file.empty()) {
    if (const std::string why = WhyUnreadable(user.token_file); !why.empty()) mistakes.Add(path + ".tokenFile", why);
  }
  if (user.as.empty() && !(user.as_uid.empty() && user.as_groups.empty() && user.as_user_extra.empty())) {
    mistakes.Add(path + ".as",
                 fmt::format("requesting uid, groups or user-extra for {} without impersonating a user", name));
  }
}

// Paths in a kubeconfig are relative to its folder.
void ResolvePath(const std::string& file, std::string& path) {
  if (path.empty() || path.front() == '/') return;
  path = (std::filesystem::path(file).parent_path() / path).lexically_normal().string();
}

void ResolvePaths(const std::string& file, FileCluster& cluster) { ResolvePath(file, cluster.certificate_authority); }

void ResolvePaths(const std::string& file, FileUser& user) {
  for (std::string* path : {&user.client_certificate, &user.client_key, &user.token_file}) ResolvePath(file, *path);
  // A bare name is looked up through PATH.
  if (user.exec && user.exec->command.find('/') != std::string::npos) {
    ResolvePath(file, user.exec->command);
    if (user.exec->command.find('/') == std::string::npos) user.exec->command.insert(0, "./");
  }
}

// The hint is shown in a terminal: a file from elsewhere must not inject control sequences into it.
std::string WithoutControls(std::string_view text) {
  std::string clean;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && !(byte >= 0x09 && byte <= 0x0D)) || byte == 0x7F) {
      clean += fmt::format("U+{:04X}", byte);
    } else {
      clean += c;
    }
  }
  return clean;
}

ExecConfig ToExecConfig(FileExec file, const FileCluster& cluster) {
  using enum ExecConfig::InteractiveMode;
  ExecConfig exec{.command = std::move(file.command),
                  .args = std::move(file.args),
                  .env = {},
                  .api_version = std::move(file.api_version),
                  .install_hint = WithoutControls(file.install_hint),
                  .provide_cluster_info = file.provide_cluster_info};
  for (FileEnvVar& variable : file.env) exec.env.emplace_back(std::move(variable.name), std::move(variable.value));
  // v1beta1 originally lacked this field; CheckExec has verified that v1 has it.
  const bool if_available = file.interactive_mode.empty() || file.interactive_mode == "IfAvailable";
  exec.interactive_mode = file.interactive_mode == "Always" ? kAlways : if_available ? kIfAvailable : kNever;
  for (const FileExtension& extension : cluster.extensions) {
    if (extension.name != kExecExtension) continue;
    exec.cluster_extension.clear();
    codec::JsonWriter(exec.cluster_extension).Write(extension.extension.value);
  }
  return exec;
}

KubeconfigChoice ToChoice(const std::string& cluster_name, FileCluster cluster, const std::string& user_name,
                          FileUser user) {
  KubeconfigChoice choice;
  if (user.exec) choice.user.exec = ToExecConfig(std::move(*user.exec), cluster);
  choice.cluster = {.name = cluster_name,
                    .server = std::move(cluster.server),
                    .tls_server_name = std::move(cluster.tls_server_name),
                    .insecure_skip_tls_verify = cluster.insecure_skip_tls_verify,
                    .certificate_authority = std::move(cluster.certificate_authority),
                    .certificate_authority_data = std::move(cluster.certificate_authority_data.bytes),
                    .proxy_url = std::move(cluster.proxy_url),
                    .disable_compression = cluster.disable_compression};
  UserEntry& entry = choice.user;
  entry.name = user_name;
  entry.client_certificate = std::move(user.client_certificate);
  entry.client_key = std::move(user.client_key);
  entry.client_certificate_data = std::move(user.client_certificate_data.bytes);
  entry.client_key_data = std::move(user.client_key_data.bytes);
  entry.token = std::move(user.token);
  entry.token_file = std::move(user.token_file);
  entry.username = std::move(user.username);
  entry.password = std::move(user.password);
  entry.as = std::move(user.as);
  entry.as_uid = std::move(user.as_uid);
  entry.as_groups = std::move(user.as_groups);
  entry.as_user_extra = std::move(user.as_user_extra);
  return choice;
}

// One of the merged files, with the mistakes found in it.
struct Source {
  explicit Source(const codec::Document& from) : document(&from), mistakes(from.root()) {
    codec::Decode(from.root(), file, {}, mistakes.found());
    if (!file.kind.empty() && file.kind != "Config") {
      mistakes.Add("kind", fmt::format("expected Config, found {}", api::Quote(file.kind)));
    }
    if (!file.api_version.empty() && file.api_version != "v1") {
      mistakes.Add("apiVersion", fmt::format("expected v1, found {}", api::Quote(file.api_version)));
    }
    CheckNames(file.clusters, "clusters", mistakes);
    CheckNames(file.users, "users", mistakes);
    CheckNames(file.contexts, "contexts", mistakes);
  }

  const codec::Document* document;
  FileKubeconfig file{};
  Mistakes mistakes;
};

// An entry, and the file that contains it.
template <class Entry>
struct Found {
  Entry entry{};
  Source* source = nullptr;  // null when no entry is named, or none of that name exists
  std::string path{};
};

// If several files have an entry of that name, the first file provides all of it.
template <class Named>
Found<typename Named::Entry> Find(std::vector<Source>& sources, std::vector<Named> FileKubeconfig::*list,
                                  const std::string& name, std::string_view role) {
  for (Source& source : sources) {
    const std::vector<Named>& entries = source.file.*list;
    if (const int index = IndexOf(entries, name); index >= 0) {
      return {entries[static_cast<size_t>(index)].entry, &source, fmt::format("{}s[{}].{}", role, index, role)};
    }
  }
  return {};
}

Result<void> MistakesIn(std::vector<Source>& sources) {
  std::string all;
  for (Source& source : sources) {
    const Result<void> right = codec::ToResult(source.document->file_name(), source.mistakes.found());
    if (!right) all += (all.empty() ? "" : "\n") + right.error().message;
  }
  if (!all.empty()) return Error::InvalidArgument(all);
  return {};
}

Result<std::optional<KubeconfigChoice>> Choose(const std::vector<codec::Document>& documents, const std::string& master,
                                               const std::string& asked_for) {
  std::vector<Source> sources;
  for (const codec::Document& document : documents) sources.emplace_back(document);
  const auto current = std::ranges::find_if(sources, [](const Source& s) { return !s.file.current_context.empty(); });
  Source& naming = current == sources.end() ? sources.front() : *current;
  const std::string wanted = asked_for.empty() ? naming.file.current_context : asked_for;

  Found<FileContext> context = Find(sources, &FileKubeconfig::contexts, wanted, "context");
  if (context.source == nullptr && !wanted.empty()) {
    naming.mistakes.Add(asked_for.empty() ? "current-context" : "contexts",
                        "context was not found for specified context: " + wanted);
  }
  const auto need = [&](const Source* found, const std::string& name, std::string_view role) {
    if (name.empty() || found != nullptr) return;
    context.source->mistakes.Add(
        fmt::format("{}.{}", context.path, role),
        fmt::format("{} {} was not found for context {}", role, api::Quote(name), api::Quote(wanted)));
  };
  Found<FileCluster> cluster;
  Found<FileUser> user;
  if (context.source != nullptr) {
    cluster = Find(sources, &FileKubeconfig::clusters, context.entry.cluster, "cluster");
    need(cluster.source, context.entry.cluster, "cluster");
    user = Find(sources, &FileKubeconfig::users, context.entry.user, "user");
    need(user.source, context.entry.user, "user");
  }
  if (cluster.path.empty()) cluster.path = "clusters";
  if (user.path.empty()) user.path = "users";
  if (!master.empty()) {
    cluster.entry.server = master;
    cluster.entry.tls_server_name.clear();
  }
  if (cluster.source != nullptr) ResolvePaths(cluster.source->document->file_name(), cluster.entry);
  if (user.source != nullptr) ResolvePaths(user.source->document->file_name(), user.entry);
  const bool empty = IsEmptyCluster(cluster.entry);
  if (MistakesIn(sources)) {
    Source& of_cluster = cluster.source != nullptr ? *cluster.source : naming;
    Source& of_user = user.source != nullptr ? *user.source : naming;
    if (!empty) CheckCluster(cluster.entry, context.entry.cluster, cluster.path, of_cluster.mistakes);
    CheckUser(user.entry, context.entry.user, user.path, of_user.mistakes);
  }
  if (Result<void> right = MistakesIn(sources); !right) return right.error();
  if (empty) return std::optional<KubeconfigChoice>();
  KubeconfigChoice choice =
      ToChoice(context.entry.cluster, std::move(cluster.entry), context.entry.user, std::move(user.entry));
  choice.default_namespace = context.entry.default_namespace;
  return std::optional(std::move(choice));
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  const std::string why = WhyUnreadable(path);
  if (!why.empty()) return Error::NotFound(why);
  Result<std::string> content = base::ReadFile(path);
  if (!content) return Error::InvalidArgument(fmt::format("read {}: failed", path));
  return content;
}

std::string CheckProxyUrl(const std::string& url) {
  const size_t colon = url.find("://");
  const std::string scheme = colon == std::string::npos ? "" : url.substr(0, colon);
  if (scheme == "http" || scheme == "https" || scheme == "socks5") {
    return colon + 3 < url.size() ? "" : fmt::format("could not parse: {}", url);
  }
  return fmt::format("unsupported scheme {}, must be http, https, or socks5", api::Quote(scheme));
}

Result<std::optional<KubeconfigChoice>> ReadKubeconfigs(const std::vector<std::string>& paths,
                                                        const std::string& master, const std::string& context) {
  std::vector<codec::Document> files;
  for (const std::string& path : paths) {
    Result<std::string> text = ReadFile(path);
    if (!text) return text.error();
    Result<std::vector<codec::Document>> documents = codec::ParseYaml(*text, path);
    if (!documents) return documents.error();
    if (documents->size() > 1) {
      return Error::InvalidArgument(fmt::format("{}: expected one document, found {}",
                                                codec::Where(path, (*documents)[1].root().mark()), documents->size()));
    }
    std::ranges::move(*documents, std::back_inserter(files));
  }
  if (!files.empty()) return Choose(files, master, context);
  if (master.empty()) return std::optional<KubeconfigChoice>();
  return std::optional(KubeconfigChoice{.cluster = {.server = master}});
}

}  // namespace berth::http
