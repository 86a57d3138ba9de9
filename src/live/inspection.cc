#include "live/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <future>
#include <thread>
#include <utility>

#include "base/printable.h"
#include "codec/json_writer.h"
#include "inspect/collect.h"
#include "inspect/console_page.h"
#include "inspect/render.h"
#include "serving/authentication.h"

namespace berth::live {

using serving::HttpRequest;
using serving::HttpResponse;

namespace {

constexpr size_t kMostPodsShown = 5000;
constexpr size_t kMostDecisionsShown = 2000;
constexpr size_t kMostNodesShown = 20'000;
constexpr size_t kMostAttemptsShown = 200;

// Pages are JSON unless text, and nothing else, is requested.
bool WantsText(const HttpRequest& request) {
  const std::string_view accept = request.Header("accept");
  return accept.find("text/plain") != std::string_view::npos && accept.find("json") == std::string_view::npos;
}

HttpResponse Answer(const HttpRequest& request, std::string body) {
  HttpResponse response{.body = std::move(body)};
  if (!WantsText(request)) response.content_type = "application/json";
  response.headers.emplace_back("x-content-type-options", "nosniff");
  return response;
}

HttpResponse Problem(const HttpRequest& request, int status, const std::string& message) {
  HttpResponse response;
  if (WantsText(request)) {
    response = Answer(request, base::Printable(message) + "\n");
  } else {
    std::string body;
    codec::JsonWriter json(body);
    json.StartObject();
    json.Key("apiVersion");
    json.String("berth.dev/v1");
    json.Key("kind");
    json.String("Problems");
    json.Key("errors");
    json.StartArray();
    json.String(message);
    json.EndArray();
    json.EndObject();
    response = Answer(request, body + "\n");
  }
  response.status = status;
  if (status == 503) response.headers.emplace_back("retry-after", "1");
  return response;
}

HttpResponse TooSlow(const HttpRequest& request) {
  return Problem(request, 504, "the scheduler was too busy to answer in time; try again");
}

template <class View>
HttpResponse Page(const HttpRequest& request, const std::optional<View>& view) {
  if (!view) return TooSlow(request);
  return Answer(request, WantsText(request) ? inspect::ToText(*view) : inspect::ToJson(*view));
}

std::string Value(const HttpRequest& request, std::string_view name) {
  const std::vector<std::string> values = request.QueryValues(name);
  return values.empty() ? "" : values.front();
}

// A number from 1 to `most`, or the default if there is none.
Result<size_t> Number(const HttpRequest& request, std::string_view name, size_t otherwise, size_t most) {
  const std::string text = Value(request, name);
  if (text.empty()) return otherwise;
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0 || number > most) {
    return Error::InvalidArgument(fmt::format("{}: expected a number from 1 to {}, found \"{}\"", name, most, text));
  }
  return number;
}

// A misspelt filter must not look like one that everything matches.
Result<void> CheckQuery(const HttpRequest& request, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : request.query) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Error::InvalidArgument(
          fmt::format("unknown parameter \"{}\"; known are: {}", name, fmt::join(known, ", ")));
    }
  }
  return {};
}

Result<std::optional<scheduler::Ending>> OutcomeOf(const std::string& text) {
  if (text.empty()) return std::optional<scheduler::Ending>();
  using enum scheduler::Ending;
  for (const scheduler::Ending ending : {kBound, kUnschedulable, kError, kStale}) {
    if (text == inspect::NameOf(ending)) return std::optional(ending);
  }
  return Error::InvalidArgument(
      fmt::format("outcome: expected Bound, Unschedulable, Error or Stale, found \"{}\"", text));
}

// The most attempts in one event; the page of decisions has the others.
constexpr size_t kMostEvents = 200;
// A named event, which scripts in a page can see, unlike a comment.
constexpr std::string_view kHeartbeat = "event: beat\ndata: {}\n\n";

// The console loads everything from its own origin; no other page may embed it.
HttpResponse Static(std::string content_type, std::string_view body) {
  HttpResponse response{.content_type = std::move(content_type), .body = std::string(body)};
  response.headers = {{"content-security-policy",
                       "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
                       "form-action 'none'; frame-ancestors 'none'"},
                      {"x-content-type-options", "nosniff"},
                      {"x-frame-options", "DENY"},
                      {"referrer-policy", "no-referrer"},
                      {"cross-origin-resource-policy", "same-origin"},
                      {"cross-origin-opener-policy", "same-origin"}};
  return response;
}

// Another site's page that makes a browser fetch ours, with the credentials that the browser has for us.
bool IsFromElsewhere(const HttpRequest& request, std::string_view scheme) {
  const std::string_view site = request.Header("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  const std::string_view origin = request.Header("origin");
  return !origin.empty() && origin != fmt::format("{}://{}", scheme, request.Header("host"));
}

constexpr std::string_view kIndex =
    "/debug/berth/console\n/debug/berth/events\n/debug/berth/queue\n/debug/berth/decisions\n/debug/berth/nodes\n/debug/"
    "berth/pods/NAMESPACE/NAME/explain\n";

}  // namespace

Inspection::Inspection(std::unique_ptr<Inspected> inspected, Options options)
    : inspected_(std::move(inspected)), options_(std::move(options)), feed_([this]() -> EventFeed::View {
        auto view = Ask([this] { return inspected_->Events(0, kMostEvents); });
        return view ? std::make_shared<const inspect::EventsView>(*std::move(view)) : nullptr;
      }) {}

template <class Look>
auto Inspection::Ask(Look look) -> std::optional<decltype(look())> {
  using T = decltype(look());
  const auto promise = std::make_shared<std::promise<T>>();
  const auto given_up = std::make_shared<std::atomic<bool>>(false);
  std::future<T> answer = promise->get_future();
  inspected_->Post([promise, given_up, look = std::move(look)]() mutable {
    if (!*given_up) promise->set_value(look());
  });
  if (answer.wait_for(options_.patience) == std::future_status::ready) return answer.get();
  *given_up = true;
  return std::nullopt;
}

HttpResponse Inspection::Serve(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse refused = Problem(request, 405, "these pages can only be read: expected GET, found " + request.method);
    refused.headers.emplace_back("allow", "GET, HEAD");
    return refused;
  }
  if (IsFromElsewhere(request, options_.scheme))
    return Problem(request, 403, "a page of another origin may not read this");
  const std::string_view rest = std::string_view(request.path).substr(serving::kDebugPrefix.size());
  if (rest.empty()) return {.body = std::string(kIndex)};
  if (rest == "console") return Static("text/html; charset=utf-8", inspect::kConsoleHtml);
  if (rest == "console.css") return Static("text/css; charset=utf-8", inspect::kConsoleCss);
  if (rest == "console.js") return Static("text/javascript; charset=utf-8", inspect::kConsoleJs);
  const bool is_pod = rest.starts_with("pods/");
  if (!is_pod && rest != "queue" && rest != "decisions" && rest != "nodes" && rest != "events") {
    return Problem(request, 404, "no such page: " + request.path);
  }
  if (const std::string silence = Silence(); !silence.empty()) return Problem(request, 503, silence);
  if (is_pod) return ServePod(request, rest.substr(5));
  if (rest == "queue") return ServeQueue(request);
  if (rest == "events") return ServeEvents(request);
  return rest == "nodes" ? ServeNodes(request) : ServeDecisions(request);
}

std::string Inspection::Silence() const {
  if (options_.is_leader && !options_.is_leader()) {
    return "this scheduler is not the leader: whoever holds the lease knows";
  }
  return inspected_->NotReady();
}

HttpResponse Inspection::ServeQueue(const HttpRequest& request) {
  if (const auto known = CheckQuery(request, {"limit", "namespace"}); !known)
    return Problem(request, 400, known.error().message);
  const Result<size_t> limit = Number(request, "limit", 100, kMostPodsShown);
  if (!limit) return Problem(request, 400, limit.error().message);
  return Page(request, Ask([this, limit = *limit, name_space = Value(request, "namespace")] {
                return inspected_->Queue(limit, name_space);
              }));
}

HttpResponse Inspection::ServeNodes(const HttpRequest& request) {
  if (const auto known = CheckQuery(request, {"limit", "node"}); !known)
    return Problem(request, 400, known.error().message);
  const Result<size_t> limit = Number(request, "limit", 500, kMostNodesShown);
  if (!limit) return Problem(request, 400, limit.error().message);
  const std::string name = Value(request, "node");
  const auto view = Ask([this, limit = *limit, name] {
    return inspect::CollectNodes(inspected_->driver(), inspected_->Now(), limit, name);
  });
  if (view && !name.empty() && view->nodes.empty()) {
    return Problem(request, 404, fmt::format("the scheduler knows no node \"{}\"", name));
  }
  return Page(request, view);
}

HttpResponse Inspection::ServeDecisions(const HttpRequest& request) {
  if (const auto known = CheckQuery(request, {"limit", "namespace", "pod", "node", "outcome", "before"}); !known)
    return Problem(request, 400, known.error().message);
  if (inspected_->journal() == nullptr) return Problem(request, 404, "no attempts are kept: --explain-memory is 0");
  scheduler::AttemptJournal::Filter filter;
  const Result<size_t> limit = Number(request, "limit", filter.limit, kMostDecisionsShown);
  if (!limit) return Problem(request, 400, limit.error().message);
  const Result<size_t> before = Number(request, "before", 0, SIZE_MAX);
  if (!before) return Problem(request, 400, before.error().message);
  const auto outcome = OutcomeOf(Value(request, "outcome"));
  if (!outcome) return Problem(request, 400, outcome.error().message);
  filter.limit = *limit;
  filter.before = *before;
  filter.ending = *outcome;
  filter.name_space = Value(request, "namespace");
  filter.name = Value(request, "pod");
  filter.node = Value(request, "node");
  return Page(request, Ask([this, filter] {
                return inspect::CollectDecisions(inspected_->journal(), inspected_->Now(), filter);
              }));
}

HttpResponse Inspection::ServeEvents(const HttpRequest& request) {
  uint64_t after = 0;
  const std::string_view last = request.Header("last-event-id");
  std::from_chars(last.data(), last.data() + last.size(), after);
  HttpResponse response = Static("text/event-stream", "");
  response.stream = std::make_shared<serving::ResponseStream>();
  response.stream->pause = EventFeed::kShortestPause;
  response.stream->heartbeat = kHeartbeat;
  response.stream->next = [this, reader = EventReader(feed_, after)]() mutable -> std::optional<std::string> {
    if (!Silence().empty()) return std::nullopt;
    return reader.Next();
  };
  return response;
}

HttpResponse Inspection::ServePod(const HttpRequest& request, std::string_view rest) {
  const size_t slash = rest.find('/');
  const size_t end = rest.find('/', slash == std::string_view::npos ? slash : slash + 1);
  if (end == std::string_view::npos || rest.substr(end) != "/explain" || slash == 0 || end == slash + 1) {
    return Problem(request, 404, "expected /debug/berth/pods/NAMESPACE/NAME/explain, found " + request.path);
  }
  if (const auto known = CheckQuery(request, {"nodes", "attempts"}); !known)
    return Problem(request, 400, known.error().message);
  const Result<size_t> nodes = Number(request, "nodes", inspect::kDefaultNodes, kMostNodesShown);
  if (!nodes) return Problem(request, 400, nodes.error().message);
  inspect::PodQuestion question;
  question.name_space = rest.substr(0, slash);
  question.name = rest.substr(slash + 1, end - slash - 1);
  const Result<size_t> attempts = Number(request, "attempts", question.attempts, kMostAttemptsShown);
  if (!attempts) return Problem(request, 400, attempts.error().message);
  question.attempts = *attempts;

  // One is being explained, one may wait for its turn.
  struct Admission {
    std::atomic<int>& count;
    const bool granted = count.fetch_add(1) < 2;
    ~Admission() { --count; }
  } admission{explaining_};
  const HttpResponse busy = Problem(request, 503, "other explanations are being made; try again");
  if (!admission.granted) return busy;
  struct Turn {
    std::binary_semaphore& turn;
    const bool has;
    ~Turn() {
      if (has) turn.release();
    }
  };
  const Turn turn{explain_turn_, explain_turn_.try_acquire_for(options_.patience)};
  if (!turn.has) return busy;
  std::this_thread::sleep_until(next_explanation_);
  const auto begin = std::chrono::steady_clock::now();
  const auto view = Ask([this, question]() mutable {
    const auto deadline = std::chrono::steady_clock::now() + options_.explain_budget;
    question.out_of_time = [deadline] { return std::chrono::steady_clock::now() > deadline; };
    return inspected_->Pod(question);
  });
  const auto took = std::chrono::steady_clock::now() - begin;
  next_explanation_ = begin + took + 4 * took;
  if (!view) return TooSlow(request);
  if (!*view) {
    return Problem(request, 404,
                   fmt::format("the scheduler knows no pod {}/{}: it does not exist, has run to its end, or waits for "
                               "another scheduler",
                               question.name_space, question.name));
  }
  HttpResponse page = Answer(request, WantsText(request) ? inspect::ToText(**view) : inspect::ToJson(**view, *nodes));
  // For clients that do not want to parse the body.
  page.headers.emplace_back("x-berth-place", inspect::NameOf((*view)->place));
  return page;
}

}  // namespace berth::live
