#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "bench.h"
#include "core/platform.h"
#include "io/las.h"
#include "support/plot.h"

namespace pc::bench {
namespace {

/// Appends a whole number of thousandths as a decimal with three places.
char* put_thousandths(char* at, char* end, double metres) {
  auto value = static_cast<long long>(std::llround(metres * 1000));
  if (value < 0) {
    *at++ = '-';
    value = -value;
  }
  at = std::to_chars(at, end, value / 1000).ptr;
  *at++ = '.';
  const auto rest = static_cast<int>(value % 1000);
  for (const int digit : {rest / 100, rest / 10 % 10, rest % 10}) *at++ = static_cast<char>('0' + digit);
  return at;
}

/// x y z (metres, 3 places) intensity r g b (0..255), one row a point.
void write_table(const test::PlotCloud& plot, const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw Error(ErrorCode::kIo, path + " cannot be written");
  bool good = true;
  for (std::size_t i = 0; i < plot.positions.size() && good; ++i) {
    char row[128];
    char* const end = row + sizeof row;
    char* at = row;
    const Vec3d& p = plot.positions[i];
    for (const double coordinate : {p.x, p.y, p.z}) {
      at = put_thousandths(at, end, coordinate);
      *at++ = ' ';
    }
    const Rgb16& rgb = plot.rgb[i];
    at = std::to_chars(at, end, plot.intensity[i]).ptr;
    for (const int channel : {rgb.r >> 8, rgb.g >> 8, rgb.b >> 8}) {
      *at++ = ' ';
      at = std::to_chars(at, end, channel).ptr;
    }
    *at++ = '\n';
    good =
        std::fwrite(row, 1, static_cast<std::size_t>(at - row), file) == static_cast<std::size_t>(at - row);
  }
  good = std::fclose(file) == 0 && good;
  if (!good) throw Error(ErrorCode::kIo, path + " could not be written whole; is the disk full?");
}

}  // namespace

std::size_t point_count(const std::string& text) {
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size() || count == 0) {
    throw Error(ErrorCode::kInvalidArgument, "points \"" + text + "\" is no whole number above 0");
  }
  return count;
}

int make_plot_files(const Arguments& arguments) {
  const std::size_t n = point_count(arguments[0]);
  test::PlotCloud plot = test::make_plot(n);
  if (arguments.size() > 2) write_table(plot, arguments[2]);
  const AnyColumn classes(std::move(plot.classification)), trees(std::move(plot.tree));
  io::CloudView view;
  view.positions = std::as_const(plot.positions).view();
  view.colors = std::as_const(plot.rgb).view();
  view.intensity = std::as_const(plot.intensity).view();
  view.timestamps = std::as_const(plot.gps_time).view();
  view.scalars = {{"classification", "", &classes}, {"point_source_id", "", &trees}};
  io::LasWriteParams params;
  params.adjusted_standard_time = true;
  params.generating_software = "pc_bench";
  JobControl control;
  OpContext ctx(control);
  const io::LasWriteResult written = io::write_las(view, params, arguments[1], ctx);
  std::printf("{\"count\":%llu,\"bytes\":%llu,\"point_format\":%d}\n",
              static_cast<unsigned long long>(written.point_count),
              static_cast<unsigned long long>(written.bytes), written.point_format);
  return 0;
}

}  // namespace pc::bench
