// The executable form of an expression: nodes that evaluate themselves and report to the cost count.
//
// Nodes are constant once planned and shared between threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cel/cost.h"
#include "cel/environment.h"
#include "cel/evaluation.h"
#include "cel/regex.h"
#include "cel/value.h"

namespace berth::cel {

struct Attribute;

class Node {
 public:
  explicit Node(int id) : id_(id) {}
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // The id of the value on the cost stack. It may change during planning.
  virtual int id() const { return id_; }
  virtual Value Eval(Evaluation& evaluation) const = 0;
  // Null if the value is not known yet.
  virtual const Value* constant() const { return nullptr; }
  // Null unless the node is a variable, or selects fields and elements of something.
  virtual Attribute* attribute() const { return nullptr; }

 private:
  int id_;
};

class ConstantNode final : public Node {
 public:
  ConstantNode(int id, const Value& value) : Node(id), value_(value) {}
  Value Eval(Evaluation& evaluation) const override;
  const Value* constant() const override { return &value_; }

 private:
  Value value_;
};

// A variable: the environment's own, or one of a loop.
struct VariableReference {
  enum class Kind : uint8_t { kEnvironment, kAccumulator, kFirst, kSecond };
  Kind kind = Kind::kEnvironment;
  int fold = 0;
};

// A field or element in a chain: a constant key, or a computed one.
struct Qualifier {
  int id = 0;
  bool optional = false;
  bool test_only = false;
  Value key;
  Attribute* attribute = nullptr;  // computes the key if set
};

// x.y[z]: a start and qualifiers. Several nodes may share one.
struct Attribute {
  enum class Kind : uint8_t { kVariable, kOperand, kConditional };
  Kind kind = Kind::kVariable;
  int own_id = 0;
  VariableReference variable;
  const Node* operand = nullptr;  // kOperand; the condition of kConditional
  Attribute* if_true = nullptr;
  Attribute* if_false = nullptr;
  std::vector<Qualifier> qualifiers;

  // The id of the last qualifier.
  int id() const;
  void Add(const Qualifier& qualifier);
  // The value, or an error; without the observation of the attribute itself.
  Value Resolve(Evaluation& evaluation) const;
};

class AttributeNode final : public Node {
 public:
  explicit AttributeNode(Attribute* attribute) : Node(attribute->own_id), attribute_(attribute) {}
  int id() const override { return test_only_ ? test_id_ : attribute_->id(); }
  Value Eval(Evaluation& evaluation) const override;
  Attribute* attribute() const override { return attribute_; }
  void MakeTest(int id) {
    test_only_ = true;
    test_id_ = id;
  }

 private:
  Attribute* attribute_;
  bool test_only_ = false;
  int test_id_ = 0;
};

// && and ||.
class LogicNode final : public Node {
 public:
  LogicNode(int id, bool decisive, const Node* left, const Node* right)
      : Node(id), decisive_(decisive), left_(left), right_(right) {}
  Value Eval(Evaluation& evaluation) const override;

 private:
  bool decisive_;  // the value that decides it: true for ||
  const Node* left_;
  const Node* right_;
};

class EqualityNode final : public Node {
 public:
  EqualityNode(int id, bool negated, const Node* left, const Node* right)
      : Node(id), negated_(negated), left_(left), right_(right) {}
  Value Eval(Evaluation& evaluation) const override;

 private:
  bool negated_;
  const Node* left_;
  const Node* right_;
};

// What a call runs: one overload, one function for all of them, or a choice at run time.
struct Callee {
  const Function* function = nullptr;
  const Overload* overload = nullptr;  // null: by function
  CallStyle style = CallStyle::kVariadic;
  bool non_strict = false;
  CostRule cost = CostRule::kOne;

  Value Invoke(Evaluation& evaluation, std::span<const Value> arguments) const;
};

class CallNode final : public Node {
 public:
  CallNode(int id, Callee callee, std::vector<const Node*> arguments)
      : Node(id), callee_(callee), arguments_(std::move(arguments)) {}
  Value Eval(Evaluation& evaluation) const override;

 private:
  Value Call(Evaluation& evaluation) const;

  Callee callee_;
  std::vector<const Node*> arguments_;
};

// matches, find and findAll with a constant pattern.
class RegexNode final : public Node {
 public:
  enum class Operation : uint8_t { kMatches, kFind, kFindAll };
  RegexNode(int id, Operation operation, std::shared_ptr<const Regex> regex, CostRule cost,
            std::vector<const Node*> arguments)
      : Node(id), operation_(operation), regex_(std::move(regex)), cost_(cost), arguments_(std::move(arguments)) {}
  Value Eval(Evaluation& evaluation) const override;

 private:
  Value Call(Evaluation& evaluation) const;

  Operation operation_;
  std::shared_ptr<const Regex> regex_;
  CostRule cost_;
  std::vector<const Node*> arguments_;
};

class ListNode final : public Node {
 public:
  ListNode(int id, std::vector<const Node*> elements, std::vector<bool> optionals)
      : Node(id), elements_(std::move(elements)), optionals_(std::move(optionals)) {}
  Value Eval(Evaluation& evaluation) const override;

 private:
  Value Build(Evaluation& evaluation) const;

  std::vector<const Node*> elements_;
  std::vector<bool> optionals_;
};

class MapNode final : public Node {
 public:
  struct Entry {
    const Node* key;
    const Node* value;
    bool optional;
  };
  MapNode(int id, std::vector<Entry> entries) : Node(id), entries_(std::move(entries)) {}
  Value Eval(Evaluation& evaluation) const override;

 private:
  Value Build(Evaluation& evaluation) const;

  std::vector<Entry> entries_;
};

// Type{field: value}.
class StructNode final : public Node {
 public:
  struct Field {
    std::string name;
    bool optional;
  };
  StructNode(int id, std::string type, std::vector<Field> fields, std::vector<const Node*> values)
      : Node(id), type_(std::move(type)), fields_(std::move(fields)), values_(std::move(values)) {}
  Value Eval(Evaluation& evaluation) const override;

 private:
  Value Build(Evaluation& evaluation) const;

  std::string type_;
  std::vector<Field> fields_;
  std::vector<const Node*> values_;
};

// x in [constants]: has no cost.
class MembershipNode final : public Node {
 public:
  MembershipNode(int id, const Node* element, std::vector<Value> members);
  Value Eval(Evaluation& evaluation) const override;

 private:
  const Node* element_;
  std::vector<Value> members_;  // sorted
};

// optional.or and orValue: the right side is evaluated only when needed.
class OptionalOrNode final : public Node {
 public:
  OptionalOrNode(int id, bool unwrap, const Node* left, const Node* right)
      : Node(id), unwrap_(unwrap), left_(left), right_(right) {}
  Value Eval(Evaluation& evaluation) const override;

 private:
  bool unwrap_;
  const Node* left_;
  const Node* right_;
};

// The loop behind macros.
class FoldNode final : public Node {
 public:
  struct Parts {
    const Node* range = nullptr;
    const Node* initial = nullptr;
    const Node* condition = nullptr;
    const Node* step = nullptr;
    const Node* result = nullptr;
    bool two_variables = false;
    int index = 0;
  };
  FoldNode(int id, const Parts& parts) : Node(id), parts_(parts) {}
  Value Eval(Evaluation& evaluation) const override;
  const Node* initial() const { return parts_.initial; }
  int index() const { return parts_.index; }
  // The accumulator; its initial value is computed on first use.
  static Value Accumulator(Evaluation& evaluation, Frame& frame);

 private:
  Value Run(Evaluation& evaluation, Frame& frame) const;
  // False when the loop ends here.
  bool Iterate(Evaluation& evaluation, Frame& frame) const;
  Value Result(Evaluation& evaluation, Frame& frame) const;

  Parts parts_;
};

// Whether a value may have a declared type at run time. For lists and maps only the first element is checked.
bool IsRuntimeType(const Type& type, const Value& value, Arena& arena);

}  // namespace berth::cel
