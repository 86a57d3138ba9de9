#include "client/curl_transport_exchange.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cctype>

namespace berth::client {
namespace {

constexpr int kUnauthorized = 401;

bool SameName(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

// libcurl only borrows it: the credentials outlive the handle's use.
curl_blob Borrow(const std::string& bytes) {
  return {.data = const_cast<char*>(bytes.data()), .len = bytes.size(), .flags = CURL_BLOB_NOCOPY};
}

void ApplyCertificate(CURL* easy, const Credentials& credentials) {
  if (credentials.client_certificate.empty()) return;
  curl_blob certificate = Borrow(credentials.client_certificate), key = Borrow(credentials.client_key);
  curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &certificate);
  curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
}

}  // namespace

Exchange::Exchange(CallId call, Request request, ResponseHandler handler, const ServerSetup& setup,
                   RequestObserver* observer)
    : id(call), request_(std::move(request)), handler_(std::move(handler)), setup_(setup), observer_(observer) {}

Result<void> Exchange::Begin(CURL* easy, Connections& connections, CredentialsPtr credentials) {
  connections_ = &connections;
  easy_ = easy;
  credentials_ = std::move(credentials);
  head_ = {};
  answered_ = refused_ = false;
  received_ = 0;
  port_ = 0;
  begun_ = heard_ = std::chrono::steady_clock::now();
  if (Result<void> built = BuildHeaders(); !built) return built;
  setup_.Apply(easy);
  connections.Attach(easy);
  ApplyCertificate(easy, *credentials_);
  ApplyMethod();
  curl_easy_setopt(easy, CURLOPT_URL, (setup_.base_url() + request_.path).c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &Exchange::OnConnection);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, this);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Exchange::OnHeader);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Exchange::OnBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  error_[0] = '\0';
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
  return {};
}

CURL* Exchange::Release() {
  curl_slist_free_all(headers_);
  headers_ = nullptr;
  return std::exchange(easy_, nullptr);
}

void Exchange::ApplyMethod() {
  const bool has_body = !request_.body.empty();
  if (has_body || request_.method == "POST") {
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request_.body.data());
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  } else if (request_.method == "HEAD") {
    curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
  } else {
    curl_easy_setopt(easy_, CURLOPT_HTTPGET, 1L);
  }
  curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

bool Exchange::HasHeader(std::string_view name) const {
  return std::any_of(request_.headers.begin(), request_.headers.end(),
                     [&](const auto& header) { return SameName(header.first, name); });
}

Result<void> Exchange::AddHeader(const std::string& name, const std::string& value) {
  const auto breaks_line = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
  if (std::any_of(value.begin(), value.end(), breaks_line)) {
    return Failed(ErrorCode::kInvalidArgument, fmt::format("invalid header field value for \"{}\"", name));
  }
  // To libcurl "Name:" says that there shall be no such header.
  headers_ = curl_slist_append(headers_, value.empty() ? (name + ";").c_str() : (name + ": " + value).c_str());
  return {};
}

Result<void> Exchange::BuildHeaders() {
  Headers all = request_.headers;
  const RestConfig& config = setup_.config();
  if (!credentials_->authorization.empty() && !HasHeader("Authorization")) {
    all.emplace_back("Authorization", credentials_->authorization);
  }
  if (!config.user_agent.empty() && !HasHeader("User-Agent")) all.emplace_back("User-Agent", config.user_agent);
  if (!HasHeader("Impersonate-User")) {
    all.insert(all.end(), config.impersonation.begin(), config.impersonation.end());
  }
  if (setup_.renamed()) all.emplace_back("Host", setup_.host());
  for (const auto& [name, value] : all) {
    if (Result<void> added = AddHeader(name, value); !added) return added;
  }
  // What libcurl would add of its own accord.
  for (const char* name : {"Expect", "Content-Type", "Accept"}) {
    if (!HasHeader(name)) headers_ = curl_slist_append(headers_, (std::string(name) + ":").c_str());
  }
  return {};
}

int Exchange::OnConnection(void* self, char*, char*, int, int local_port) {
  auto& exchange = *static_cast<Exchange*>(self);
  exchange.port_ = local_port;
  exchange.connections_->Joined(local_port, std::chrono::steady_clock::now());
  return CURL_PREREQFUNC_OK;
}

size_t Exchange::OnHeader(char* data, size_t size, size_t count, void* self) {
  static_cast<Exchange*>(self)->HeaderLine({data, size * count});
  return size * count;
}

void Exchange::HeaderLine(std::string_view line) {
  heard_ = std::chrono::steady_clock::now();
  if (answered_) return;  // trailers
  if (line.starts_with("HTTP/")) {
    head_ = {};
    return;
  }
  line = Trimmed(line);
  if (line.empty()) return EndHead();
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  head_.headers.emplace_back(std::move(name), Trimmed(line.substr(colon + 1)));
}

void Exchange::EndHead() {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) return;  // another head follows
  answered_ = true;
  head_.status = static_cast<int>(status);
  connections_->Heard(port_, heard_);
  if (observer_ != nullptr) observer_->OnAnswer(request_.method, setup_.host(), head_.status, heard_ - begun_);
  if (status == kUnauthorized && !retried_ && !HasHeader("Authorization") &&
      setup_.config().credentials->Refuse(credentials_)) {
    refused_ = true;
    return;
  }
  if (handler_.on_head) handler_.on_head(head_);
}

size_t Exchange::OnBody(char* data, size_t size, size_t count, void* self) {
  auto& exchange = *static_cast<Exchange*>(self);
  exchange.heard_ = std::chrono::steady_clock::now();
  exchange.received_ += size * count;
  exchange.connections_->Heard(exchange.port_, exchange.heard_);
  if (!exchange.refused_ && exchange.handler_.on_data) exchange.handler_.on_data({data, size * count});
  return size * count;
}

SteadyTime Exchange::idle_deadline() const {
  if (easy_ == nullptr || request_.idle_timeout == base::Duration::zero()) return SteadyTime::max();
  return heard_ + request_.idle_timeout;
}

Error Exchange::Failed(ErrorCode code, std::string_view why) const {
  std::string method = request_.method;
  std::transform(method.begin() + (method.empty() ? 0 : 1), method.end(), method.begin() + (method.empty() ? 0 : 1),
                 [](unsigned char c) { return std::tolower(c); });
  return {code, fmt::format("{} \"{}{}\": {}", method, setup_.config().server, request_.path, why)};
}

Result<void> Exchange::Judge(CURLcode code, bool& again) {
  again = refused_;
  if (refused_) {
    // How the refusal ended does not matter: the request goes out again.
    retried_ = true;
    if (observer_ != nullptr) observer_->OnRetry(request_.method, setup_.host(), head_.status);
    return {};
  }
  if (code == CURLE_OK && answered_) return {};
  // libcurl 7.88 takes the end of an HTTP/2 connection for the end of what was on it.
  if (code == CURLE_OK) return Failed(ErrorCode::kUnavailable, "the connection ended without an answer");
  const std::string_view why = error_[0] != '\0' ? error_ : curl_easy_strerror(code);
  if (code == CURLE_OPERATION_TIMEDOUT) return Failed(ErrorCode::kDeadlineExceeded, why);
  if (code == CURLE_PEER_FAILED_VERIFICATION) {
    return Failed(ErrorCode::kUnavailable, fmt::format("tls: failed to verify certificate: {}", why));
  }
  return Failed(ErrorCode::kUnavailable, why);
}

void Exchange::Finish(Result<void> ended) {
  if (observer_ != nullptr && begun_ != SteadyTime{}) {
    if (!answered_) {
      observer_->OnAnswer(request_.method, setup_.host(), 0, std::chrono::steady_clock::now() - begun_);
    }
    observer_->OnEnd(request_.method, setup_.host(), request_.body.size(), received_);
  }
  if (handler_.on_done) handler_.on_done(std::move(ended));
}

}  // namespace berth::client
