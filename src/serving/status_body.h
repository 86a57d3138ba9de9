// Errors as Kubernetes reports them: a Status object in JSON.
#pragma once

#include <string_view>

#include "serving/http.h"
#include "serving/reviewer.h"

namespace berth::serving {

HttpResponse Unauthorized(const HttpRequest& request);
HttpResponse Forbidden(const HttpRequest& request, const AccessQuestion& question, std::string_view reason);
// The client accepts none of the page's formats.
HttpResponse NotAcceptable(const HttpRequest& request, std::string_view accepted);

}  // namespace berth::serving
