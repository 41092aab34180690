#include "fuzz/fuzz_target.h"
#include "io/las.h"
#include "io/laz_builder.h"
#include "io/laz_v1_encode.h"

namespace pc::fuzz {

namespace {

using namespace las_test;

/// Every compressor, item version, kind of chunk table and family of formats.
std::vector<std::vector<std::uint8_t>> seeds() {
  std::vector<std::vector<std::uint8_t>> files;
  const auto add = [&](int format, std::uint64_t rows, std::uint16_t extra_bytes, const LazOptions& options) {
    LasFile file;
    file.format = format;
    file.extra_bytes = extra_bytes;
    scan_points(file, rows, files.size());
    files.push_back(compress(file, options));
  };
  LazOptions small;
  small.chunk_rows = 7;
  for (int format = 0; format <= 10; ++format) {
    small.layered_version = 3 + format % 2;
    small.variable = format % 3 == 1;
    small.table = static_cast<ChunkTable>(small.variable && format < 6 ? format % 3 : format % 5);
    add(format, 20, static_cast<std::uint16_t>(format % 4), small);
  }
  LazOptions pointwise;
  pointwise.pointwise = true;
  for (const int format : {0, 3, 5}) add(format, 40, 2, pointwise);
  LasFile old;
  old.format = 3;
  old.extra_bytes = 2;
  scan_points(old, 60, 1);
  files.push_back(compress_v1(old));
  LazOptions large;
  large.chunk_rows = 900;
  for (const int format : {3, 8}) add(format, 3000, 1, large);
  return files;
}

void read(const std::string& path, OpContext& ctx) {
  io::read_las_header(path);
  io::LasReadParams part;
  part.first_row = 5;
  part.row_count = 9;
  part.wanted = [](const io::LasDimension& d) { return d.name == "gps_time" || d.extra; };
  io::read_las(path, part, ctx);
  io::read_las(path, {}, ctx);
}

}  // namespace

FuzzTarget laz_target() { return {"laz", seeds, read}; }

}  // namespace pc::fuzz
