#include "http/curl_wire.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"

namespace berth::http {
namespace {

// libcurl's own limit, used when the server allows more, is 100.
constexpr long kStreamsPerConnection = 1000;
// When to look for input that libcurl 7.88 has read but forgotten, counted from when something was last heard: it may
// leave frames of several HTTP/2 streams in its buffer when one of them ends, and then waits for a socket that has
// nothing more to say. Once all of these have passed without news there is nothing to find.
constexpr std::chrono::milliseconds kNudges[] = {std::chrono::milliseconds(2), std::chrono::milliseconds(20),
                                                 std::chrono::milliseconds(200)};
// Handles keep their memory between requests, up to so many.
constexpr size_t kSpareHandles = 64;

// libcurl only borrows it: the credentials outlive the handle's use.
curl_blob Borrow(const std::string& bytes) {
  return {.data = const_cast<char*>(bytes.data()), .len = bytes.size(), .flags = CURL_BLOB_NOCOPY};
}

void ApplyCertificate(CURL* easy, const Credentials& credentials) {
  if (credentials.client_certificate.empty()) return;
  curl_blob certificate = Borrow(credentials.client_certificate), key = Borrow(credentials.client_key);
  Curl().easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &certificate);
  Curl().easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
}

void ApplyMethod(CURL* easy, const Request& request) {
  if (!request.body.empty() || request.method == "POST") {
    Curl().easy_setopt(easy, CURLOPT_POST, 1L);
    Curl().easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    Curl().easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  } else if (request.method == "HEAD") {
    Curl().easy_setopt(easy, CURLOPT_NOBODY, 1L);
  } else {
    Curl().easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  }
  Curl().easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

curl_slist* HeaderLines(const Headers& headers, const CurlSetup& setup) {
  curl_slist* lines = nullptr;
  const auto add = [&](const std::string& line) { lines = Curl().slist_append(lines, line.c_str()); };
  // To libcurl "Name:" says that there shall be no such header.
  for (const auto& [name, value] : headers) add(value.empty() ? name + ";" : name + ": " + value);
  if (setup.renamed()) add("Host: " + setup.server().host());
  // What libcurl would add of its own accord.
  for (const std::string_view unwanted : {"Expect", "Content-Type", "Accept"}) {
    const auto is_unwanted = [&](const auto& header) { return base::EqualIgnoringCase(header.first, unwanted); };
    if (std::none_of(headers.begin(), headers.end(), is_unwanted)) add(std::string(unwanted) + ":");
  }
  return lines;
}

Error ErrorOf(CURLcode code, const char* detail) {
  const std::string why = *detail != '\0' ? detail : Curl().easy_strerror(code);
  if (code == CURLE_OPERATION_TIMEDOUT) return {ErrorCode::kDeadlineExceeded, why};
  if (code == CURLE_PEER_FAILED_VERIFICATION) {
    return Error::Unavailable(fmt::format("tls: failed to verify certificate: {}", why));
  }
  return Error::Unavailable(why);
}

CURLM* MakeMulti() {
  CURLM* multi = Curl().multi_init();
  Curl().multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  Curl().multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);
  return multi;
}

}  // namespace

// An exchange on its way, and what libcurl says about it.
struct CurlWire::Handle final : WireState {
  Handle(Exchange& carried, CurlConnections& over, CURL* handle) : exchange(carried), connections(over), easy(handle) {}
  ~Handle() override { Curl().slist_free_all(headers); }

  static int OnConnection(void* self, char*, char*, int, int local_port) {
    auto& handle = *static_cast<Handle*>(self);
    handle.port = local_port;
    handle.connections.Joined(local_port, std::chrono::steady_clock::now());
    return CURL_PREREQFUNC_OK;
  }

  static size_t OnHeader(char* data, size_t size, size_t count, void* self) {
    static_cast<Handle*>(self)->HeaderLine({data, size * count});
    return size * count;
  }

  static size_t OnBody(char* data, size_t size, size_t count, void* self) {
    auto& handle = *static_cast<Handle*>(self);
    handle.connections.Heard(handle.port, std::chrono::steady_clock::now());
    handle.exchange.TakeData({data, size * count});
    return size * count;
  }

  void HeaderLine(std::string_view line) {
    if (exchange.answered()) return;  // trailers
    if (line.starts_with("HTTP/")) return head.clear();
    line = base::Trimmed(line);
    if (line.empty()) return EndHead();
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    name = base::LowerCase(name);
    head.emplace_back(std::move(name), base::Trimmed(line.substr(colon + 1)));
  }

  void EndHead() {
    long status = 0;
    Curl().easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200) return;  // another head follows
    connections.Heard(port, std::chrono::steady_clock::now());
    exchange.TakeHead(static_cast<int>(status), std::move(head));
  }

  Exchange& exchange;
  CurlConnections& connections;
  CURL* easy;
  int port = 0;  // of its connection, on this side; 0: none yet
  curl_slist* headers = nullptr;
  CredentialsPtr credentials{};
  Headers head{};
  char error[CURL_ERROR_SIZE] = {};
};

CurlWire::CurlWire(const Server& server, const TransportOptions& options, WireOwner& owner)
    : owner_(owner),
      setup_(server, options),
      connections_(options.silence),
      multi_(MakeMulti()),
      nudges_(std::size(kNudges)) {}

CurlWire::~CurlWire() {
  for (CURL* easy : spare_) Curl().easy_cleanup(easy);
  Curl().multi_cleanup(multi_);
}

CURL* CurlWire::TakeHandle() {
  if (spare_.empty()) return Curl().easy_init();
  CURL* easy = spare_.back();
  spare_.pop_back();
  return easy;
}

void CurlWire::Begin(Exchange& exchange, const Headers& headers, const CredentialsPtr& credentials) {
  CURL* easy = TakeHandle();
  auto made = std::make_unique<Handle>(exchange, connections_, easy);
  Handle& handle = *made;
  handle.credentials = credentials;
  handle.headers = HeaderLines(headers, setup_);
  setup_.Apply(easy);
  connections_.Attach(easy);
  ApplyCertificate(easy, *credentials);
  ApplyMethod(easy, exchange.request());
  Curl().easy_setopt(easy, CURLOPT_URL, (setup_.base_url() + exchange.request().path).c_str());
  Curl().easy_setopt(easy, CURLOPT_HTTPHEADER, handle.headers);
  Curl().easy_setopt(easy, CURLOPT_PREREQFUNCTION, &Handle::OnConnection);
  Curl().easy_setopt(easy, CURLOPT_PREREQDATA, &handle);
  Curl().easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Handle::OnHeader);
  Curl().easy_setopt(easy, CURLOPT_HEADERDATA, &handle);
  Curl().easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Handle::OnBody);
  Curl().easy_setopt(easy, CURLOPT_WRITEDATA, &handle);
  Curl().easy_setopt(easy, CURLOPT_ERRORBUFFER, handle.error);
  Curl().easy_setopt(easy, CURLOPT_PRIVATE, &handle);
  const CURLMcode added = Curl().multi_add_handle(multi_, easy);
  CHECK_WHY(added == CURLM_OK, Curl().multi_strerror(added));
  on_wire_.push_back(&handle);
  exchange.wire_state = std::move(made);
}

void CurlWire::Release(Handle& handle) {
  CURL* easy = handle.easy;
  Curl().multi_remove_handle(multi_, easy);
  std::erase(on_wire_, &handle);
  handle.exchange.wire_state = nullptr;
  if (spare_.size() >= kSpareHandles) return Curl().easy_cleanup(easy);
  Curl().easy_reset(easy);
  spare_.push_back(easy);
}

void CurlWire::Drop(Exchange& exchange) { Release(static_cast<Handle&>(*exchange.wire_state)); }

void CurlWire::Suspect(Exchange& exchange, SteadyTime now) {
  connections_.Suspect(static_cast<Handle&>(*exchange.wire_state).port, now);
}

void CurlWire::Perform() {
  int running = 0;
  Curl().multi_perform(multi_, &running);
  ReapFinished();
  Nudge();
}

void CurlWire::Wait(SteadyTime until, int wake) {
  if (nudges_ < std::size(kNudges) && !on_wire_.empty()) until = std::min(until, nudge_from_ + kNudges[nudges_]);
  // Rounded up: waking a moment too early would only mean to wait again.
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  curl_waitfd woken{.fd = wake, .events = CURL_WAIT_POLLIN, .revents = 0};
  Curl().multi_poll(multi_, &woken, 1, static_cast<int>(std::max<int64_t>(0, wait.count())), nullptr);
}

void CurlWire::ReapFinished() {
  int left = 0;
  while (const CURLMsg* message = Curl().multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;  // before the handle goes, and the message with it
    char* private_data = nullptr;
    Curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private_data);
    auto& handle = *reinterpret_cast<Handle*>(private_data);
    Exchange& exchange = handle.exchange;
    Result<void> ended;
    if (code != CURLE_OK) ended = ErrorOf(code, handle.error);
    Release(handle);
    // libcurl 7.88 takes the end of an HTTP/2 connection for the end of what was on it: the owner looks whether there
    // was an answer.
    owner_.OnEnded(exchange, std::move(ended));
  }
}

void CurlWire::Nudge() {
  if (!setup_.server().config().is_tls()) return;
  const SteadyTime now = std::chrono::steady_clock::now();
  if (seen_activity_ != connections_.activity()) {
    seen_activity_ = connections_.activity();
    nudge_from_ = now;
    nudges_ = 0;
  }
  if (nudges_ == std::size(kNudges) || now < nudge_from_ + kNudges[nudges_]) return;
  ++nudges_;
  for (const Handle* handle : on_wire_) {
    // Going on after a pause makes libcurl look into its buffers, whatever the socket says.
    Curl().easy_pause(handle->easy, CURLPAUSE_RECV);
    Curl().easy_pause(handle->easy, CURLPAUSE_CONT);
  }
  int running = 0;
  Curl().multi_perform(multi_, &running);
  ReapFinished();
}

}  // namespace berth::http
