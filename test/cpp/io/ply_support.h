#pragma once
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "io/ply.h"
#include "io/record_support.h"

/// What the tests of the PLY reader share.
namespace pc::record_test {

using io::CloudTable;
using io::kAllRows;
using io::PlyReadParams;

inline CloudTable read_path(const std::string& path, PlyReadParams params = {{}, 0, kAllRows},
                            int threads = 2) {
  return with_context(threads, [&](OpContext& ctx) { return io::read_ply(path, params, ctx); });
}

inline CloudTable read(const std::string& bytes, PlyReadParams params = {{}, 0, kAllRows}, int threads = 2) {
  return read_path(ScratchFile(bytes, ".ply").path(), params, threads);
}

inline constexpr const char* kFormats[] = {"ascii", "binary_little_endian", "binary_big_endian"};

/// Header of one vertex element with the given properties ("float x", ...).
inline std::string header(const std::string& format, std::size_t count,
                          const std::vector<std::string>& properties) {
  std::string text = "ply\nformat " + format + " 1.0\nelement vertex " + std::to_string(count) + "\n";
  for (const std::string& property : properties) text += "property " + property + "\n";
  return text + "end_header\n";
}

/// A value as a file of the format has it.
template <class T>
std::string encode(const std::string& format, T value) {
  if (format != "ascii") return raw(value, format == "binary_big_endian");
  std::ostringstream text;
  text.precision(17);
  text << +value << ' ';
  return text.str();
}

inline std::string row_end(const std::string& format) { return format == "ascii" ? "\n" : ""; }

inline const std::vector<std::string> kXyz = {"float x", "float y", "float z"};

/// Faces of different lengths before the vertices, a list between their scalars, and an element after them.
inline std::string mixed_file(const std::string& format) {
  std::string f =
      "ply\nformat " + format +
      " 1.0\nelement face 2\nproperty list uchar int vertex_indices\nproperty short tag\n"
      "element empty 9\nelement fixed 3\nproperty double a\nelement vertex 3\nproperty float x\n"
      "property list ushort double neighbours\nproperty float y\nproperty uchar class\nproperty float z\n"
      "element tail 1\nproperty int t\nend_header\n";
  const auto add = [&](auto v) { f += encode(format, v); };
  for (const int length : {3, 0}) {
    add(static_cast<std::uint8_t>(length));
    for (int i = 0; i < length; ++i) add(i);
    add(static_cast<std::int16_t>(5));
    f += row_end(format);
  }
  for (int i = 0; i < 3; ++i) {
    add(i + 0.5);
    f += row_end(format);
  }
  for (int i = 0; i < 3; ++i) {
    add(static_cast<float>(i));
    add(static_cast<std::uint16_t>(i * 2));
    for (int k = 0; k < i * 2; ++k) add(-1.25);
    add(static_cast<float>(10 + i));
    add(static_cast<std::uint8_t>(100 + i));
    add(static_cast<float>(20 + i));
    f += row_end(format);
  }
  add(77);
  return f + row_end(format);
}

}  // namespace pc::record_test
