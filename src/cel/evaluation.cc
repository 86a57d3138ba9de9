#include "cel/evaluation.h"

#include <string>

namespace berth::cel {

void Evaluation::Begin(int max_id, int folds, const Value& variable) {
  arena_.Clear();
  keyed_.clear();
  cost_ = 0;
  work_ = 0;
  variable_ = variable;
  stack_.clear();
  heads_.assign(static_cast<size_t>(max_id) + 1, -1);
  frames_.assign(static_cast<size_t>(folds), nullptr);
}

bool Evaluation::DropArguments(std::span<const int> ids, Value* values) {
  for (size_t i = ids.size(); i-- > 0;) {
    const int position = heads_[static_cast<size_t>(ids[i])];
    if (position < 0) return false;
    values[i] = stack_[static_cast<size_t>(position)].value;
    Truncate(static_cast<size_t>(position));
  }
  return true;
}

void Panic(Evaluation& evaluation, std::string_view text) {
  const std::string_view message = evaluation.arena().Copy("internal error: " + std::string(text) + '\0');
  throw Cancelled{message.data()};
}

}  // namespace berth::cel
