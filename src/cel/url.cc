#include "cel/url.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "cel/go_text.h"
#include "cel/network.h"

namespace berth::cel {
namespace {

using base::HexDigit;

enum class Mode { kPath, kUserPassword, kHost, kZone, kQueryComponent, kFragment };

bool Among(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

bool ShouldEscape(char c, Mode mode) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || Among(c, "-_.~")) return false;
  switch (mode) {
    case Mode::kPath:
      return !Among(c, "$&+,/:;=@");
    case Mode::kUserPassword:
      return !Among(c, "$&+,;=");
    case Mode::kHost:
    case Mode::kZone:
      return !Among(c, "!$&'()*+,;=:[]<>\"");
    case Mode::kQueryComponent:
      return true;
    case Mode::kFragment:
      return !Among(c, "$&+,/:;=?@!()*");
  }
  return true;
}

Result<std::string> Unescape(std::string_view text, Mode mode) {
  const auto bad_escape = [](std::string_view at) {
    return Error::InvalidArgument("invalid URL escape " + Quote(at.substr(0, 3)));
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size() || HexDigit(text[i + 1]) < 0 || HexDigit(text[i + 2]) < 0) {
        return bad_escape(text.substr(i));
      }
      const char byte = static_cast<char>(HexDigit(text[i + 1]) << 4 | HexDigit(text[i + 2]));
      const bool percent = text.substr(i, 3) == "%25";
      if (mode == Mode::kHost && HexDigit(text[i + 1]) < 8 && !percent) return bad_escape(text.substr(i));
      if (mode == Mode::kZone && !percent && byte != ' ' && ShouldEscape(byte, Mode::kHost)) {
        return bad_escape(text.substr(i));
      }
      out += byte;
      i += 2;
    } else if (c == '+') {
      out += mode == Mode::kQueryComponent ? ' ' : '+';
    } else {
      const bool in_host = mode == Mode::kHost || mode == Mode::kZone;
      if (in_host && static_cast<unsigned char>(c) < 0x80 && ShouldEscape(c, mode)) {
        return Error::InvalidArgument("invalid character " + Quote(std::string_view(&c, 1)) + " in host name");
      }
      out += c;
    }
  }
  return out;
}

std::string Escape(std::string_view text, Mode mode) {
  std::string out;
  for (const char c : text) {
    if (ShouldEscape(c, mode)) {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

bool IsValidEncoded(std::string_view text, Mode mode) {
  for (const char c : text) {
    if (!Among(c, "!$&'()*+,;=:@[]%") && ShouldEscape(c, mode)) return false;
  }
  return true;
}

bool IsOptionalPort(std::string_view port) {
  if (port.empty()) return true;
  return port[0] == ':' && port.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

Error BadPort(std::string_view port) {
  return Error::InvalidArgument(fmt::format("invalid port {} after host", Quote(port)));
}

Result<std::string> ParseBracketHost(std::string_view host) {
  const size_t close = host.rfind(']');
  if (close == std::string_view::npos) return Error::InvalidArgument("missing ']' in host");
  const std::string_view port = host.substr(close + 1);
  if (!IsOptionalPort(port)) return BadPort(port);
  const std::string_view name = host.substr(1, close - 1);
  std::string unescaped;
  const size_t zone = name.find("%25");
  Result<std::string> first = Unescape(name.substr(0, zone), Mode::kHost);
  if (!first) return first.error();
  unescaped = *first;
  if (zone != std::string_view::npos) {
    Result<std::string> second = Unescape(name.substr(zone), Mode::kZone);
    if (!second) return second.error();
    unescaped += *second;
  }
  Result<bool> v6 = ParseIpLiteralIsV6(unescaped);
  if (!v6) return Error::InvalidArgument("invalid host: " + v6.error().message);
  if (!*v6) return Error::InvalidArgument("invalid IP-literal");
  return "[" + unescaped + "]" + std::string(port);
}

Result<std::string> ParseHost(std::string_view scheme, std::string_view host) {
  const size_t bracket = host.rfind('[');
  if (bracket != std::string_view::npos && bracket > 0) return Error::InvalidArgument("invalid IP-literal");
  if (bracket == 0) return ParseBracketHost(host);
  if (size_t colon = host.find(':'); colon != std::string_view::npos) {
    // Go treats the last colon as the port's, except for http and https.
    if (scheme != "http" && scheme != "https") colon = host.rfind(':');
    if (!IsOptionalPort(host.substr(colon))) return BadPort(host.substr(colon));
  }
  return Unescape(host, Mode::kHost);
}

bool IsValidUserinfo(std::string_view text) {
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && !Among(c, "-._:~!$&'()*+,;=%")) return false;
  }
  return true;
}

Result<void> ParseAuthority(std::string_view authority, Url& url, Arena& arena) {
  const size_t at = authority.rfind('@');
  Result<std::string> host = ParseHost(url.scheme, at == std::string_view::npos ? authority : authority.substr(at + 1));
  if (!host) return host.error();
  url.host = arena.Copy(*host);
  if (at == std::string_view::npos) return {};
  const std::string_view user = authority.substr(0, at);
  if (!IsValidUserinfo(user)) return Error::InvalidArgument("net/url: invalid userinfo");
  const size_t colon = user.find(':');
  Result<std::string> name = Unescape(user.substr(0, colon), Mode::kUserPassword);
  if (!name) return name.error();
  std::string printed = Escape(*name, Mode::kUserPassword);
  if (colon != std::string_view::npos) {
    Result<std::string> password = Unescape(user.substr(colon + 1), Mode::kUserPassword);
    if (!password) return password.error();
    printed += ":" + Escape(*password, Mode::kUserPassword);
  }
  url.has_user = true;
  url.user = arena.Copy(printed);
  return {};
}

// Splits "scheme:rest". A missing scheme is no error.
Result<std::pair<std::string_view, std::string_view>> SplitScheme(std::string_view text) {
  using Split = std::pair<std::string_view, std::string_view>;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) continue;
    if ((c >= '0' && c <= '9') || Among(c, "+-.")) {
      if (i == 0) return Split{{}, text};
      continue;
    }
    if (c != ':') return Split{{}, text};
    if (i == 0) return Error::InvalidArgument("missing protocol scheme");
    return Split{text.substr(0, i), text.substr(i + 1)};
  }
  return Split{{}, text};
}

Result<void> SetPath(std::string_view raw, Url& url, Arena& arena) {
  Result<std::string> path = Unescape(raw, Mode::kPath);
  if (!path) return path.error();
  url.path = arena.Copy(*path);
  if (raw != Escape(*path, Mode::kPath)) url.raw_path = arena.Copy(raw);
  return {};
}

Result<void> Parse(std::string_view text, bool for_request, Url& url, Arena& arena) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) {
      return Error::InvalidArgument("net/url: invalid control character in URL");
    }
  }
  if (text.empty() && for_request) return Error::InvalidArgument("empty url");
  if (text == "*") {
    url.path = "*";
    return {};
  }
  auto split = SplitScheme(text);
  if (!split) return split.error();
  url.scheme = arena.Copy(base::LowerCase(split->first));
  std::string_view rest = split->second;
  const size_t question = rest.find('?');
  if (question != std::string_view::npos && question + 1 == rest.size()) {
    url.force_query = true;
    rest.remove_suffix(1);
  } else if (question != std::string_view::npos) {
    url.raw_query = arena.Copy(rest.substr(question + 1));
    rest = rest.substr(0, question);
  }
  if (!rest.starts_with('/')) {
    if (!url.scheme.empty()) {
      url.opaque = arena.Copy(rest);
      return {};
    }
    if (for_request) return Error::InvalidArgument("invalid URI for request");
    if (rest.substr(0, rest.find('/')).find(':') != std::string_view::npos) {
      return Error::InvalidArgument("first path segment in URL cannot contain colon");
    }
  }
  if ((!url.scheme.empty() || (!for_request && !rest.starts_with("///"))) && rest.starts_with("//")) {
    std::string_view authority = rest.substr(2);
    rest = {};
    if (const size_t slash = authority.find('/'); slash != std::string_view::npos) {
      rest = authority.substr(slash);
      authority = authority.substr(0, slash);
    }
    if (Result<void> good = ParseAuthority(authority, url, arena); !good) return good;
  } else if (!url.scheme.empty() && rest.starts_with('/')) {
    url.omit_host = true;
  }
  return SetPath(rest, url, arena);
}

Error ParseError(std::string_view text, const Error& why) {
  return Error::InvalidArgument(fmt::format("parse {}: {}", Quote(text), why.message));
}

}  // namespace

std::string Url::Hostname() const {
  std::string_view name = host;
  const size_t colon = name.rfind(':');
  if (colon != std::string_view::npos && IsOptionalPort(name.substr(colon))) name = name.substr(0, colon);
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return std::string(name);
}

std::string Url::Port() const {
  const size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || !IsOptionalPort(host.substr(colon))) return "";
  return std::string(host.substr(colon + 1));
}

std::string Url::EscapedPath() const {
  if (!raw_path.empty() && IsValidEncoded(raw_path, Mode::kPath)) {
    Result<std::string> decoded = Unescape(raw_path, Mode::kPath);
    if (decoded && *decoded == path) return std::string(raw_path);
  }
  if (path == "*") return "*";
  return Escape(path, Mode::kPath);
}

std::string Url::ToString() const {
  std::string out;
  if (!scheme.empty()) out += std::string(scheme) + ":";
  if (!opaque.empty()) {
    out += opaque;
  } else {
    const bool has_authority = !scheme.empty() || !host.empty() || has_user;
    if (has_authority && !(omit_host && host.empty() && !has_user)) {
      if (!host.empty() || !path.empty() || has_user) out += "//";
      if (has_user) out += std::string(user) + "@";
      out += Escape(host, Mode::kHost);
    }
    const std::string escaped = EscapedPath();
    if (!escaped.empty() && escaped[0] != '/' && !host.empty()) out += '/';
    if (out.empty() && escaped.substr(0, escaped.find('/')).find(':') != std::string::npos) out += "./";
    out += escaped;
  }
  if (force_query || !raw_query.empty()) out += "?" + std::string(raw_query);
  if (!fragment.empty()) out += "#" + std::string(fragment);
  return out;
}

std::vector<std::pair<std::string, std::string>> Url::Query() const {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::string_view rest = raw_query;
  while (!rest.empty()) {
    const size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const size_t equals = pair.find('=');
    Result<std::string> key = Unescape(pair.substr(0, equals), Mode::kQueryComponent);
    if (!key) continue;
    Result<std::string> value = Unescape(
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1), Mode::kQueryComponent);
    if (!value) continue;
    pairs.emplace_back(*std::move(key), *std::move(value));
  }
  return pairs;
}

Result<void> CheckRequestUri(std::string_view text) {
  Arena arena;
  Url url;
  if (Result<void> good = Parse(text, true, url, arena); !good) return ParseError(text, good.error());
  return {};
}

Result<const Url*> ParseUrl(std::string_view text, Arena& arena) {
  if (Result<void> good = CheckRequestUri(text); !good) return good.error();
  const size_t hash = text.find('#');
  Url* url = arena.New<Url>();
  if (Result<void> good = Parse(text.substr(0, hash), false, *url, arena); !good) {
    return ParseError(text.substr(0, hash), good.error());
  }
  if (hash != std::string_view::npos && hash + 1 < text.size()) {
    const std::string_view raw = text.substr(hash + 1);
    Result<std::string> decoded = Unescape(raw, Mode::kFragment);
    if (!decoded) return ParseError(text, decoded.error());
    // Printed as written where that is a valid encoding.
    const bool kept = IsValidEncoded(raw, Mode::kFragment);
    url->fragment = arena.Copy(kept ? std::string(raw) : Escape(*decoded, Mode::kFragment));
  }
  return static_cast<const Url*>(url);
}

}  // namespace berth::cel
