#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "io/las_format.h"
#include "io/las_rows.h"
#include "io/laz/laz_reader.h"

namespace pc::io {

namespace {

/// Bytes that a thread reads at a time: large enough for full disk speed, small enough that a cancel takes effect in
/// time on a slow disk.
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

void check_has_points(const std::string& path, const LasHeader& header) {
  if (header.declared_point_count > 0 && header.present_point_count == 0) {
    throw Error(ErrorCode::kInvalidFile,
                path + ": the header declares " + std::to_string(header.declared_point_count) +
                    " points, but no complete record follows byte " + std::to_string(header.points_offset) +
                    "; the file was cut off, copy it again");
  }
}

CloudTable read_records(const platform::File& file, const las::Opened& opened, const LasReadParams& params,
                        OpContext& ctx) {
  const LasHeader& header = opened.header;
  const std::string& path = file.path();
  check_has_points(path, header);
  const std::uint64_t first_row = std::min(params.first_row, header.present_point_count);
  const auto rows =
      static_cast<std::size_t>(std::min(params.row_count, header.present_point_count - first_row));
  las::RowColumns columns(opened, params, rows);
  const std::size_t stride = header.record_bytes;
  const std::size_t grain = std::max<std::size_t>(1, kBlockBytes / stride);
  std::vector<BulkVector<std::uint8_t>> buffers(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Reading points", rows);
  parallel_for_worker(ctx, rows, grain, [&](std::size_t begin, std::size_t end, int worker) {
    auto& buffer = buffers[static_cast<std::size_t>(worker)];
    if (buffer.empty()) buffer.resize(std::min(grain, rows) * stride);
    const std::uint64_t at = header.points_offset + (first_row + begin) * stride;
    const std::size_t bytes = (end - begin) * stride;
    if (file.read_at(at, buffer.data(), bytes) != bytes) {
      throw Error(ErrorCode::kInvalidFile, path + ": the file became shorter while it was read, at byte " +
                                               std::to_string(at) +
                                               "; wait until it is complete and read it again");
    }
    columns.put(buffer.data(), begin, end - begin);
  });
  return columns.take(rows);
}

}  // namespace

LasCloud read_las(const std::string& path, const LasReadParams& params, OpContext& ctx) {
  const auto file = platform::File::open_read(path);
  las::Opened opened = las::open_las(file);
  LasCloud cloud;
  cloud.table = opened.header.compressed ? laz::read_laz(file, opened, params, ctx)
                                         : read_records(file, opened, params, ctx);
  cloud.header = std::move(opened.header);
  cloud.table.warnings = cloud.header.warnings;
  return cloud;
}

}  // namespace pc::io
