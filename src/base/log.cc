#include "base/log.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cmath>
#include <ctime>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/go_text.h"

namespace berth::base {
namespace {

struct ModuleLevel {
  std::string pattern;
  int level;
};

struct LogSettings {
  LogOptions options;
  std::vector<ModuleLevel> modules;
};

std::mutex& SettingsMutex() {
  static std::mutex mutex;
  return mutex;
}

std::shared_ptr<const LogSettings>& SettingsSlot() {
  static auto* slot = new std::shared_ptr<const LogSettings>(std::make_shared<LogSettings>());
  return *slot;  // never destroyed: other statics may log while they are destroyed
}

std::shared_ptr<const LogSettings> Settings() {
  const std::lock_guard lock(SettingsMutex());
  return SettingsSlot();
}

void Install(std::shared_ptr<const LogSettings> settings) {
  int ceiling = settings->options.verbosity;
  for (const ModuleLevel& module : settings->modules) ceiling = std::max(ceiling, module.level);
  const std::lock_guard lock(SettingsMutex());
  SettingsSlot() = std::move(settings);
  log_ceiling.store(ceiling, std::memory_order_relaxed);
}

Result<std::vector<ModuleLevel>> ParseModules(std::string_view text) {
  std::vector<ModuleLevel> modules;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    int level = 0;
    const char* end = item.data() + item.size();
    const bool has_level = equals != std::string_view::npos && equals > 0;
    const auto parsed = std::from_chars(item.data() + (has_level ? equals + 1 : item.size()), end, level);
    if (!has_level || parsed.ec != std::errc() || parsed.ptr != end || level < 0) {
      return Error::InvalidArgument("vmodule: expected a list of pattern=N, found \"" + std::string(item) + "\"");
    }
    modules.push_back({std::string(item.substr(0, equals)), level});
  }
  return modules;
}

std::string_view LastComponents(std::string_view path, int count) {
  size_t start = path.size();
  while (count-- > 0 && start != std::string_view::npos) start = start == 0 ? start : path.rfind('/', start - 1);
  return start == std::string_view::npos || path[start] != '/' ? path : path.substr(start + 1);
}

std::string ModuleName(std::string_view file) {
  file = LastComponents(file, 1);
  return std::string(file.substr(0, file.find('.')));
}

void WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nowhere left to complain to
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

std::atomic<int> log_ceiling{0};

// Formats one line into `out`.
class LogLine {
 public:
  LogLine(std::string& out, Time now) : out_(out), now_(now) {}

  void Text(LogSeverity severity, const char* file, int line, std::string_view message,
            std::initializer_list<LogField> fields) {
    Header(severity, file, line);
    AppendQuoted(out_, message);
    for (const LogField& field : fields) {
      out_ += ' ';
      out_ += field.key_;
      if (field.kind_ == LogField::Kind::kText) {
        AppendTextValue(out_, field.text_);
      } else {
        out_ += '=';
        Value(field);
      }
    }
    out_ += '\n';
  }

  void Json(LogSeverity severity, int level, const char* file, int line, std::string_view message,
            std::initializer_list<LogField> fields) {
    out_ += "{\"ts\":";
    AppendFixed(out_, static_cast<double>(now_.time_since_epoch().count()) / 1e6);
    out_ += ",\"caller\":";
    std::string caller(LastComponents(file, 2));
    caller += ':';
    caller += std::to_string(line);
    AppendJsonString(out_, caller);
    out_ += ",\"msg\":";
    AppendJsonString(out_, message);
    if (severity != LogSeverity::kError) {
      out_ += ",\"v\":";
      AppendInteger(out_, level);
    }
    // An error comes last, wherever the caller named it.
    for (const bool errors : {false, true}) {
      for (const LogField& field : fields) {
        if ((severity == LogSeverity::kError && field.key_ == "err") == errors) JsonField(field);
      }
    }
    out_ += "}\n";
  }

 private:
  void Header(LogSeverity severity, const char* file, int line) {
    const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(now_.time_since_epoch()).count();
    const auto micros = now_.time_since_epoch().count() / 1000 % 1'000'000;
    std::tm when{};
    localtime_r(&seconds, &when);
    char buffer[96];
    const std::string_view name = LastComponents(file, 1);
    const int size = std::snprintf(buffer, sizeof buffer, "%c%02d%02d %02d:%02d:%02d.%06lld %7d ", "IWE"[int(severity)],
                                   when.tm_mon + 1, when.tm_mday, when.tm_hour, when.tm_min, when.tm_sec,
                                   static_cast<long long>(micros), static_cast<int>(::getpid()));
    out_.append(buffer, static_cast<size_t>(size));
    out_ += name;
    out_ += ':';
    AppendInteger(out_, line);
    out_ += "] ";
  }

  void JsonField(const LogField& field) {
    out_ += ',';
    AppendJsonString(out_, field.key_);
    out_ += ':';
    if (field.kind_ == LogField::Kind::kText) {
      AppendJsonString(out_, field.text_);
    } else {
      Value(field);
    }
  }

  // Everything but text looks the same in both formats.
  void Value(const LogField& field) {
    switch (field.kind_) {
      case LogField::Kind::kText:
        break;
      case LogField::Kind::kBool:
        out_ += field.integer_ ? "true" : "false";
        break;
      case LogField::Kind::kSigned:
        AppendInteger(out_, field.integer_);
        break;
      case LogField::Kind::kUnsigned:
        AppendInteger(out_, static_cast<uint64_t>(field.integer_));
        break;
      case LogField::Kind::kDouble:
        if (std::isfinite(field.number_)) {
          AppendNumber(out_, field.number_);
        } else {
          AppendJsonString(out_, std::isnan(field.number_) ? "NaN" : field.number_ > 0 ? "+Inf" : "-Inf");
        }
        break;
      case LogField::Kind::kDuration:
        out_ += '"';
        AppendDuration(out_, Duration(field.integer_));
        out_ += '"';
        break;
      case LogField::Kind::kTexts:
        out_ += '[';
        for (const std::string& text : field.texts_) {
          if (&text != field.texts_.data()) out_ += ',';
          AppendJsonString(out_, text);
        }
        out_ += ']';
        break;
    }
  }

  std::string& out_;
  const Time now_;
};

Result<void> ConfigureLog(LogOptions options) {
  Result<std::vector<ModuleLevel>> modules = ParseModules(options.vmodule);
  if (!modules) return modules.error();
  auto settings = std::make_shared<LogSettings>();
  settings->options = std::move(options);
  settings->modules = std::move(*modules);
  Install(std::move(settings));
  return {};
}

bool LogEnabledInFile(int level, const char* file) {
  const std::shared_ptr<const LogSettings> settings = Settings();
  if (level <= settings->options.verbosity) return true;
  const std::string name = ModuleName(file);
  for (const ModuleLevel& module : settings->modules) {
    // The first pattern that fits decides, as in klog.
    if (fnmatch(module.pattern.c_str(), name.c_str(), 0) == 0) return level <= module.level;
  }
  return false;
}

void WriteLog(LogSeverity severity, int level, const char* file, int line, std::string_view message,
              std::initializer_list<LogField> fields) {
  thread_local std::string buffer;
  buffer.clear();
  const std::shared_ptr<const LogSettings> settings = Settings();
  const LogOptions& options = settings->options;
  LogLine log_line(buffer, options.clock ? options.clock->Now() : SystemClock().Now());
  if (options.format == LogFormat::kJson) {
    log_line.Json(severity, level, file, line, message, fields);
  } else {
    log_line.Text(severity, file, line, message, fields);
  }
  if (options.sink) {
    static std::mutex sink_mutex;
    const std::lock_guard lock(sink_mutex);
    options.sink(buffer);
    return;
  }
  WriteAll(options.split_stream && severity != LogSeverity::kError ? STDOUT_FILENO : STDERR_FILENO, buffer);
}

}  // namespace berth::base
