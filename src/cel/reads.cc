#include "cel/reads.h"

#include <algorithm>

namespace berth::cel {
namespace {

// attributes and capacity hold a map of maps; driver and allowMultipleAllocations are plain.
constexpr size_t kDepth = 3;

bool IsMapOfMaps(const std::string& field) { return field == "attributes" || field == "capacity"; }

bool IsComplete(const Path& path) {
  if (path.empty()) return false;
  return IsMapOfMaps(path[0]) ? path.size() >= kDepth : true;
}

class Reader {
 public:
  explicit Reader(const Plan& plan) : plan_(plan), bound_(static_cast<size_t>(plan.folds)) {}

  std::optional<std::vector<Path>> Run() {
    // Bindings first, outer before inner: the meaning of a name is known before it is used.
    for (const FoldNode* fold : plan_.bindings) {
      if (fold != nullptr) Bind(*fold);
    }
    for (const Attribute& attribute : plan_.attributes) {
      if (!Read(attribute)) return std::nullopt;
    }
    std::sort(reads_.begin(), reads_.end());
    reads_.erase(std::unique(reads_.begin(), reads_.end()), reads_.end());
    return std::move(reads_);
  }

 private:
  // The path an attribute starts from: known, and empty for the variable itself. Unset if it starts elsewhere.
  std::optional<Path> StartOf(const Attribute& attribute) const {
    if (attribute.kind != Attribute::Kind::kVariable) return std::nullopt;
    if (attribute.variable.kind == VariableReference::Kind::kEnvironment) return Path();
    if (attribute.variable.kind != VariableReference::Kind::kAccumulator) return std::nullopt;
    return bound_[static_cast<size_t>(attribute.variable.fold)];
  }

  // Appends the constant keys from the start on, as far as they matter.
  static void Follow(const Attribute& attribute, Path& path) {
    for (const Qualifier& qualifier : attribute.qualifiers) {
      if (IsComplete(path) || qualifier.attribute != nullptr || qualifier.key.kind() != Kind::kString) return;
      path.emplace_back(qualifier.key.text());
    }
  }

  // cel.bind(name, device.attributes["x"], …): the name stands for that path where it is used.
  void Bind(const FoldNode& fold) {
    const Attribute* initial = fold.initial()->attribute();
    if (initial == nullptr) return;
    std::optional<Path> path = StartOf(*initial);
    if (!path) return;
    const size_t before = path->size();
    Follow(*initial, *path);
    const bool followed_all = path->size() - before == initial->qualifiers.size();
    const bool optional = std::any_of(initial->qualifiers.begin(), initial->qualifiers.end(),
                                      [](const Qualifier& q) { return q.optional || q.test_only; });
    if (!followed_all || optional || IsComplete(*path)) return;
    bound_[static_cast<size_t>(fold.index())] = std::move(path);
    bindings_.push_back(initial);
  }

  bool Read(const Attribute& attribute) {
    std::optional<Path> path = StartOf(attribute);
    if (!path) return true;  // not from the variable
    // The initial value of a binding reads nothing by itself.
    if (std::find(bindings_.begin(), bindings_.end(), &attribute) != bindings_.end()) return true;
    Follow(attribute, *path);
    if (!IsComplete(*path)) return false;
    path->resize(IsMapOfMaps((*path)[0]) ? kDepth : 1);
    reads_.push_back(*std::move(path));
    return true;
  }

  const Plan& plan_;
  std::vector<std::optional<Path>> bound_;
  std::vector<const Attribute*> bindings_;
  std::vector<Path> reads_;
};

}  // namespace

std::optional<std::vector<Path>> FindReads(const Plan& plan) { return Reader(plan).Run(); }

}  // namespace berth::cel
