// Result<T>: a value, or an Error that says what was expected, what was found and where.
// For whatever the outside world can break; a broken invariant of our own is a CHECK.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace berth::base {

enum class ErrorCode {
  kInvalidArgument,   // the input is wrong and will stay wrong
  kNotFound,          // the thing named does not exist
  kAlreadyExists,     // the name is taken
  kConflict,          // the thing changed since it was read
  kUnavailable,       // trying again later may help
  kDeadlineExceeded,  // no answer in time
  kUnsupported,       // understood, but not done by this program
  kInternal,          // a fault of this program
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  static Error InvalidArgument(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }
  static Error NotFound(std::string message) { return {ErrorCode::kNotFound, std::move(message)}; }
  static Error AlreadyExists(std::string message) { return {ErrorCode::kAlreadyExists, std::move(message)}; }
  static Error Conflict(std::string message) { return {ErrorCode::kConflict, std::move(message)}; }
  static Error Unavailable(std::string message) { return {ErrorCode::kUnavailable, std::move(message)}; }
  static Error Unsupported(std::string message) { return {ErrorCode::kUnsupported, std::move(message)}; }
  static Error Internal(std::string message) { return {ErrorCode::kInternal, std::move(message)}; }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit, so that `return value;` works
  Result(Error error) : state_(std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return CHECK(ok()), std::get<0>(state_); }
  const T& value() const& { return CHECK(ok()), std::get<0>(state_); }
  T&& value() && { return CHECK(ok()), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return CHECK(!ok()), std::get<1>(state_); }
  Error&& error() && { return CHECK(!ok()), std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return CHECK(!ok()), *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace berth::base

namespace berth {
using base::Error;
using base::ErrorCode;
using base::Result;
}  // namespace berth
