// The tree of an expression, after macro expansion.
//
// Nodes belong to the Ast and are freed with it, all at once: a deep tree is not destroyed recursively. Node ids are
// dense, start at 1, and each has a position.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cel/source.h"

namespace berth::cel {

enum class ExprKind : uint8_t {
  kUnspecified,  // stands for what could not be parsed; never in an Ast without issues
  kLiteral,
  kIdent,
  kSelect,
  kCall,
  kList,
  kMap,
  kStruct,
  kComprehension,
};

struct Literal {
  enum class Kind : uint8_t { kNull, kBool, kInt, kUint, kDouble, kString, kBytes };
  Kind kind = Kind::kNull;
  bool boolean = false;
  int64_t integer = 0;  // also the bits of an unsigned integer
  double number = 0;
  std::string text;
};

struct Expr;

// An entry of a map (key set) or a field of a struct (name set).
struct Entry {
  int id = 0;
  Expr* key = nullptr;
  std::string name;
  Expr* value = nullptr;
  bool optional = false;
};

struct Comprehension {
  Expr* range = nullptr;
  std::string variable;
  std::string second_variable;  // empty: one variable
  std::string accumulator;
  Expr* initial = nullptr;
  Expr* condition = nullptr;
  Expr* step = nullptr;
  Expr* result = nullptr;
};

// The macro call that produced an expression, as written; what Unparse prints.
struct MacroCall {
  std::string function;
  Expr* target = nullptr;
  std::vector<Expr*> arguments;
};

struct Expr {
  int id = 0;
  ExprKind kind = ExprKind::kUnspecified;
  bool test_only = false;  // kSelect: has(x.name)
  int height = 0;          // nesting as the parser counts it
  Literal literal;
  std::string name;              // kIdent; field of kSelect; function of kCall; type of kStruct
  Expr* target = nullptr;        // operand of kSelect; receiver of kCall
  std::vector<Expr*> arguments;  // kCall; elements of kList
  std::vector<bool> optionals;   // kList: which elements are written ?x
  std::vector<Entry> entries;    // kMap, kStruct
  std::unique_ptr<Comprehension> comprehension;
  std::unique_ptr<MacroCall> macro;
};

class Ast {
 public:
  explicit Ast(std::string_view text) : source_(text) {}

  const Source& source() const { return source_; }
  Expr* root() const { return root_; }
  void set_root(Expr* root) { root_ = root; }

  int NewId(int offset) {
    offsets_.push_back(offset);
    return static_cast<int>(offsets_.size());
  }
  Expr* NewExpr(ExprKind kind, int id) {
    Expr& expr = nodes_.emplace_back();
    expr.kind = kind;
    expr.id = id;
    return &expr;
  }
  int max_id() const { return static_cast<int>(offsets_.size()); }
  // -1 if the id has no position of its own.
  int OffsetOf(int id) const { return id >= 1 && id <= max_id() ? offsets_[id - 1] : -1; }
  Location LocationOf(int id) const { return source_.LocationOf(OffsetOf(id)); }

 private:
  Source source_;
  Expr* root_ = nullptr;
  std::vector<int> offsets_;
  std::deque<Expr> nodes_;
};

// Names of operators as functions.
namespace operators {
inline constexpr std::string_view kConditional = "_?_:_";
inline constexpr std::string_view kAnd = "_&&_";
inline constexpr std::string_view kOr = "_||_";
inline constexpr std::string_view kNot = "!_";
inline constexpr std::string_view kEquals = "_==_";
inline constexpr std::string_view kNotEquals = "_!=_";
inline constexpr std::string_view kLess = "_<_";
inline constexpr std::string_view kLessEquals = "_<=_";
inline constexpr std::string_view kGreater = "_>_";
inline constexpr std::string_view kGreaterEquals = "_>=_";
inline constexpr std::string_view kIn = "@in";
inline constexpr std::string_view kAdd = "_+_";
inline constexpr std::string_view kSubtract = "_-_";
inline constexpr std::string_view kMultiply = "_*_";
inline constexpr std::string_view kDivide = "_/_";
inline constexpr std::string_view kModulo = "_%_";
inline constexpr std::string_view kNegate = "-_";
inline constexpr std::string_view kIndex = "_[_]";
inline constexpr std::string_view kOptionalIndex = "_[?_]";
inline constexpr std::string_view kOptionalSelect = "_?._";
inline constexpr std::string_view kNotStrictlyFalse = "@not_strictly_false";
}  // namespace operators

// The dotted name that a chain of selects forms, if any: a.b.c.
bool QualifiedName(const Expr& expr, std::string* name);

}  // namespace berth::cel
