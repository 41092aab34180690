#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"

/// Conversions between columns and vectors, and common assertions of op tests.
namespace pc::test {

template <class T>
Column<T> typed_column(const std::vector<T>& values) {
  Column<T> column(values.size());
  std::copy(values.begin(), values.end(), column.view().begin());
  return column;
}

template <class T>
AnyColumn column_of(const std::vector<T>& values) {
  return AnyColumn(typed_column(values));
}

template <class T>
std::vector<T> values_of(const AnyColumn& column) {
  return {column.as<T>().begin(), column.as<T>().end()};
}

template <class T>
Span<const T> span_of(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

/// The bytes of a column: NaN payloads and signs of zero count.
inline std::string bytes_of(const AnyColumn& column) {
  return {reinterpret_cast<const char*>(column.data()), column.bytes()};
}

/// Runs `call`, which must throw, and returns the error code (and the message, if requested).
inline ErrorCode code_of(const std::function<void()>& call, std::string* message = nullptr) {
  try {
    call();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
  ADD_FAILURE() << "no error was thrown";
  return ErrorCode::kInternal;
}

}  // namespace pc::test
