#pragma once
#include <gtest/gtest.h>

#include <string>

#include "io/las.h"
#include "io/las_builder.h"

/// What the LAS tests share: reading in one line, columns by name, error codes.
namespace pc::las_test {

using namespace pc::io;

inline LasCloud read(const std::string& path, const LasReadParams& params = {}, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return read_las(path, params, ctx);
}

inline LasCloud read(const Bytes& bytes, const LasReadParams& params = {}, int threads = 1) {
  const TempFile file("read.las", bytes);
  return read(file.path(), params, threads);
}

inline const NamedColumn* find_column(const CloudTable& table, const std::string& name) {
  for (const NamedColumn& c : table.columns) {
    if (c.name == name) return &c;
  }
  return nullptr;
}

inline const NamedColumn& column(const CloudTable& table, const std::string& name) {
  const NamedColumn* found = find_column(table, name);
  if (found == nullptr) throw std::runtime_error("no column " + name);
  return *found;
}

/// All warnings, one a line.
inline std::string joined(const std::vector<std::string>& warnings) {
  std::string text;
  for (const std::string& w : warnings) text += w + "\n";
  return text;
}

/// The error code an action throws; its message into `what`.
template <class Action>
ErrorCode code_of(Action&& action, std::string* what = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (what != nullptr) *what = error.what();
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::kInternal;
}

/// The element's bytes as an integer.
inline std::uint64_t element_bits(const AnyColumn& c, std::size_t row) {
  std::uint64_t value = 0;
  std::memcpy(&value, c.data() + row * dtype_size(c.dtype()), dtype_size(c.dtype()));
  return value;
}

/// All columns equal, bit for bit.
inline void expect_same(const CloudTable& a, const CloudTable& b, const std::string& what) {
  ASSERT_EQ(a.positions.size(), b.positions.size()) << what;
  ASSERT_EQ(a.columns.size(), b.columns.size()) << what;
  if (a.positions.size() == 0) return;
  EXPECT_EQ(std::memcmp(a.positions.view().data, b.positions.view().data, a.positions.bytes()), 0) << what;
  for (std::size_t i = 0; i < a.columns.size(); ++i) {
    const AnyColumn &x = a.columns[i].values, &y = b.columns[i].values;
    ASSERT_EQ(x.bytes(), y.bytes()) << what;
    EXPECT_EQ(std::memcmp(x.data(), y.data(), x.bytes()), 0) << what << " " << a.columns[i].name;
  }
}

}  // namespace pc::las_test
