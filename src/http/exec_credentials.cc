#include "http/exec_credentials.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "codec/decode.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "http/exec_credentials_format.h"

extern char** environ;

namespace berth::http {
namespace {

constexpr std::string_view kHelp =
    "\n\nIt looks like you are trying to use a client-go credential plugin that is not installed.\n\n"
    "To learn more about this feature, consult the documentation available at:\n"
    "      https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins";
// The hint is long: a program that retries every second must not fill its log with it.
constexpr int kHintsPerHour = 10;

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t size = read(fd, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(buffer, static_cast<size_t>(size));
  }
}

int WaitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

ExecCredentials::ExecCredentials(ExecConfig config, ClusterEntry cluster, const base::Clock& clock,
                                 ExecObserver observer)
    : config_(std::move(config)), cluster_(std::move(cluster)), clock_(clock), observer_(std::move(observer)) {}

CredentialsPtr ExecCredentials::Current() {
  const base::Time now = clock_.Now();
  const std::lock_guard lock(mutex_);
  return expires_ && now > *expires_ ? nullptr : current_;
}

bool ExecCredentials::Refuse(const CredentialsPtr& refused) {
  const std::lock_guard lock(mutex_);
  // Another request's 401 may already have led to new ones.
  if (current_ == refused) current_ = nullptr;
  return true;
}

void ExecCredentials::Interrupt() {
  const std::lock_guard lock(mutex_);
  if (child_ != 0) kill(child_leads_group_ ? -child_ : child_, SIGKILL);
}

Result<CredentialsPtr> ExecCredentials::Fetch() {
  const std::lock_guard one_at_a_time(running_);
  if (CredentialsPtr fetched_meanwhile = Current()) return fetched_meanwhile;
  const Result<bool> interactive = IsInteractive();
  if (!interactive) return interactive.error();
  Result<std::string> output = Run(*interactive);
  if (!output) return output.error();
  std::optional<base::Time> expires;
  Result<CredentialsPtr> fresh = Parse(std::move(*output), expires);
  if (!fresh) return fresh;
  const std::lock_guard lock(mutex_);
  current_ = *fresh;
  expires_ = expires;
  return fresh;
}

Result<bool> ExecCredentials::IsInteractive() const {
  const bool terminal = isatty(STDIN_FILENO) == 1;
  switch (config_.interactive_mode) {
    case ExecConfig::InteractiveMode::kNever:
      return false;
    case ExecConfig::InteractiveMode::kIfAvailable:
      return terminal;
    case ExecConfig::InteractiveMode::kAlways:
      break;
  }
  if (terminal) return true;
  return Error::Unavailable("exec plugin cannot support interactive mode: standard input is not a terminal");
}

std::vector<std::string> ExecCredentials::Environment(bool interactive) const {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = name == "KUBERNETES_EXEC_INFO";
    for (const auto& [own, value] : config_.env) replaced = replaced || name == own;
    if (!replaced) environment.emplace_back(text);
  }
  for (const auto& [name, value] : config_.env) environment.push_back(name + "=" + value);
  environment.push_back("KUBERNETES_EXEC_INFO=" + ExecInfo(config_, cluster_, interactive));
  return environment;
}

Error ExecCredentials::NotFound() {
  std::string message = fmt::format("exec: executable {} not found", config_.command);
  const base::Time now = clock_.Now();
  const std::lock_guard lock(mutex_);
  if (now - hints_since_ >= std::chrono::hours(1)) {
    hints_since_ = now;
    hints_given_ = 0;
  }
  if (hints_given_++ < kHintsPerHour) {
    message += kHelp;
    if (!config_.install_hint.empty()) message += "\n\n" + config_.install_hint;
  }
  return Error::Unavailable(std::move(message));
}

Result<pid_t> ExecCredentials::Spawn(bool interactive, int output) {
  std::vector<std::string> arguments = {config_.command};
  arguments.insert(arguments.end(), config_.args.begin(), config_.args.end());
  std::vector<std::string> environment = Environment(interactive);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  // The plugin must not inherit the signals that this thread blocks or ignores.
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  if (!interactive) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // In its own process group, a plugin can be killed together with its children; but a plugin that reads from the
    // terminal has to stay in the terminal's foreground group.
    posix_spawnattr_setpgroup(&attributes, 0);
    flags |= POSIX_SPAWN_SETPGROUP;
  }
  posix_spawnattr_setflags(&attributes, flags);

  const std::lock_guard lock(mutex_);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, config_.command.c_str(), &actions, &attributes, Pointers(arguments).data(),
                                  Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed == ENOENT) return Error{ErrorCode::kNotFound, {}};
  if (failed != 0) return Error::Unavailable(fmt::format("exec: {}: {}", config_.command, std::strerror(failed)));
  child_ = child;
  child_leads_group_ = !interactive;
  return child;
}

Result<std::string> ExecCredentials::Run(bool interactive) {
  const auto observe = [&](std::string_view status, int code) {
    if (observer_) observer_(status, code);
  };
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    observe("client_internal_error", 1);
    return Error::Unavailable(fmt::format("exec: {}", std::strerror(errno)));
  }
  const Result<pid_t> child = Spawn(interactive, pipe_ends[1]);
  close(pipe_ends[1]);
  std::string output = child ? ReadAll(pipe_ends[0]) : "";
  close(pipe_ends[0]);
  if (!child) {
    const bool absent = child.error().code == ErrorCode::kNotFound;
    observe(absent ? "plugin_not_found_error" : "client_internal_error", 1);
    return absent ? NotFound() : child.error();
  }
  siginfo_t ended{};
  // WNOWAIT keeps the process ID reserved until nobody can signal it any more.
  while (waitid(P_PID, static_cast<id_t>(*child), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  {
    const std::lock_guard lock(mutex_);
    child_ = 0;
  }
  const int status = WaitFor(*child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    observe("no_error", 0);
    return output;
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  observe("plugin_execution_error", code);
  return Error::Unavailable(fmt::format("exec: executable {} failed with exit code {}", config_.command, code));
}

Result<CredentialsPtr> ExecCredentials::Parse(std::string output, std::optional<base::Time>& expires) const {
  const auto unusable = [](std::string why) { return Error::Unavailable(std::move(why)); };
  Result<std::vector<codec::Document>> documents = codec::ParseYaml(output, "stdout of " + config_.command);
  if (!documents) return unusable("decoding stdout: " + documents.error().message);
  if (documents->size() != 1) return unusable("decoding stdout: expected an ExecCredential, found nothing");
  Result<ExecCredential> decoded = codec::DecodeDocument<ExecCredential>(documents->front(), {});
  if (!decoded) return unusable("decoding stdout: " + decoded.error().message);
  if (decoded->kind != "ExecCredential") {
    return unusable(fmt::format("decoding stdout: expected kind ExecCredential, found \"{}\"", decoded->kind));
  }
  if (decoded->api_version != config_.api_version) {
    return unusable(fmt::format("exec plugin is configured to use API version {}, plugin returned version {}",
                                config_.api_version, decoded->api_version));
  }
  if (!decoded->status) return unusable("exec plugin didn't return a status field");
  ExecStatus& status = *decoded->status;
  const bool has_certificate = !status.client_certificate_data.empty(), has_key = !status.client_key_data.empty();
  if (status.token.empty() && !has_certificate && !has_key) {
    return unusable("exec plugin didn't return a token or cert/key pair");
  }
  if (has_certificate != has_key) return unusable("exec plugin returned only certificate or key, not both");
  if (has_certificate) {
    Result<void> pair = CheckKeyPair(status.client_certificate_data, status.client_key_data);
    if (!pair) return unusable(pair.error().message);
  }
  expires = status.expiration_timestamp;
  auto credentials = std::make_shared<Credentials>();
  if (!status.token.empty()) credentials->authorization = "Bearer " + status.token;
  credentials->client_certificate = std::move(status.client_certificate_data);
  credentials->client_key = std::move(status.client_key_data);
  return CredentialsPtr(std::move(credentials));
}

}  // namespace berth::http
