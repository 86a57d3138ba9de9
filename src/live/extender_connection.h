// Makes the extenders of a configuration callable.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/types.h"
#include "http/rest_config.h"
#include "live/http_extender.h"

namespace berth::live {

// The address of an extender and the credentials for it. The authorities are read now; certificates given as files are
// read when they are needed, and again from time to time. `clock` must outlive the result.
Result<http::RestConfig> ExtenderRestConfig(const config::Extender& extender, const std::string& user_agent,
                                            const base::Clock& clock);

// One for each, in the same order, with its own connections. Does not connect yet.
Result<std::vector<std::unique_ptr<HttpExtender>>> MakeHttpExtenders(std::span<const config::Extender> extenders,
                                                                     const std::string& user_agent,
                                                                     const base::Clock& clock);

}  // namespace berth::live
