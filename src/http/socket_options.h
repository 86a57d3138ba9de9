// How the kernel watches over a connection to an API server.
#pragma once

#include <chrono>

namespace berth::http {

// Probes on an idle connection; when they stay without an answer for kKernelTimeout, the kernel closes it.
inline constexpr int kKeepAliveIdleSeconds = 15;
inline constexpr int kKeepAliveIntervalSeconds = 5;
inline constexpr std::chrono::milliseconds kKernelTimeout = std::chrono::seconds(30);

}  // namespace berth::http
