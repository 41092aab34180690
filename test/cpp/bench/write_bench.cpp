#include <cstdio>
#include <filesystem>
#include <functional>

#include "bench.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/e57_write.h"
#include "io/las.h"
#include "io/pcd_write.h"
#include "io/pts.h"
#include "io/ptx.h"
#include "io/text_writer.h"

namespace pc::bench {

namespace {

constexpr std::size_t kRasterRows = 2000;

/// The raster of a scan whose points came column by column.
void add_raster(io::CloudView& view, std::vector<AnyColumn>& raster) {
  const std::size_t n = view.positions.size;
  Column<std::int32_t> row(n), column(n);
  for (std::size_t i = 0; i < n; ++i) {
    row[i] = static_cast<std::int32_t>(i % kRasterRows);
    column[i] = static_cast<std::int32_t>(i / kRasterRows);
  }
  raster.emplace_back(std::move(row));
  raster.emplace_back(std::move(column));
  view.scalars = {{"row_index", "", &raster[0]}, {"column_index", "", &raster[1]}};
}

std::uint64_t write(const std::string& format, io::CloudView& view, const std::string& path, OpContext& ctx) {
  if (format == ".las" || format == ".laz") {
    io::LasWriteParams params;
    params.compressed = format == ".laz";
    return io::write_las(view, params, path, ctx).bytes;
  }
  if (format == ".pcd") return io::write_pcd(view, {}, path, ctx).bytes;
  if (format == ".e57")
    return io::write_e57(view, {"bench", "{bench}", "bench", "", 0, {}, {}}, path, ctx).bytes;
  if (format == ".pts") return io::write_pts(view, path, ctx).bytes;
  if (format == ".ptx")
    return io::write_ptx_cloud(view, {io::PtxCloudWriteParams{1u << 30, {}, {}}}, path, ctx).bytes;
  if (format == ".ply") {
    return io::write_text(view, io::cloud_export_layout(io::TextFormat::kPly), path, ctx).bytes;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "\"" + format + "\" is none of .las .laz .pcd .e57 .pts .ptx .ply");
}

}  // namespace

int write_file(const Arguments& arguments) {
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
  const std::string format = std::filesystem::path(arguments[1]).extension().string();
  std::vector<AnyColumn> raster;
  if (format == ".ptx") add_raster(view, raster);
  const std::uint64_t before = bulk_bytes_in_use();
  reset_bulk_bytes_peak();
  const Stopwatch watch;
  const std::uint64_t bytes = write(format, view, arguments[1], ctx);
  const double seconds = watch.seconds();
  std::printf("{\"count\":%zu,\"op_s\":%.4f,\"bytes\":%zu,\"threads\":%d,\"scratch_mib\":%.1f}\n",
              view.positions.size, seconds, static_cast<std::size_t>(bytes), ctx.threads(),
              static_cast<double>(bulk_bytes_peak() - before) / (1 << 20));
  return 0;
}

}  // namespace pc::bench
