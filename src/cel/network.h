// IP addresses and prefixes as in CEL's net.IP and net.CIDR, with the messages of Go's netip.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::cel {

struct IpAddress {
  std::array<uint8_t, 16> bytes = {};  // the first four of an IPv4 address
  bool v6 = false;

  std::string ToString() const;
  bool IsUnspecified() const;
  bool IsLoopback() const;
  bool IsMulticast() const;
  bool IsLinkLocalMulticast() const;
  bool IsLinkLocalUnicast() const;
  bool IsGlobalUnicast() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

struct Cidr {
  IpAddress address;
  int bits = 0;

  std::string ToString() const;
  Cidr Masked() const;
  bool Contains(const IpAddress& other) const;
  bool Overlaps(const Cidr& other) const;
  friend bool operator==(const Cidr&, const Cidr&) = default;
};

// Zones and IPv4-mapped IPv6 addresses are rejected, as in Kubernetes.
Result<IpAddress> ParseIp(std::string_view text);
Result<Cidr> ParseCidr(std::string_view text);
// What a URL takes between brackets: "" or Go's message.
Result<bool> ParseIpLiteralIsV6(std::string_view text);

}  // namespace berth::cel
