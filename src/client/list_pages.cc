#include "client/list_pages.h"

#include <memory>
#include <string_view>
#include <utility>

#include "client/api_path.h"
#include "codec/json.h"

namespace berth::client {
namespace {

// Servers give up on a list after a minute; a long one may take longer to arrive.
constexpr base::Duration kListTimeout = std::chrono::minutes(10);
constexpr base::Duration kListIdleTimeout = std::chrono::seconds(90);

struct Paging {
  ApiClient& client;
  base::Loop& loop;
  ListRequest request;
  std::function<void(ListOutcome)> done;
  std::string continue_token{};
  bool whole = false;  // no more pages
  ListOutcome outcome{};
};

using PagingPtr = std::shared_ptr<Paging>;

Result<api::DecodedObjects> DecodeCustomPage(http::Response& response, const CustomSource& source) {
  const Result<codec::Document> document = codec::ParseJson(std::move(response.body), "the server's list");
  if (!document) return document.error();
  api::DecodedObjects decoded;
  std::vector<codec::Diagnostic> problems;
  api::DecodeCustomObjects(document->root(), {.keep_json = source.keep_json}, decoded, problems);
  if (Result<void> sound = codec::ToResult("the server's list", problems); !sound) return sound.error();
  return decoded;
}

void NextPage(const PagingPtr& paging);

void Fail(const PagingPtr& paging, ApiAnswer answer) {
  paging->outcome.answer = std::move(answer);
  paging->done(std::move(paging->outcome));
}

void TakePage(const PagingPtr& paging, ApiAnswer answer) {
  ListOutcome& outcome = paging->outcome;
  if (!answer.ok()) {
    if (!answer.status.IsExpired() || paging->continue_token.empty()) return Fail(paging, std::move(answer));
    paging->continue_token.clear();
    paging->whole = true;
    outcome.objects.clear();
    outcome.resource_version.clear();
    return NextPage(paging);
  }
  Result<api::DecodedObjects> page = DecodeListPage(answer.response, paging->request);
  if (!page) {
    ApiAnswer broken;
    broken.error = page.error().code;
    broken.status.message = page.error().message;
    return Fail(paging, std::move(broken));
  }
  outcome.objects.reserve(outcome.objects.size() + page->objects.size());
  for (api::LocatedObject& found : page->objects) outcome.objects.push_back(std::move(found.object));
  // All pages have the version of the first.
  if (outcome.resource_version.empty()) outcome.resource_version = page->resource_version;
  paging->continue_token = page->continue_token;
  if (!paging->continue_token.empty()) {
    outcome.paged = true;
    return NextPage(paging);
  }
  answer.response.body.clear();
  outcome.answer = std::move(answer);
  paging->done(std::move(outcome));
}

void NextPage(const PagingPtr& paging) {
  ListRequest request = paging->request;
  if (paging->whole) request.limit = 0;
  paging->client.Read(MakeListRequest(paging->client, request, paging->continue_token), [paging](ApiAnswer answer) {
    // A page may be megabytes: it is decoded on the loop, not on the transport's thread.
    paging->loop.Post([paging, answer = std::move(answer)]() mutable { TakePage(paging, std::move(answer)); });
  });
}

}  // namespace

http::Request MakeListRequest(const ApiClient& client, const ListRequest& request, const std::string& continue_token) {
  http::Request page;
  page.path = request.custom ? request.custom->CollectionPath() : CollectionPath(request.kind);
  page.path += Query({
      {"labelSelector", request.label_selector},
      {"fieldSelector", request.field_selector},
      {"limit", request.limit > 0 ? std::to_string(request.limit) : std::string()},
      {"continue", continue_token},
      // Not allowed together with a token.
      {"resourceVersion", continue_token.empty() ? request.resource_version : std::string()},
  });
  page.headers = request.custom ? AcceptCustomObjects() : client.AcceptObjects();
  page.timeout = kListTimeout;
  page.idle_timeout = kListIdleTimeout;
  return page;
}

Result<api::DecodedObjects> DecodeListPage(http::Response& response, const ListRequest& request) {
  if (request.custom) return DecodeCustomPage(response, *request.custom);
  if (response.head.Find("content-type").starts_with(kProtobufType)) return api::DecodeProtobufObjects(response.body);
  const Result<codec::Document> document = codec::ParseJson(std::move(response.body), "the server's list");
  if (!document) return document.error();
  return api::DecodeObjects(*document, {});
}

void ListPages(ApiClient& client, base::Loop& loop, ListRequest request, std::function<void(ListOutcome)> done) {
  NextPage(std::make_shared<Paging>(Paging{client, loop, std::move(request), std::move(done)}));
}

}  // namespace berth::client
