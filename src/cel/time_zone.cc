#include "cel/time_zone.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/file.h"
#include "cel/time.h"

namespace berth::cel {
namespace {

// One half of a POSIX rule such as M3.2.0/2: month, week (5 is the last), weekday, seconds after midnight.
struct Change {
  char form = 'M';  // M, J (1..365, no leap day) or 0 (0..365)
  int month = 0, week = 0, day = 0;
  int64_t time = 7200;
};

// The rule for instants after the last transition of the file: "CET-1CEST,M3.5.0,M10.5.0/3".
struct Rule {
  bool has_summer = false;
  int64_t standard = 0;
  int64_t summer = 0;
  Change start, end;
};

struct Zone {
  std::vector<int64_t> instants;
  std::vector<int64_t> offsets;  // from each instant on
  int64_t first_offset = 0;
  bool has_rule = false;
  Rule rule;
};

int64_t ReadBig(std::string_view bytes, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  if (size == 4) return static_cast<int32_t>(value);
  return static_cast<int64_t>(value);
}

void SkipName(std::string_view& text) {
  if (!text.empty() && text[0] == '<') {
    text.remove_prefix(std::min(text.find('>'), text.size() - 1) + 1);
    return;
  }
  while (!text.empty() && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'))) {
    text.remove_prefix(1);
  }
}

int64_t ReadNumber(std::string_view& text) {
  int64_t value = 0;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9' && value < 100000) {
    value = value * 10 + (text[0] - '0');
    text.remove_prefix(1);
  }
  return value;
}

// [+-]hh[:mm[:ss]]
int64_t ReadClock(std::string_view& text) {
  int64_t sign = 1;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    sign = text[0] == '-' ? -1 : 1;
    text.remove_prefix(1);
  }
  int64_t total = ReadNumber(text) * 3600;
  for (int64_t unit = 60; unit >= 1 && !text.empty() && text[0] == ':'; unit /= 60) {
    text.remove_prefix(1);
    total += ReadNumber(text) * unit;
  }
  return sign * total;
}

Change ReadChange(std::string_view& text) {
  Change change;
  if (!text.empty() && text[0] == ',') text.remove_prefix(1);
  if (!text.empty() && text[0] == 'M') {
    text.remove_prefix(1);
    change.month = static_cast<int>(ReadNumber(text));
    if (!text.empty()) text.remove_prefix(1);
    change.week = static_cast<int>(ReadNumber(text));
    if (!text.empty()) text.remove_prefix(1);
    change.day = static_cast<int>(ReadNumber(text));
  } else {
    change.form = '0';
    if (!text.empty() && text[0] == 'J') {
      change.form = 'J';
      text.remove_prefix(1);
    }
    change.day = static_cast<int>(ReadNumber(text));
  }
  if (!text.empty() && text[0] == '/') {
    text.remove_prefix(1);
    change.time = ReadClock(text);
  }
  return change;
}

Rule ReadRule(std::string_view text) {
  Rule rule;
  SkipName(text);
  rule.standard = -ReadClock(text);
  if (text.empty()) return rule;
  rule.has_summer = true;
  SkipName(text);
  rule.summer = rule.standard + 3600;
  if (!text.empty() && text[0] != ',') rule.summer = -ReadClock(text);
  rule.start = ReadChange(text);
  rule.end = ReadChange(text);
  return rule;
}

// The change in a year as seconds since 1970, before subtracting any offset.
int64_t ChangeInstant(const Change& change, int64_t year) {
  const int64_t new_year = FromCivil(year, 1, 1);
  int64_t day = new_year + change.day;
  if (change.form == 'J') {
    day = new_year + change.day - 1;
    const bool leap = FromCivil(year + 1, 1, 1) - new_year == 366;
    if (leap && change.day >= 60) ++day;
  } else if (change.form == 'M') {
    const int month = std::clamp(change.month, 1, 12);
    const int64_t first = FromCivil(year, month, 1);
    const int weekday = ToCivil(first * 86400).weekday;
    day = first + (change.day - weekday + 7) % 7 + (std::max(change.week, 1) - 1) * 7;
    const int64_t next_month = month == 12 ? FromCivil(year + 1, 1, 1) : FromCivil(year, month + 1, 1);
    while (day >= next_month) day -= 7;
  }
  return day * 86400 + change.time;
}

int64_t RuleOffset(const Rule& rule, int64_t seconds) {
  if (!rule.has_summer) return rule.standard;
  const int64_t year = ToCivil(seconds + rule.standard).year;
  const int64_t start = ChangeInstant(rule.start, year) - rule.standard;
  const int64_t end = ChangeInstant(rule.end, year) - rule.summer;
  const bool summer = start < end ? seconds >= start && seconds < end : seconds >= start || seconds < end;
  return summer ? rule.summer : rule.standard;
}

struct Header {
  int64_t utc_marks, standard_marks, leaps, transitions, types, name_bytes;
};

bool ReadHeader(std::string_view file, size_t at, Header* header) {
  if (file.size() < at + 44 || file.substr(at, 4) != "TZif") return false;
  int64_t counts[6];
  for (size_t i = 0; i < 6; ++i) counts[i] = ReadBig(file.substr(at + 20 + 4 * i), 4);
  for (const int64_t count : counts) {
    if (count < 0 || count > 100000) return false;
  }
  *header = {counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]};
  return true;
}

size_t BlockSize(const Header& header, size_t time_size) {
  return static_cast<size_t>(header.transitions) * (time_size + 1) + static_cast<size_t>(header.types) * 6 +
         static_cast<size_t>(header.name_bytes) + static_cast<size_t>(header.leaps) * (time_size + 4) +
         static_cast<size_t>(header.standard_marks + header.utc_marks);
}

bool ReadZone(std::string_view file, Zone* zone) {
  Header header{};
  size_t at = 0;
  if (!ReadHeader(file, 0, &header)) return false;
  size_t time_size = 4;
  if (file[4] >= '2') {
    at = 44 + BlockSize(header, 4);
    if (!ReadHeader(file, at, &header)) return false;
    time_size = 8;
  }
  at += 44;
  if (header.types == 0 || file.size() < at + BlockSize(header, time_size)) return false;
  const size_t indices = at + static_cast<size_t>(header.transitions) * time_size;
  const size_t types = indices + static_cast<size_t>(header.transitions);
  const auto offset_of = [&](size_t type) { return ReadBig(file.substr(types + 6 * type), 4); };
  for (size_t i = 0; i < static_cast<size_t>(header.transitions); ++i) {
    const size_t type = static_cast<unsigned char>(file[indices + i]);
    if (type >= static_cast<size_t>(header.types)) return false;
    zone->instants.push_back(ReadBig(file.substr(at + i * time_size), time_size));
    zone->offsets.push_back(offset_of(type));
  }
  // Before the first change: the first type that is not summer time.
  zone->first_offset = offset_of(0);
  for (size_t type = 0; type < static_cast<size_t>(header.types); ++type) {
    if (file[types + 6 * type + 4] == 0) {
      zone->first_offset = offset_of(type);
      break;
    }
  }
  const size_t footer = at + BlockSize(header, time_size);
  if (time_size == 8 && footer < file.size() && file[footer] == '\n') {
    const std::string_view text = file.substr(footer + 1, file.find('\n', footer + 1) - footer - 1);
    zone->has_rule = !text.empty();
    if (zone->has_rule) zone->rule = ReadRule(text);
  }
  return true;
}

// Names that Go accepts: they cannot leave the database's folder.
bool IsSafeName(std::string_view name) {
  return !name.empty() && name[0] != '/' && name[0] != '\\' && name.find("..") == std::string_view::npos &&
         name.find('\0') == std::string_view::npos && name.size() < 200;
}

std::shared_ptr<const Zone> LoadZone(const std::string& name) {
  for (const char* root : {"/usr/share/zoneinfo/", "/usr/share/lib/zoneinfo/", "/etc/zoneinfo/"}) {
    const Result<std::string> bytes = base::ReadFile(root + name);
    if (!bytes) continue;
    auto zone = std::make_shared<Zone>();
    if (ReadZone(*bytes, zone.get())) return zone;
  }
  return nullptr;
}

}  // namespace

Result<int64_t> NamedZoneOffset(std::string_view name, int64_t seconds) {
  if (name.empty() || name == "UTC" || name == "Local") return int64_t{0};
  if (!IsSafeName(name)) return Error::InvalidArgument("time: invalid location name");
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Zone>, std::less<>> zones;
  std::shared_ptr<const Zone> zone;
  {
    const std::lock_guard lock(mutex);
    auto found = zones.find(name);
    if (found == zones.end()) {
      // A selector that generates names must not fill the memory.
      if (zones.size() > 1000) zones.clear();
      found = zones.emplace(std::string(name), LoadZone(std::string(name))).first;
    }
    zone = found->second;
  }
  if (zone == nullptr) return Error::NotFound("unknown time zone " + std::string(name));
  const auto next = std::upper_bound(zone->instants.begin(), zone->instants.end(), seconds);
  if (next == zone->instants.end() && zone->has_rule) return RuleOffset(zone->rule, seconds);
  if (next == zone->instants.begin()) return zone->first_offset;
  return zone->offsets[static_cast<size_t>(next - zone->instants.begin()) - 1];
}

}  // namespace berth::cel
