#include <exception>
#include <string>
#include <vector>

#include "core/error.h"
#include "fuzz/fuzz_target.h"
#include "io/ply.h"

namespace pc::fuzz {

namespace {

std::vector<std::uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }

std::string binary(const std::string& format, const std::string& properties, int rows, int row_bytes) {
  std::string text = "ply\nformat " + format + " 1.0\nelement vertex " + std::to_string(rows) + "\n" +
                     properties + "end_header\n";
  for (int i = 0; i < rows * row_bytes; ++i) text += static_cast<char>(i % row_bytes == 12 ? 2 : i * 37);
  return text;
}

std::vector<std::vector<std::uint8_t>> ply_seeds() {
  const std::string xyz = "property float x\nproperty float y\nproperty float z\n";
  const std::string head = "ply\nformat ascii 1.0\n";
  return {
      bytes(head + "element vertex 3\n" + xyz +
            "property uchar red\nproperty uchar green\nproperty uchar blue\n" +
            "end_header\n1 2 3 4 5 6\n1e5 nan 3 255 0 0\n-1.5 .5 7 1 1 1\n"),
      bytes(head + "comment c\nelement face 1\nproperty list uchar int vertex_indices\nelement vertex 2\n" +
            xyz +
            "property list char float l\nproperty double t\nend_header\n3 0 1 2\n1 2 3 2 9 9 0.1\n4 5 6 0 "
            "0.2\n"),
      bytes("ply\r\nformat ascii 1.0\r\nelement vertex 1\r\nproperty int8 x\r\nproperty uint16 y\r\nproperty "
            "float64 "
            "z\r\nend_header\r\n1 2 3\r\n"),
      bytes(binary("binary_little_endian", xyz + "property ushort r\nproperty ushort g\nproperty ushort b\n",
                   5, 18)),
      bytes(binary("binary_big_endian", xyz + "property list uchar short l\nproperty int label\n", 4, 21)),
      bytes(binary("binary_little_endian", "property list uchar uchar l\n" + xyz, 9, 13)),
  };
}

void read_ply_file(const std::string& path, OpContext& ctx) {
  std::exception_ptr refusal;
  const auto attempt = [&](auto&& body) {
    try {
      body();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCanceled) throw;
      refusal = std::current_exception();
    }
  };
  attempt([&] { io::read_ply_sample_rows(path, io::read_ply_header(path), 20, ctx); });
  attempt([&] { io::read_ply(path, {{0.3048, {1e7, -1e7, 0}}, 0, io::kAllRows}, ctx); });
  attempt([&] { io::read_ply(path, {{}, 1, 2}, ctx); });
  if (refusal) std::rethrow_exception(refusal);
}

}  // namespace

FuzzTarget ply_target() { return {"ply", ply_seeds, read_ply_file}; }

}  // namespace pc::fuzz
