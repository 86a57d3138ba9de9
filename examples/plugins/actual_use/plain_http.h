// One GET request over plain HTTP, for endpoints on this machine or behind `kubectl proxy`. A plugin that has to reach
// further, or over TLS, is better off with an HTTP library.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "usage.h"

namespace example {

// The body of the answer, if its status is 200. `url` is "http://host:port/path". Breaks off when the time is over or
// when `stopping` says so; it is asked every tenth of a second.
berth::Result<std::string> GetPlainHttp(const std::string& url, std::chrono::steady_clock::duration timeout,
                                        const std::function<bool()>& stopping);

}  // namespace example
