#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/deflate.h"
#include "fuzz/fuzz_target.h"
#include "io/archive/npy.h"
#include "io/archive/zcol.h"

namespace pc::fuzz {

namespace {

using Bytes = std::vector<std::uint8_t>;

/// The whole file as a member whose CRC-32 is right, so that damage reaches the code behind that check.
io::MemberRange whole_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  const auto sum = crc32(0, {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  return {path, 0, bytes.size(), sum};
}

Bytes column_file(const AnyColumn& column, io::ZcolHeader header) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const std::string text = io::zcol_header_text(header, false);
  Bytes file(text.begin(), text.end());
  const auto blocks = io::zcol_blocks(column, header, 0, header.blocks(), ctx);
  file.insert(file.end(), blocks.view().begin(), blocks.view().end());
  return file;
}

std::vector<Bytes> zcol_seeds() {
  std::vector<Bytes> seeds;
  for (const DType dtype :
       {DType::kU8, DType::kI16, DType::kRgb16, DType::kF32, DType::kF64, DType::kVec3d}) {
    for (const auto filter :
         {io::ColumnFilter::kNone, io::ColumnFilter::kShuffle, io::ColumnFilter::kDeltaShuffle}) {
      AnyColumn column(dtype, 50);
      for (std::size_t i = 0; i < column.bytes(); ++i) column.data()[i] = static_cast<std::byte>(i * i % 251);
      seeds.push_back(column_file(column, {dtype, 50, filter, 16}));
    }
  }
  seeds.push_back(column_file(AnyColumn(DType::kF64, 0), {DType::kF64, 0, io::ColumnFilter::kShuffle, 7}));
  return seeds;
}

Bytes npy_file(std::string header, std::size_t bytes) {
  header += '\n';
  std::string file = "\x93NUMPY\x01";
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  for (std::size_t i = 0; i < bytes; ++i) file += static_cast<char>(i * 37);
  return {file.begin(), file.end()};
}

std::vector<Bytes> npy_seeds() {
  return {npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (5, 3), }", 120),
          npy_file("{'descr': '|u1', 'fortran_order': False, 'shape': (9,), }", 9),
          npy_file("{'descr': '<i4', 'fortran_order': False, 'shape': (), }", 4),
          npy_file("{\"shape\": (0,), \"fortran_order\": False, \"descr\": \"<u2\"}", 0)};
}

}  // namespace

FuzzTarget zcol_target() {
  return {"zcol", zcol_seeds, [](const std::string& path, OpContext& ctx) {
            io::verify_zcol(whole_file(path), std::nullopt, ctx);
            io::read_zcol(whole_file(path), std::nullopt, ctx);
          }};
}

FuzzTarget npy_target() {
  return {"npy", npy_seeds,
          [](const std::string& path, OpContext& ctx) { io::read_npy(whole_file(path), std::nullopt, ctx); }};
}

}  // namespace pc::fuzz
