// Kubernetes' types: quantities, versions, addresses, URLs, named formats; times.
// Outcomes and costs are those of kube-scheduler v1.36.4.
#include "cel/testing/judge.h"

namespace berth::cel {
namespace {

TEST(CelKubernetes, Quantity) {
  constexpr JudgedExpression kRows[] = {
      {"quantity(\"1.5Gi\") == quantity(\"1536Mi\")", "true", 3},
      {"quantity(\"1500m\").isInteger()", "false", 2},
      {"quantity(\"1.5Gi\").isInteger()", "false", 2},
      {"quantity(\"1536Mi\").asInteger() == 1610612736", "true", 3},
      {"quantity(\"1.5Gi\").asInteger() == 1610612736", "runtime: cannot convert value to integer", 3},
      {"quantity(\"12345678901234567890\").isInteger()", "false", 3},
      {"quantity(\"1e3\").asInteger() == 1000", "true", 3},
      {"quantity(\"100m\").asApproximateFloat() == 0.1", "true", 3},
      {"quantity(\"1.5Gi\").asApproximateFloat() == 1610612736.0", "true", 3},
      {"sign(quantity(\"-5\")) == -1", "true", 3},
      {"quantity(\"1\").sign() == 1",
       "compile: compilation failed: ERROR: <input>:1:19: found no matching overload for 'sign' applied to "
       "'kubernetes.Quantity.()'\n | quantity(\"1\").sign() == 1\n | ..................^",
       0},
      {"quantity(\"1\").add(quantity(\"100m\")).compareTo(quantity(\"1100m\")) == 0", "true", 6},
      {"quantity(\"1\").sub(2).compareTo(quantity(\"-1\")) == 0", "true", 5},
      {"quantity(\"9223372036854775807\").add(1).isGreaterThan(quantity(\"9223372036854775807\"))", "true", 6},
      {"quantity(\"1 Gi\") == quantity(\"1\")",
       "runtime: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'", 3},
      {"quantity(\"\") == quantity(\"1\")",
       "runtime: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'", 2},
      {"quantity(\"1Xi\") == quantity(\"1\")",
       "runtime: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'", 3},
      {"isQuantity(\"1e-3\") && isQuantity(\"+.5\") && !isQuantity(\"1.2.3\") && !isQuantity(\"Gi1\")", "true", 6},
      {"quantity(\"9Ei\") == quantity(\"9223372036854775807\")", "true", 4},
      {"quantity(\"0.0000000001\") == quantity(\"1n\")", "true", 4},
      {"quantity(\"1k\").isLessThan(quantity(\"1Ki\"))", "true", 3},
      {"device.capacity[\"gpu.example.com\"].odd.isInteger()", "false", 5},
      {"device.capacity[\"gpu.example.com\"].memory.compareTo(quantity(\"40Gi\")) == 0", "true", 7},
      {"device.attributes[\"gpu.example.com\"].numa.isGreaterThan(quantity(\"0\"))",
       "runtime: no such overload: isGreaterThan(int, kubernetes.Quantity)", 6},
      {"quantity(device.driver) == quantity(\"1\")",
       "runtime: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'", 6},
  };
  ExpectJudged(kRows);
}

TEST(CelKubernetes, Semver) {
  constexpr JudgedExpression kRows[] = {
      {"semver(\"1.2.3\").isLessThan(semver(\"1.2.4\"))", "true", 3},
      {"semver(\"1.2.3-rc.1\").isLessThan(semver(\"1.2.3\"))", "true", 3},
      {"semver(\"1.2.3-rc.2\").compareTo(semver(\"1.2.3-rc.10\")) == -1", "true", 5},
      {"semver(\"1.2.3-1\").isLessThan(semver(\"1.2.3-a\"))", "true", 3},
      {"semver(\"1.2.3-a\").isLessThan(semver(\"1.2.3-a.0\"))", "true", 3},
      {"semver(\"1.2.3+a\") == semver(\"1.2.3+b\")", "true", 3},
      {"semver(\"v1.2.3\") == semver(\"1.2.3\")", "runtime: Invalid character(s) found in major number \"v1\"", 3},
      {"semver(\"v1\", true) == semver(\"1.0.0\")", "true", 3},
      {"semver(\"01.02\", true).minor() == 2", "true", 3},
      {"semver(\"1.2-rc\", true) == semver(\"1.2.0\")",
       "runtime: short version cannot contain PreRelease/Build meta data", 3},
      {"semver(\"1.2\") == semver(\"1.2.0\")", "runtime: No Major.Minor.Patch elements found", 3},
      {"semver(\"\") == semver(\"1.2.0\")", "runtime: Version string empty", 2},
      {"semver(\"1.02.3\") == semver(\"1.2.3\")", "runtime: Minor number must not contain leading zeroes \"02\"", 3},
      {"semver(\"1.2.3-\") == semver(\"1.2.3\")", "runtime: Prerelease is empty", 3},
      {"semver(\"1.2.3-01\") == semver(\"1.2.3\")",
       "runtime: Numeric PreRelease version must not contain leading zeroes \"01\"", 3},
      {"semver(\"1.2.3-é\") == semver(\"1.2.3\")", "runtime: Invalid character(s) found in prerelease \"é\"", 3},
      {"semver(\"1.2.3+\") == semver(\"1.2.3\")", "runtime: Build meta data is empty", 3},
      {"semver(\"99999999999999999999.0.0\") == semver(\"1.2.3\")",
       "runtime: strconv.ParseUint: parsing \"99999999999999999999\": value out of range", 5},
      {"semver(\".1.2\") == semver(\"1.2.3\")", "runtime: strconv.ParseUint: parsing \"\": invalid syntax", 3},
      {"isSemver(\"1.2.3-alpha.1+build\") && !isSemver(\"1.2\")", "true", 4},
      {"device.attributes[\"gpu.example.com\"].driverVersion.major() == 1", "true", 6},
      {"device.attributes[\"gpu.example.com\"].driverVersion.isGreaterThan(semver(\"1.2.2\"))", "true", 6},
      {"device.attributes[\"gpu.example.com\"].model.isGreaterThan(semver(\"1.0.0\"))",
       "runtime: no such overload: isGreaterThan(string, kubernetes.Semver)", 6},
      {"string(device.attributes[\"gpu.example.com\"].driverVersion) == \"1.2.3\"",
       "runtime: no such overload: string(kubernetes.Semver)", 6},
  };
  ExpectJudged(kRows);
}

TEST(CelKubernetes, Ip) {
  constexpr JudgedExpression kRows[] = {
      {"ip(\"10.0.0.1\").family() == 4", "true", 3},
      {"ip(\"::1\").family() == 6", "true", 3},
      {"ip(\"::1\").isLoopback() && ip(\"127.1.2.3\").isLoopback()", "true", 4},
      {"ip(\"0.0.0.0\").isUnspecified() && ip(\"::\").isUnspecified()", "true", 4},
      {"ip(\"224.0.0.1\").isLinkLocalMulticast() && ip(\"ff02::1\").isLinkLocalMulticast()", "true", 4},
      {"ip(\"169.254.0.1\").isLinkLocalUnicast() && ip(\"fe80::1\").isLinkLocalUnicast()", "true", 5},
      {"ip(\"10.0.0.1\").isGlobalUnicast()", "true", 2},
      {"ip(\"255.255.255.255\").isGlobalUnicast()", "false", 3},
      {"ip(\"224.0.0.1\").isGlobalUnicast()", "false", 2},
      {"string(ip(\"2001:DB8:0:0:1:0:0:1\")) == \"2001:db8::1:0:0:1\"", "true", 5},
      {"ip.isCanonical(\"2001:db8::1\")", "true", 3},
      {"ip.isCanonical(\"2001:DB8::1\")", "false", 3},
      {"ip.isCanonical(\"x\")",
       "runtime: IP Address \"x\" parse error during conversion from string: ParseAddr(\"x\"): unable to parse IP", 1},
      {"isIP(\"1.2.3.4\") && !isIP(\"1.2.3\") && !isIP(\"::ffff:1.2.3.4\")", "true", 6},
      {"ip(\"1.2.3.256\") == ip(\"::\")",
       "runtime: IP Address \"1.2.3.256\" parse error during conversion from string: ParseAddr(\"1.2.3.256\"): IPv4 "
       "field has value >255",
       3},
      {"ip(\"1.2.3\") == ip(\"::\")",
       "runtime: IP Address \"1.2.3\" parse error during conversion from string: ParseAddr(\"1.2.3\"): IPv4 address "
       "too short",
       3},
      {"ip(\"1.2.3.4.5\") == ip(\"::\")",
       "runtime: IP Address \"1.2.3.4.5\" parse error during conversion from string: ParseAddr(\"1.2.3.4.5\"): IPv4 "
       "address too long",
       3},
      {"ip(\"01.2.3.4\") == ip(\"::\")",
       "runtime: IP Address \"01.2.3.4\" parse error during conversion from string: ParseAddr(\"01.2.3.4\"): IPv4 "
       "field has octet with leading zero",
       3},
      {"ip(\"1..2.3\") == ip(\"::\")",
       "runtime: IP Address \"1..2.3\" parse error during conversion from string: ParseAddr(\"1..2.3\"): IPv4 field "
       "must have at least one digit (at \".2.3\")",
       3},
      {"ip(\"1:2:3\") == ip(\"::\")",
       "runtime: IP Address \"1:2:3\" parse error during conversion from string: ParseAddr(\"1:2:3\"): address string "
       "too short",
       3},
      {"ip(\"1::2::3\") == ip(\"::\")",
       "runtime: IP Address \"1::2::3\" parse error during conversion from string: ParseAddr(\"1::2::3\"): multiple :: "
       "in address (at \":3\")",
       3},
      {"ip(\"12345::\") == ip(\"::\")",
       "runtime: IP Address \"12345::\" parse error during conversion from string: ParseAddr(\"12345::\"): each group "
       "must have 4 or less digits (at \"12345::\")",
       3},
      {"ip(\"::g\") == ip(\"::\")",
       "runtime: IP Address \"::g\" parse error during conversion from string: ParseAddr(\"::g\"): each "
       "colon-separated field must have at least one digit (at \"g\")",
       3},
      {"ip(\"1:2:3:4:5:6:7:8:9\") == ip(\"::\")",
       "runtime: IP Address \"1:2:3:4:5:6:7:8:9\" parse error during conversion from string: "
       "ParseAddr(\"1:2:3:4:5:6:7:8:9\"): trailing garbage after address (at \"9\")",
       4},
      {"ip(\"1:2:3:4:5:6:7::8\") == ip(\"::\")",
       "runtime: IP Address \"1:2:3:4:5:6:7::8\" parse error during conversion from string: "
       "ParseAddr(\"1:2:3:4:5:6:7::8\"): the :: must expand to at least one field of zeros",
       4},
      {"ip(\"::1.2.3.4\") == ip(\"::102:304\")", "true", 3},
      {"ip(\"fe80::1%eth0\") == ip(\"::\")", "runtime: IP address \"fe80::1%eth0\" with zone value is not allowed", 4},
      {"ip(\"fe80::1%\") == ip(\"::\")",
       "runtime: IP Address \"fe80::1%\" parse error during conversion from string: ParseAddr(\"fe80::1%\"): zone must "
       "be a non-empty string",
       3},
      {"ip(\"%\") == ip(\"::\")",
       "runtime: IP Address \"%\" parse error during conversion from string: ParseAddr(\"%\"): missing IPv6 address",
       3},
      {"ip(\"\") == ip(\"::\")",
       "runtime: IP Address \"\" parse error during conversion from string: ParseAddr(\"\"): unable to parse IP", 2},
      {"ip(\"1.2.3.4\") == ip(\"1.2.3.4\")", "true", 3},
  };
  ExpectJudged(kRows);
}

TEST(CelKubernetes, Cidr) {
  constexpr JudgedExpression kRows[] = {
      {"cidr(\"10.0.0.0/8\").containsIP(\"10.1.2.3\")", "true", 3},
      {"cidr(\"10.0.0.0/8\").containsIP(ip(\"11.0.0.1\"))", "false", 3},
      {"cidr(\"10.0.0.0/8\").containsIP(\"x\")", "runtime: no such overload", 3},
      {"cidr(\"10.0.0.0/8\").containsIP(\"::1\")", "false", 3},
      {"cidr(\"10.0.0.0/8\").containsCIDR(\"10.1.0.0/16\")", "true", 6},
      {"cidr(\"10.0.0.0/8\").containsCIDR(cidr(\"0.0.0.0/0\"))", "false", 5},
      {"cidr(\"10.0.0.0/8\").containsCIDR(\"x\")",
       "runtime: network address parse error during conversion from string: network address parse error during "
       "conversion from string: netip.ParsePrefix(\"x\"): no '/'",
       5},
      {"cidr(\"10.1.2.3/8\").masked() == cidr(\"10.0.0.0/8\")", "true", 4},
      {"string(cidr(\"10.1.2.3/8\")) == \"10.1.2.3/8\"", "true", 3},
      {"cidr(\"10.1.2.3/8\").ip() == ip(\"10.1.2.3\")", "true", 4},
      {"cidr(\"::/0\").prefixLength() == 0", "true", 3},
      {"cidr(\"2001:db8::/33\").masked() == cidr(\"2001:db8::/33\")", "true", 6},
      {"cidr(\"10.0.0.0\") == cidr(\"::/0\")",
       "runtime: network address parse error during conversion from string: network address parse error during "
       "conversion from string: netip.ParsePrefix(\"10.0.0.0\"): no '/'",
       2},
      {"cidr(\"10.0.0.0/33\") == cidr(\"::/0\")",
       "runtime: network address parse error during conversion from string: network address parse error during "
       "conversion from string: netip.ParsePrefix(\"10.0.0.0/33\"): prefix length out of range",
       3},
      {"cidr(\"10.0.0.0/08\") == cidr(\"::/0\")",
       "runtime: network address parse error during conversion from string: network address parse error during "
       "conversion from string: netip.ParsePrefix(\"10.0.0.0/08\"): bad bits after slash: \"08\"",
       3},
      {"cidr(\"10.0.0.0/+8\") == cidr(\"::/0\")",
       "runtime: network address parse error during conversion from string: network address parse error during "
       "conversion from string: netip.ParsePrefix(\"10.0.0.0/+8\"): bad bits after slash: \"+8\"",
       3},
      {"cidr(\"fe80::1%a/64\") == cidr(\"::/0\")",
       "runtime: network address parse error during conversion from string: network address parse error during "
       "conversion from string: netip.ParsePrefix(\"fe80::1%a/64\"): IPv6 zones cannot be present in a prefix",
       3},
      {"cidr(\"::ffff:1.2.3.4/120\") == cidr(\"::/0\")",
       "runtime: network address parse error during conversion from string: IPv4-mapped IPv6 address "
       "\"::ffff:1.2.3.4/120\" is not allowed",
       3},
      {"isCIDR(\"10.0.0.0/8\") && !isCIDR(\"10.0.0.0/\")", "true", 3},
  };
  ExpectJudged(kRows);
}

TEST(CelKubernetes, Url) {
  constexpr JudgedExpression kRows[] = {
      {"url(\"https://user:pw@example.com:8443/a%20b/c?x=1&y=2&y=3#frag\").getHost() == \"example.com:8443\"", "true",
       9},
      {"url(\"https://example.com:8443/a%20b/c\").getEscapedPath() == \"/a%20b/c\"", "true", 6},
      {"url(\"http://h/a b\").getEscapedPath() == \"/a%20b\"", "true", 4},
      {"url(\"http://h/a!b\").getEscapedPath() == \"/a!b\"", "true", 4},
      {"url(\"http://[::1]:80/\").getHostname() == \"::1\"", "true", 4},
      {"url(\"http://[::1]:80/\").getPort() == \"80\"", "true", 4},
      {"url(\"/path?x=1&y=2&y=3\").getQuery() == {\"x\": [\"1\"], \"y\": [\"2\", \"3\"]}", "true", 4},
      {"url(\"/p?a=%zz&b=1;2&c&d=+\").getQuery() == {\"c\": [\"\"], \"d\": [\" \"]}", "true", 4},
      {"url(\"mailto:a@b\").getScheme() == \"mailto\"", "true", 3},
      {"url(\"../x\").getScheme() == \"\"",
       "runtime: URL parse error during conversion from string: parse \"../x\": invalid URI for request", 2},
      {"url(\"http://h:x/\").getPort() == \"\"",
       "runtime: URL parse error during conversion from string: parse \"http://h:x/\": invalid port \":x\" after host",
       3},
      {"url(\"https://a:b:c/\").getHost() == \"\"",
       "runtime: URL parse error during conversion from string: parse \"https://a:b:c/\": invalid port \":b:c\" after "
       "host",
       3},
      {"url(\"http://h/%zz\").getHost() == \"\"",
       "runtime: URL parse error during conversion from string: parse \"http://h/%zz\": invalid URL escape \"%zz\"", 3},
      {"url(\"http://[::1/\").getHost() == \"\"",
       "runtime: URL parse error during conversion from string: parse \"http://[::1/\": missing ']' in host", 3},
      {"url(\"http://[1.2.3.4]/\").getHost() == \"\"",
       "runtime: URL parse error during conversion from string: parse \"http://[1.2.3.4]/\": invalid IP-literal", 3},
      {"url(\"http://a b/\").getHost() == \"\"",
       "runtime: URL parse error during conversion from string: parse \"http://a b/\": invalid character \" \" in host "
       "name",
       3},
      {"url(\"\") == url(\"/\")", "runtime: URL parse error during conversion from string: parse \"\": empty url", 2},
      {"url(\":x\") == url(\"/\")",
       "runtime: URL parse error during conversion from string: parse \":x\": missing protocol scheme", 3},
      {"url(\"http://h\\n\") == url(\"/\")",
       "runtime: URL parse error during conversion from string: parse \"http://h\\n\": net/url: invalid control "
       "character in URL",
       3},
      {"url(\"http://h/x\") == url(\"http://h/x\")", "true", 3},
      {"url(\"http://u se@h/\") == url(\"/\")",
       "runtime: URL parse error during conversion from string: parse \"http://u se@h/\": net/url: invalid userinfo",
       4},
      {"isURL(\"/a\") && !isURL(\"a\")", "true", 3},
      {"url(\"HTTP://EXAMPLE.com\").getScheme() == \"http\"", "true", 4},
      {"url(\"http://h/%41\").getEscapedPath() == \"/%41\"", "true", 4},
  };
  ExpectJudged(kRows);
}

TEST(CelKubernetes, Formats) {
  constexpr JudgedExpression kRows[] = {
      {"format.dns1123Label().validate(\"a-b\").hasValue()", "false", 10},
      {"format.dns1123Label().validate(\"A\") == optional.of([\"x\"])", "false", 11},
      {"format.dns1123Label().validate(\"a.b\").value() == [\"must not contain dots\"]", "true", 11},
      {"format.dns1123Subdomain().validate(\"a.b-c.d\").hasValue()", "false", 17},
      {"format.dns1035Label().validate(\"1a\").hasValue()", "true", 10},
      {"format.dns1123LabelPrefix().validate(\"a-\").hasValue()", "false", 10},
      {"format.qualifiedName().validate(\"a/b/c\").hasValue()", "true", 17},
      {"format.qualifiedName().validate(\"/b\").value().size() == 1", "true", 19},
      {"format.qualifiedName().validate(\"example.com/MyName\").hasValue()", "false", 32},
      {"format.labelValue().validate(\"\").hasValue()", "false", 12},
      {"format.labelValue().validate(\"-\").hasValue()", "true", 12},
      {"format.uri().validate(\"http://h\").hasValue()", "false", 278},
      {"format.uri().validate(\"x\").value() == [\"parse \\\"x\\\": invalid URI for request\"]", "true", 279},
      {"format.uuid().validate(\"5A1D2C3B-0000-4e6f-8a9b-0123456789ab\").hasValue()", "false", 74},
      {"format.uuid().validate(\"x\").value() == [\"does not match the UUID format\"]", "true", 21},
      {"format.byte().validate(\"aGVsbG8=\").hasValue()", "false", 23},
      {"format.byte().validate(\"a\").hasValue()", "true", 23},
      {"format.date().validate(\"2024-02-29\").hasValue()", "false", 38},
      {"format.date().validate(\"2023-02-29\").hasValue()", "true", 38},
      {"format.datetime().validate(\"2024-02-29T12:00:00Z\").hasValue()", "false", 56},
      {"format.datetime().validate(\"2024-02-29T25:00:00Z\").hasValue()", "true", 56},
      {"format.named(\"uuid\").hasValue()", "true", 2},
      {"format.named(\"nope\").hasValue()", "false", 2},
      {"format.named(\"uuid\").value() == format.uuid()", "true", 4},
      {"format.uuid() == format.date()", "false", 3},
  };
  ExpectJudged(kRows);
}

TEST(CelKubernetes, Time) {
  constexpr JudgedExpression kRows[] = {
      {"timestamp(\"2024-02-29T12:34:56.789Z\").getFullYear() == 2024", "true", 2},
      {"timestamp(\"2024-02-29T12:34:56.789Z\").getMonth() == 1", "true", 2},
      {"timestamp(\"2024-02-29T12:34:56.789Z\").getDayOfYear() == 59", "true", 2},
      {"timestamp(\"2024-02-29T12:34:56.789Z\").getDayOfMonth() == 28", "true", 2},
      {"timestamp(\"2024-02-29T12:34:56.789Z\").getDate() == 29", "true", 2},
      {"timestamp(\"2024-02-29T12:34:56.789Z\").getDayOfWeek() == 4", "true", 2},
      {"timestamp(\"2024-02-29T12:34:56.789Z\").getMilliseconds() == 789", "true", 2},
      {"timestamp(\"2024-02-29T12:34:56Z\").getHours(\"+05:30\") == 18", "true", 2},
      {"timestamp(\"2024-02-29T12:34:56Z\").getMinutes(\"-08:30\") == 4", "true", 2},
      {"timestamp(\"2024-07-01T12:00:00Z\").getHours(\"America/New_York\") == 8", "true", 2},
      {"timestamp(\"2024-01-01T12:00:00Z\").getHours(\"America/New_York\") == 7", "true", 2},
      {"timestamp(\"2050-07-01T12:00:00Z\").getHours(\"Europe/Berlin\") == 14", "true", 2},
      {"timestamp(\"1900-01-01T12:00:00Z\").getMinutes(\"Europe/Amsterdam\") >= 0", "true", 2},
      {"timestamp(\"2024-02-29T12:34:56Z\").getHours(\"Nowhere/City\") == 1", "runtime: unknown time zone Nowhere/City",
       2},
      {"timestamp(\"2024-02-29T12:34:56Z\").getHours(\"x:1\") == 1",
       "runtime: strconv.Atoi: parsing \"x\": invalid syntax", 2},
      {"timestamp(\"2024-02-29T12:34:56Z\").getHours(\"\") == 12", "true", 2},
      {"timestamp(\"2024-02-29T12:34:56Z\").getHours(\"../etc\") == 12", "runtime: time: invalid location name", 2},
      {"duration(\"1h30m\").getMinutes() == 90", "true", 2},
      {"duration(\"-1.5s\").getSeconds() == -1", "true", 2},
      {"duration(\"1.5s\").getMilliseconds() == 1500", "true", 2},
      {"timestamp(\"2024-01-01T00:00:00+02:00\") == timestamp(\"2023-12-31T22:00:00Z\")", "true", 1},
      {"timestamp(\"2024-01-01T24:00:00Z\") > timestamp(0)",
       "compile: compilation failed: ERROR: <input>:1:11: invalid timestamp argument\n | "
       "timestamp(\"2024-01-01T24:00:00Z\") > timestamp(0)\n | ..........^",
       0},
      {"timestamp(253402300800) > timestamp(0)",
       "compile: compilation failed: ERROR: <input>:1:11: invalid timestamp argument\n | timestamp(253402300800) > "
       "timestamp(0)\n | ..........^",
       0},
  };
  ExpectJudged(kRows);
}

}  // namespace
}  // namespace berth::cel
