// Lists a kind page by page, as client-go's pager does.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "base/loop.h"
#include "client/api_client.h"
#include "client/object_source.h"

namespace berth::client {

struct ListRequest {
  api::Kind kind;
  std::string label_selector{};
  std::string field_selector{};
  // "": the latest; "0": whatever the server has cached; otherwise not older than this.
  std::string resource_version{};
  int limit = 500;                       // of objects on a page; 0: all on one
  std::optional<CustomSource> custom{};  // with kCustomObject: of this resource
};

struct ListOutcome {
  ApiAnswer answer;  // of the last page
  std::vector<api::Object> objects{};
  std::string resource_version{};  // where to start a watch
  bool paged = false;              // there was more than one page

  bool ok() const { return answer.ok(); }
};

// `done` is called on the loop, where pages are decoded too. If a continue token expires between two pages, everything
// is listed again on one page.
void ListPages(ApiClient& client, base::Loop& loop, ListRequest request, std::function<void(ListOutcome)> done);

// For others that list: the request of a page, the first one with an empty token, and what is in its answer.
http::Request MakeListRequest(const ApiClient& client, const ListRequest& request, const std::string& continue_token);
Result<api::DecodedObjects> DecodeListPage(http::Response& response, const ListRequest& request);

}  // namespace berth::client
