#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/column.h"
#include "io/ascii_table.h"

/// What the tests of the text table reader share.
namespace pc::text_test {

using pc::DType;
using pc::io::CloudTable;
using pc::io::TextColumnType;
using pc::io::TextDelimiter;
using pc::io::TextReadParams;

/// A file that lives as long as the object.
class TextFile {
 public:
  explicit TextFile(const std::string& text) {
    static std::atomic<int> serial{0};
    path_ =
        (std::filesystem::temp_directory_path() /
         ("ascii_table_test_" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()) +
          "_" + std::to_string(serial++) + ".txt"))
            .string();
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline TextReadParams layout(TextDelimiter delimiter, std::uint32_t columns, std::uint64_t skip = 0) {
  TextReadParams p{delimiter, false, skip, columns, 0, 1, 2, {}, {}, 0};
  for (std::uint32_t i = 3; i < columns; ++i)
    p.columns.push_back({i, "c" + std::to_string(i), TextColumnType::kAuto});
  return p;
}

inline CloudTable read(const std::string& path, const TextReadParams& params,
                       std::size_t chunk = pc::io::kTextChunkBytes, int threads = 2) {
  pc::JobControl control;
  pc::OpContext ctx(control, pc::Device::kCpu, threads);
  return pc::io::read_text(path, params, chunk, ctx);
}

inline CloudTable read_string(const std::string& text, const TextReadParams& params) {
  const TextFile file(text);
  return read(file.path(), params);
}

inline pc::io::TextSample sample(const std::string& text, std::size_t lines = 100) {
  const TextFile file(text);
  pc::JobControl control;
  pc::OpContext ctx(control, pc::Device::kCpu, 1);
  return pc::io::sample_text(file.path(), lines, ctx);
}

template <class Body>
std::string error_of(pc::ErrorCode code, Body&& body) {
  try {
    body();
  } catch (const pc::Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline bool warns(const CloudTable& table, const std::string& part) {
  for (const auto& w : table.warnings) {
    if (mentions(w, part)) return true;
  }
  return false;
}

inline std::string all_warnings(const CloudTable& table) {
  std::string text;
  for (const auto& w : table.warnings) text += w + "\n";
  return text;
}

/// Every byte of the result, for equality.
inline std::string fingerprint(const CloudTable& t) {
  std::string text(reinterpret_cast<const char*>(t.positions.view().data), t.positions.bytes());
  for (const auto& c : t.columns) {
    text += c.name + pc::dtype_name(c.values.dtype());
    text.append(reinterpret_cast<const char*>(c.values.data()), c.values.bytes());
  }
  return text + std::to_string(t.malformed_dropped) + "/" + std::to_string(t.nonfinite_dropped) +
         all_warnings(t);
}

inline double at(const CloudTable& t, std::size_t column, std::size_t row) {
  return pc::visit_scalar(t.columns[column].values,
                          [&](auto view) { return static_cast<double>(view[row]); });
}

}  // namespace pc::text_test
