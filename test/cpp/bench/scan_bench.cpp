#include <cstdio>
#include <string>
#include <vector>

#include "bench.h"
#include "core/error.h"
#include "io/e57.h"
#include "io/e57_builder.h"
#include "io/ptx.h"
#include "support/plot.h"

namespace pc::bench {

namespace {

/// Single precision x y z and intensity, 8-bit colours, packets of almost 64 KiB: what a scanner's software writes.
e57_test::Bytes e57_bytes(const test::PlotCloud& plot) {
  using e57_test::Field;
  std::vector<float> axes[3], intensity;
  std::vector<std::int64_t> channels[3];
  for (std::size_t i = 0; i < plot.positions.size(); ++i) {
    const Vec3d& p = plot.positions[i];
    const Rgb16& rgb = plot.rgb[i];
    const double coordinates[] = {p.x, p.y, p.z};
    const std::uint16_t colors[] = {rgb.r, rgb.g, rgb.b};
    for (int k = 0; k < 3; ++k) {
      axes[k].push_back(static_cast<float>(coordinates[k]));
      channels[k].push_back(colors[k] >> 8);
    }
    intensity.push_back(static_cast<float>(plot.intensity[i]) / 65535);
  }
  e57_test::Scan scan;
  scan.fields = {Field::single("cartesianX", axes[0]),
                 Field::single("cartesianY", axes[1]),
                 Field::single("cartesianZ", axes[2]),
                 Field::single("intensity", intensity),
                 Field::integer("colorRed", 0, 255, channels[0]),
                 Field::integer("colorGreen", 0, 255, channels[1]),
                 Field::integer("colorBlue", 0, 255, channels[2])};
  scan.packet_bytes = 60000;
  e57_test::E57File file;
  file.scans = {scan};
  return file.build();
}

/// One scan with colour, every eighth cell empty.
std::string ptx_text(const test::PlotCloud& plot, std::size_t rows) {
  const std::size_t columns = plot.positions.size() / rows;
  std::string text = std::to_string(columns) + "\n" + std::to_string(rows) +
                     "\n0 0 2\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 2 1\n";
  char line[128];
  for (std::size_t i = 0; i < rows * columns; ++i) {
    const Vec3d& p = plot.positions[i];
    const Rgb16& rgb = plot.rgb[i];
    if (i % 8 == 0) {
      text += "0 0 0 0.500000 0 0 0\n";
      continue;
    }
    std::snprintf(line, sizeof line, "%.6f %.6f %.6f %.6f %d %d %d\n", p.x, p.y, p.z,
                  plot.intensity[i] / 65535.0, rgb.r >> 8, rgb.g >> 8, rgb.b >> 8);
    text += line;
  }
  return text;
}

template <class Container>
void write_file(const std::string& path, const Container& bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw Error(ErrorCode::kIo, path + " cannot be written");
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !whole) throw Error(ErrorCode::kIo, path + " could not be written whole");
}

template <class Cloud>
int report(const Cloud& cloud, const Stopwatch& watch, int threads) {
  std::printf("{\"count\":%zu,\"op_s\":%.4f,\"columns\":%zu,\"column_mib\":%.1f,\"threads\":%d}\n",
              cloud.table.positions.size(), watch.seconds(), cloud.table.columns.size() + 1,
              column_mib(cloud.table), threads);
  return 0;
}

}  // namespace

double column_mib(const io::CloudTable& table) {
  std::size_t bytes = table.positions.size() * sizeof(Vec3d);
  for (const io::NamedColumn& column : table.columns) bytes += column.values.bytes();
  return static_cast<double>(bytes) / (1 << 20);
}

int make_scan_files(const Arguments& arguments) {
  const test::PlotCloud plot = test::make_plot(point_count(arguments[0]));
  const e57_test::Bytes e57 = e57_bytes(plot);
  write_file(arguments[1], e57);
  const std::string ptx = ptx_text(plot, 1000);
  write_file(arguments[2], ptx);
  std::printf("{\"count\":%zu,\"e57_bytes\":%zu,\"ptx_bytes\":%zu}\n", plot.positions.size(), e57.size(),
              ptx.size());
  return 0;
}

int read_e57_file(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  const Stopwatch watch;
  const io::E57Cloud cloud = io::read_e57(arguments[0], {}, ctx);
  return report(cloud, watch, ctx.threads());
}

int read_ptx_file(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  const Stopwatch watch;
  const io::PtxCloud cloud = io::read_ptx(arguments[0], {}, ctx);
  return report(cloud, watch, ctx.threads());
}

}  // namespace pc::bench
