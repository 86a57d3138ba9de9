#include "cel/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "cel/go_text.h"

namespace berth::cel {
namespace {

using base::HexDigit;

struct ParsedAddress {
  IpAddress address;
  bool has_zone = false;
};

Error AddressError(std::string_view in, std::string_view message, std::string_view at = {}) {
  if (at.empty()) return Error::InvalidArgument(fmt::format("ParseAddr({}): {}", Quote(in), message));
  return Error::InvalidArgument(fmt::format("ParseAddr({}): {} (at {})", Quote(in), message, Quote(at)));
}

Result<void> ParseV4Fields(std::string_view in, std::string_view text, uint8_t* fields) {
  int value = 0, position = 0, digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      if (digits == 1 && value == 0) return AddressError(in, "IPv4 field has octet with leading zero");
      value = value * 10 + (c - '0');
      ++digits;
      if (value > 255) return AddressError(in, "IPv4 field has value >255");
    } else if (c == '.') {
      if (i == 0 || i == text.size() - 1 || text[i - 1] == '.') {
        return AddressError(in, "IPv4 field must have at least one digit", text.substr(i));
      }
      if (position == 3) return AddressError(in, "IPv4 address too long");
      fields[position++] = static_cast<uint8_t>(value);
      value = 0;
      digits = 0;
    } else {
      return AddressError(in, "unexpected character", text.substr(i));
    }
  }
  if (position < 3) return AddressError(in, "IPv4 address too short");
  fields[3] = static_cast<uint8_t>(value);
  return {};
}

Result<ParsedAddress> ParseV6(std::string_view in) {
  ParsedAddress parsed;
  parsed.address.v6 = true;
  std::string_view text = in;
  if (const size_t percent = text.find('%'); percent != std::string_view::npos) {
    if (percent + 1 == text.size()) return AddressError(in, "zone must be a non-empty string");
    parsed.has_zone = true;
    text = text.substr(0, percent);
  }
  auto& ip = parsed.address.bytes;
  int ellipsis = -1;
  if (text.starts_with("::")) {
    ellipsis = 0;
    text.remove_prefix(2);
    if (text.empty()) return parsed;
  }
  int i = 0;
  while (i < 16) {
    size_t digits = 0;
    uint32_t group = 0;
    for (; digits < text.size() && HexDigit(text[digits]) >= 0; ++digits) {
      group = (group << 4) + static_cast<uint32_t>(HexDigit(text[digits]));
      if (digits > 3) return AddressError(in, "each group must have 4 or less digits", text);
      if (group > 0xFFFF) return AddressError(in, "IPv6 field has value >=2^16", text);
    }
    if (digits == 0) return AddressError(in, "each colon-separated field must have at least one digit", text);
    if (digits < text.size() && text[digits] == '.') {
      if (ellipsis < 0 && i != 12) {
        return AddressError(in, "embedded IPv4 address must replace the final 2 fields of the address", text);
      }
      if (i + 4 > 16) {
        return AddressError(in, "too many hex fields to fit an embedded IPv4 at the end of the address", text);
      }
      if (Result<void> good = ParseV4Fields(in, text, &ip[i]); !good) return good.error();
      text = {};
      i += 4;
      break;
    }
    ip[i] = static_cast<uint8_t>(group >> 8);
    ip[i + 1] = static_cast<uint8_t>(group);
    i += 2;
    text.remove_prefix(digits);
    if (text.empty()) break;
    if (text[0] != ':') return AddressError(in, "unexpected character, want colon", text);
    if (text.size() == 1) return AddressError(in, "colon must be followed by more characters", text);
    text.remove_prefix(1);
    if (text[0] == ':') {
      if (ellipsis >= 0) return AddressError(in, "multiple :: in address", text);
      ellipsis = i;
      text.remove_prefix(1);
      if (text.empty()) break;
    }
  }
  if (!text.empty()) return AddressError(in, "trailing garbage after address", text);
  if (i < 16) {
    if (ellipsis < 0) return AddressError(in, "address string too short");
    const int zeros = 16 - i;
    for (int j = i - 1; j >= ellipsis; --j) ip[j + zeros] = ip[j];
    for (int j = ellipsis; j < ellipsis + zeros; ++j) ip[j] = 0;
  } else if (ellipsis >= 0) {
    return AddressError(in, "the :: must expand to at least one field of zeros");
  }
  return parsed;
}

Result<ParsedAddress> ParseAddress(std::string_view text) {
  for (const char c : text) {
    if (c == '.') {
      ParsedAddress parsed;
      if (Result<void> good = ParseV4Fields(text, text, parsed.address.bytes.data()); !good) return good.error();
      return parsed;
    }
    if (c == ':') return ParseV6(text);
    if (c == '%') return AddressError(text, "missing IPv6 address");
  }
  return AddressError(text, "unable to parse IP");
}

bool IsMapped(const IpAddress& ip) {
  return ip.v6 && std::all_of(ip.bytes.begin(), ip.bytes.begin() + 10, [](uint8_t b) { return b == 0; }) &&
         ip.bytes[10] == 0xFF && ip.bytes[11] == 0xFF;
}

std::string V6ToString(const IpAddress& ip) {
  uint16_t groups[8];
  for (int i = 0; i < 8; ++i) groups[i] = static_cast<uint16_t>(ip.bytes[2 * i] << 8 | ip.bytes[2 * i + 1]);
  int zero_start = 255, zero_end = 255;
  for (int i = 0; i < 8; ++i) {
    int j = i;
    while (j < 8 && groups[j] == 0) ++j;
    if (j - i >= 2 && j - i > zero_end - zero_start) {
      zero_start = i;
      zero_end = j;
    }
  }
  std::string text;
  for (int i = 0; i < 8; ++i) {
    if (i == zero_start) {
      text += "::";
      i = zero_end;
      if (i >= 8) break;
    } else if (i > 0) {
      text += ':';
    }
    text += fmt::format("{:x}", groups[i]);
  }
  return text;
}

}  // namespace

std::string IpAddress::ToString() const {
  if (v6) return V6ToString(*this);
  return fmt::format("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]);
}

bool IpAddress::IsUnspecified() const { return *this == IpAddress{{}, v6}; }

bool IpAddress::IsLoopback() const {
  if (!v6) return bytes[0] == 127;
  IpAddress one{{}, true};
  one.bytes[15] = 1;
  return *this == one;
}

bool IpAddress::IsMulticast() const { return v6 ? bytes[0] == 0xFF : (bytes[0] & 0xF0) == 0xE0; }

bool IpAddress::IsLinkLocalMulticast() const {
  if (!v6) return bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0;
  return bytes[0] == 0xFF && (bytes[1] & 0x0F) == 0x02;
}

bool IpAddress::IsLinkLocalUnicast() const {
  if (!v6) return bytes[0] == 169 && bytes[1] == 254;
  return bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80;
}

bool IpAddress::IsGlobalUnicast() const {
  if (!v6 && bytes[0] == 255 && bytes[1] == 255 && bytes[2] == 255 && bytes[3] == 255) return false;
  return !IsUnspecified() && !IsLoopback() && !IsMulticast() && !IsLinkLocalUnicast();
}

std::string Cidr::ToString() const { return fmt::format("{}/{}", address.ToString(), bits); }

Cidr Cidr::Masked() const {
  Cidr masked = *this;
  const int width = address.v6 ? 16 : 4;
  for (int i = 0; i < width; ++i) {
    const int kept = std::clamp(bits - 8 * i, 0, 8);
    masked.address.bytes[i] &= static_cast<uint8_t>(0xFF00 >> kept);
  }
  return masked;
}

bool Cidr::Contains(const IpAddress& other) const {
  return address.v6 == other.v6 && Cidr{other, bits}.Masked() == Masked();
}

bool Cidr::Overlaps(const Cidr& other) const {
  if (address.v6 != other.address.v6) return false;
  const int shorter = std::min(bits, other.bits);
  return Cidr{address, shorter}.Masked() == Cidr{other.address, shorter}.Masked();
}

Result<IpAddress> ParseIp(std::string_view text) {
  Result<ParsedAddress> parsed = ParseAddress(text);
  if (!parsed) {
    return Error::InvalidArgument(fmt::format("IP Address {} parse error during conversion from string: {}",
                                              Quote(text), parsed.error().message));
  }
  if (parsed->has_zone) {
    return Error::InvalidArgument(fmt::format("IP address {} with zone value is not allowed", Quote(text)));
  }
  if (IsMapped(parsed->address)) {
    return Error::InvalidArgument(fmt::format("IPv4-mapped IPv6 address {} is not allowed", Quote(text)));
  }
  return parsed->address;
}

Result<Cidr> ParseCidr(std::string_view text) {
  const auto fail = [&](std::string_view message) {
    return Error::InvalidArgument(fmt::format(
        "network address parse error during conversion from string: netip.ParsePrefix({}): {}", Quote(text), message));
  };
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return fail("no '/'");
  Result<ParsedAddress> parsed = ParseAddress(text.substr(0, slash));
  if (!parsed) return fail(parsed.error().message);
  if (parsed->has_zone) return fail("IPv6 zones cannot be present in a prefix");
  const std::string_view bits = text.substr(slash + 1);
  int64_t length = 0;
  if ((bits.size() > 1 && (bits[0] < '1' || bits[0] > '9')) || !ParseGoInt(bits, &length)) {
    return fail("bad bits after slash: " + Quote(bits));
  }
  if (length < 0 || length > (parsed->address.v6 ? 128 : 32)) return fail("prefix length out of range");
  if (IsMapped(parsed->address)) {
    return Error::InvalidArgument(fmt::format("IPv4-mapped IPv6 address {} is not allowed", Quote(text)));
  }
  return Cidr{parsed->address, static_cast<int>(length)};
}

Result<bool> ParseIpLiteralIsV6(std::string_view text) {
  Result<ParsedAddress> parsed = ParseAddress(text);
  if (!parsed) return parsed.error();
  return parsed->address.v6;
}

}  // namespace berth::cel
