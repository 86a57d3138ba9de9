// Amounts of resources as text, in the units scheduling computes with: thousandths of a core for cpu, bytes or counts
// otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::framework {

// For people: cores with up to three decimals ("1.3"), bytes with a binary suffix ("1.5Gi"), counts as they are.
std::string AmountText(std::string_view resource, int64_t amount);
// As Kubernetes writes it: "1300m", "1536Mi".
std::string QuantityText(std::string_view resource, int64_t amount);

}  // namespace berth::framework
