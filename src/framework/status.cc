#include "framework/status.h"

namespace berth::framework {

std::string_view NameOf(Code code) {
  switch (code) {
    case Code::kSuccess:
      return "Success";
    case Code::kError:
      return "Error";
    case Code::kUnschedulable:
      return "Unschedulable";
    case Code::kUnschedulableAndUnresolvable:
      return "UnschedulableAndUnresolvable";
    case Code::kWait:
      return "Wait";
    case Code::kSkip:
      return "Skip";
    case Code::kPending:
      return "Pending";
  }
  return "Unknown";
}

Status::Status(Code code, std::vector<std::string> reasons, std::vector<Shortfall> shortfalls) {
  if (code == Code::kSuccess) return;
  rep_ = std::make_shared<const Rep>(Rep{code, std::move(reasons), std::move(shortfalls), {}});
}

bool Status::IsRejected() const {
  const Code c = code();
  return c == Code::kUnschedulable || c == Code::kUnschedulableAndUnresolvable || c == Code::kPending;
}

const std::vector<std::string>& Status::reasons() const {
  static const std::vector<std::string> kNone;
  return rep_ ? rep_->reasons : kNone;
}

const std::vector<Shortfall>& Status::shortfalls() const {
  static const std::vector<Shortfall> kNone;
  return rep_ ? rep_->shortfalls : kNone;
}

std::string Status::Message() const {
  std::string message;
  for (const std::string& reason : reasons()) {
    if (!message.empty()) message += ", ";
    message += reason;
  }
  return message;
}

Status Status::WithPlugin(std::string_view plugin) const {
  if (!rep_ || rep_->plugin == plugin) return *this;
  Rep rep = *rep_;
  rep.plugin = plugin;
  Status status;
  status.rep_ = std::make_shared<const Rep>(std::move(rep));
  return status;
}

bool operator==(const Status& a, const Status& b) {
  return a.rep_ == b.rep_ || (a.code() == b.code() && a.plugin() == b.plugin() && a.reasons() == b.reasons());
}

}  // namespace berth::framework
