// From the extenders of a configuration to extenders that can be called.
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

// Where an extender is and how to prove who is asking. The authorities are read
// now, certificates given as files when they are needed, and again from time to
// time. `clock` must outlive what is returned.
Result<http::RestConfig> ExtenderRestConfig(const config::Extender& extender, const std::string& user_agent,
                                            const base::Clock& clock);

// One for each, in the same order, with connections of its own. Nothing is
// connected yet.
Result<std::vector<std::unique_ptr<HttpExtender>>> MakeHttpExtenders(std::span<const config::Extender> extenders,
                                                                     const std::string& user_agent,
                                                                     const base::Clock& clock);

}  // namespace berth::live
