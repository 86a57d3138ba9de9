// Refusals as Kubernetes words them: a Status object in JSON.
#pragma once

#include <string_view>

#include "serving/http.h"
#include "serving/reviewer.h"

namespace berth::serving {

HttpResponse Unauthorized(const HttpRequest& request);
HttpResponse Forbidden(const HttpRequest& request, const AccessQuestion& question, std::string_view reason);
// No form of the page is one that the client accepts.
HttpResponse NotAcceptable(const HttpRequest& request, std::string_view accepted);

}  // namespace berth::serving
