#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "io/cloud_table.h"

/// What the tests of the PLY and PCD readers and of the text writers share.
namespace pc::record_test {

/// A file that lives as long as the object.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& bytes = "", const std::string& extension = ".bin") {
    static std::atomic<int> serial{0};
    path_ = (std::filesystem::temp_directory_path() /
             ("record_test_" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()) +
              "_" + std::to_string(serial++) + extension))
                .string();
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  std::string contents() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

/// Path of a shared data file, or "" when the data are not there.
inline std::string data_file(const std::string& name) {
  const char* const root = std::getenv("APP_TEST_DATA");
  std::string path = std::string(root != nullptr ? root : "../shared/data") + "/" + name;
  return std::filesystem::exists(path) ? path : std::string();
}

/// Runs body(ctx) on `threads` threads.
template <class Body>
auto with_context(int threads, Body&& body) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return body(ctx);
}

/// The error that body() throws; fails the test when it throws none.
template <class Body>
Error error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorCode::kInternal, "nothing was thrown");
}

#define EXPECT_MESSAGE(error, part) \
  EXPECT_NE(std::string((error).what()).find(part), std::string::npos) << (error).what()

inline const io::NamedColumn* find_column(const io::CloudTable& table, const std::string& name) {
  for (const io::NamedColumn& column : table.columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

template <class T>
std::vector<T> values_of(const io::CloudTable& table, const std::string& name) {
  const io::NamedColumn* const column = find_column(table, name);
  if (column == nullptr) {
    ADD_FAILURE() << "no column " << name;
    return {};
  }
  EXPECT_EQ(column->values.dtype(), DTypeOf<T>::value) << name;
  if (column->values.dtype() != DTypeOf<T>::value) return {};
  const auto view = column->values.as<T>();
  return {view.begin(), view.end()};
}

inline std::vector<Vec3d> points_of(const io::CloudTable& table) {
  const auto view = table.positions.view();
  return {view.begin(), view.end()};
}

/// Same rows, same columns, same bits, same counts and warnings.
inline void expect_same(const io::CloudTable& a, const io::CloudTable& b) {
  EXPECT_EQ(points_of(a), points_of(b));
  EXPECT_EQ(a.nonfinite_dropped, b.nonfinite_dropped);
  EXPECT_EQ(a.malformed_dropped, b.malformed_dropped);
  EXPECT_EQ(a.warnings, b.warnings);
  ASSERT_EQ(a.columns.size(), b.columns.size());
  for (std::size_t i = 0; i < a.columns.size(); ++i) {
    EXPECT_EQ(a.columns[i].name, b.columns[i].name);
    EXPECT_EQ(a.columns[i].extra, b.columns[i].extra);
    ASSERT_EQ(a.columns[i].values.dtype(), b.columns[i].values.dtype());
    ASSERT_EQ(a.columns[i].values.bytes(), b.columns[i].values.bytes());
    if (a.columns[i].values.bytes() == 0) continue;
    EXPECT_EQ(
        std::memcmp(a.columns[i].values.data(), b.columns[i].values.data(), a.columns[i].values.bytes()), 0)
        << a.columns[i].name;
  }
}

/// The bytes of a value, reversed for the other byte order.
template <class T>
std::string raw(T value, bool reverse = false) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return reverse ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
}

}  // namespace pc::record_test
