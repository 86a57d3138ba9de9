#include "serving/status_body.h"

#include <string>

#include "base/go_text.h"
#include "codec/json_writer.h"

namespace berth::serving {
namespace {

// curl and browsers get it indented, as from any Kubernetes component.
bool WantsPretty(const HttpRequest& request) {
  if (request.HasQuery("pretty")) {
    const std::string value = request.QueryValues("pretty").front();
    return value != "0" && value != "false";
  }
  const std::string_view agent = request.Header("user-agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

HttpResponse Status(const HttpRequest& request, int code, std::string_view reason, std::string_view message,
                    bool has_details) {
  HttpResponse response{.status = code, .content_type = "application/json"};
  codec::JsonWriter writer(response.body, WantsPretty(request));
  writer.StartObject();
  const auto text = [&](std::string_view key, std::string_view value) {
    writer.Key(key);
    writer.String(value);
  };
  const auto empty_object = [&](std::string_view key) {
    writer.Key(key);
    writer.StartObject();
    writer.EndObject();
  };
  text("kind", "Status");
  text("apiVersion", "v1");
  empty_object("metadata");
  text("status", "Failure");
  text("message", message);
  text("reason", reason);
  if (has_details) empty_object("details");
  writer.Key("code");
  writer.Int64(code);
  writer.EndObject();
  response.body += '\n';
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return response;
}

// Text from a client must not be interpreted as HTML when the answer is opened in a browser.
std::string WithoutHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

HttpResponse Unauthorized(const HttpRequest& request) {
  return Status(request, 401, "Unauthorized", "Unauthorized", /*has_details=*/false);
}

HttpResponse Forbidden(const HttpRequest& request, const AccessQuestion& question, std::string_view reason) {
  std::string message = "User ";
  base::AppendQuoted(message, question.user.name);
  message += " cannot " + question.verb + " path ";
  base::AppendQuoted(message, question.path);
  message = "forbidden: " + WithoutHtml(message);
  if (!reason.empty()) message += ": " + std::string(reason);
  return Status(request, 403, "Forbidden", message, /*has_details=*/true);
}

HttpResponse NotAcceptable(const HttpRequest& request, std::string_view accepted) {
  return Status(request, 406, "NotAcceptable", "only the following media types are accepted: " + std::string(accepted),
                /*has_details=*/false);
}

}  // namespace berth::serving
