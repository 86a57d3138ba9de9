#include "serving/zpages.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <set>
#include <string_view>

#include "base/ascii.h"
#include "codec/json_writer.h"
#include "serving/status_body.h"

namespace berth::serving {
namespace {

constexpr char kWarning[] =
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is "
    "for debugging purposes only.\n";

enum class Form { kText, kV1Beta1, kV1Alpha1 };

std::string_view Cut(std::string_view& text, char separator) {
  const size_t at = std::min(text.find(separator), text.size());
  const std::string_view item = base::Trimmed(text.substr(0, at));
  text.remove_prefix(std::min(at + 1, text.size()));
  return item;
}

// One clause of Accept: "text/plain", "application/json;v=v1beta1;g=config.k8s.io;as=Statusz".
std::optional<Form> FormOf(std::string_view clause, std::string_view kind) {
  const std::string_view type = Cut(clause, ';');
  if (type == "*/*" || type == "text/*" || type == "text/plain") return Form::kText;
  if (type != "application/json") return std::nullopt;
  std::string_view version;
  std::string_view group;
  std::string_view as;
  while (!clause.empty()) {
    std::string_view parameter = Cut(clause, ';');
    const std::string_view key = Cut(parameter, '=');
    if (key == "v") version = parameter;
    if (key == "g") group = parameter;
    if (key == "as") as = parameter;
  }
  if (group != "config.k8s.io" || as != kind) return std::nullopt;
  if (version == "v1beta1") return Form::kV1Beta1;
  if (version == "v1alpha1") return Form::kV1Alpha1;
  return std::nullopt;
}

std::optional<Form> Negotiate(const HttpRequest& request, std::string_view kind) {
  std::string_view accept = base::Trimmed(request.Header("accept"));
  if (accept.empty()) return Form::kText;
  while (!accept.empty()) {
    if (const std::optional<Form> form = FormOf(Cut(accept, ','), kind)) return form;
  }
  return std::nullopt;
}

// {"kind":…,"apiVersion":…,"metadata":{"name":…},…}, the rest by `write_fields`.
template <class WriteFields>
HttpResponse Structured(Form form, std::string_view kind, const std::string& component, WriteFields write_fields) {
  HttpResponse response{.content_type = "application/json"};
  if (form == Form::kV1Alpha1) {
    const std::string endpoint = kind == "Statusz" ? "statusz" : "flagz";
    response.headers.emplace_back("Warning", "299 - \"This version of the " + endpoint +
                                                 " endpoint is deprecated. Please use a newer version.\"");
  }
  codec::JsonWriter writer(response.body);
  writer.StartObject();
  writer.Key("kind");
  writer.String(kind);
  writer.Key("apiVersion");
  writer.String(form == Form::kV1Beta1 ? "config.k8s.io/v1beta1" : "config.k8s.io/v1alpha1");
  writer.Key("metadata");
  writer.StartObject();
  writer.Key("name");
  writer.String(component);
  writer.EndObject();
  write_fields(writer);
  writer.EndObject();
  response.body += '\n';
  return response;
}

std::string FormatTime(base::Time time, const char* format) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, format, &parts));
}

// The first component of each path.
std::set<std::string> Folders(const std::vector<std::string>& paths) {
  std::set<std::string> folders;
  for (const std::string& path : paths) folders.insert(path.substr(0, path.find('/', 1)));
  folders.erase("/");
  return folders;
}

std::string TwoDigits(int64_t value) { return (value < 10 ? "0" : "") + std::to_string(value); }

}  // namespace

HttpResponse StatuszPage(const HttpRequest& request, const ComponentStatus& status) {
  const std::optional<Form> form = Negotiate(request, "Statusz");
  if (!form) return NotAcceptable(request, "text/plain, application/json;v=v1beta1;g=config.k8s.io;as=Statusz");
  const int64_t up =
      std::max<int64_t>(0, std::chrono::floor<std::chrono::seconds>(status.now - status.started).count());
  const std::set<std::string> folders = Folders(status.paths);
  if (form != Form::kText) {
    return Structured(*form, "Statusz", status.component, [&](codec::JsonWriter& writer) {
      writer.Key("startTime");
      writer.String(FormatTime(status.started, "%Y-%m-%dT%H:%M:%SZ"));
      writer.Key("uptimeSeconds");
      writer.Int64(up);
      writer.Key("goVersion");
      writer.String(status.build.go_version);
      writer.Key("binaryVersion");
      writer.String(status.binary_version);
      if (!status.emulation_version.empty()) {
        writer.Key("emulationVersion");
        writer.String(status.emulation_version);
      }
      writer.Key("paths");
      writer.StartArray();
      for (const std::string& folder : folders) writer.String(folder);
      writer.EndArray();
    });
  }
  std::string paths;
  for (const std::string& folder : folders) paths += " " + folder;
  std::string body = "\n" + status.component + " statusz\n" + kWarning + "\n";
  body += "Started: " + FormatTime(status.started, "%a %b %e %H:%M:%S UTC %Y") + "\n";
  body +=
      "Up: " + std::to_string(up / 3600) + " hr " + TwoDigits(up / 60 % 60) + " min " + TwoDigits(up % 60) + " sec\n";
  body += "Go version: " + status.build.go_version + "\n";
  body += "Binary version: " + status.binary_version + "\n";
  body += status.emulation_version.empty() ? "\n" : "Emulation version: " + status.emulation_version + "\n";
  body += paths.empty() ? "\n" : "Paths:" + paths + "\n";
  return {.body = std::move(body)};
}

HttpResponse FlagzPage(const HttpRequest& request, const std::string& component,
                       const std::map<std::string, std::string>& flags) {
  const std::optional<Form> form = Negotiate(request, "Flagz");
  if (!form) return NotAcceptable(request, "text/plain, application/json;v=v1beta1;g=config.k8s.io;as=Flagz");
  if (form != Form::kText) {
    return Structured(*form, "Flagz", component, [&](codec::JsonWriter& writer) {
      writer.Key("flags");
      writer.StartObject();
      for (const auto& [name, value] : flags) {
        writer.Key(name);
        writer.String(value);
      }
      writer.EndObject();
    });
  }
  std::string body = "\n" + component + " flagz\n" + kWarning;
  for (const auto& [name, value] : flags) body += name + "=" + value + "\n";
  return {.body = std::move(body)};
}

HttpResponse VersionPage(const metrics::BuildInfo& build) {
  HttpResponse response{.content_type = "application/json"};
  codec::JsonWriter writer(response.body, /*pretty=*/true);
  writer.StartObject();
  const std::pair<const char*, const std::string*> fields[] = {{"major", &build.major},
                                                               {"minor", &build.minor},
                                                               {"gitVersion", &build.git_version},
                                                               {"gitCommit", &build.git_commit},
                                                               {"gitTreeState", &build.git_tree_state},
                                                               {"buildDate", &build.build_date},
                                                               {"goVersion", &build.go_version},
                                                               {"compiler", &build.compiler},
                                                               {"platform", &build.platform}};
  for (const auto& [key, value] : fields) {
    writer.Key(key);
    writer.String(*value);
  }
  writer.EndObject();
  return response;
}

}  // namespace berth::serving
