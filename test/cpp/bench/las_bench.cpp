#include <cstdio>

#include "bench.h"
#include "io/las.h"

namespace pc::bench {

int read_las_file(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  io::LasReadParams params;
  if (arguments.size() > 2 && arguments[2] == "xyz")
    params.wanted = [](const io::LasDimension&) { return false; };
  const Stopwatch watch;
  const io::LasCloud cloud = io::read_las(arguments[0], params, ctx);
  const double seconds = watch.seconds();
  std::printf("{\"count\":%zu,\"op_s\":%.4f,\"columns\":%zu,\"column_mib\":%.1f,\"threads\":%d}\n",
              cloud.table.positions.size(), seconds, cloud.table.columns.size() + 1, column_mib(cloud.table),
              ctx.threads());
  return 0;
}

int write_laz_file(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  const io::LasCloud cloud = io::read_las(arguments[0], {}, ctx);
  io::CloudView view;
  view.positions = cloud.table.positions.view();
  for (const io::NamedColumn& column : cloud.table.columns) {
    if (column.name == "rgb") {
      view.colors = column.values.as<Rgb16>();
    } else if (column.name == "intensity") {
      view.intensity = column.values.as<std::uint16_t>();
    } else if (column.name == "gps_time") {
      view.timestamps = column.values.as<double>();
    } else {
      view.scalars.push_back({column.name, "", &column.values});
    }
  }
  io::LasWriteParams params;
  params.compressed = true;
  const Stopwatch watch;
  const auto written = io::write_las(view, params, arguments[1], ctx);
  std::printf("{\"count\":%zu,\"op_s\":%.4f,\"bytes\":%zu,\"threads\":%d}\n",
              static_cast<std::size_t>(written.point_count), watch.seconds(),
              static_cast<std::size_t>(written.bytes), ctx.threads());
  return 0;
}

}  // namespace pc::bench
