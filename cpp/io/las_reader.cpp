#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "io/las_format.h"

namespace pc::io {

namespace {

/// Bytes a thread reads at a time: large enough for full disk speed, small enough that a slow disk sees
/// cancel in time.
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
/// Bytes decoded column by column before moving on: stays in the L2 cache while every column passes over it.
constexpr std::size_t kTileBytes = std::size_t{96} << 10;

struct OutputColumn {
  const las::Field* field;
  std::byte* data;
  std::size_t element_bytes;
};

/// Decodes the positions of `count` records; exact products and sums in float64, no contraction.
void decode_positions(const LasHeader& header, const PositionFrame& frame, const std::uint8_t* records,
                      std::size_t count, Vec3d* out) {
  const Vec3d scale = header.scale, offset = header.offset;
  const std::size_t stride = header.record_bytes;
  for (std::size_t i = 0; i < count; ++i, records += stride) {
    const Vec3d file{las::load<std::int32_t>(records) * scale.x + offset.x,
                     las::load<std::int32_t>(records + 4) * scale.y + offset.y,
                     las::load<std::int32_t>(records + 8) * scale.z + offset.z};
    out[i] = frame.apply(file);
  }
}

/// Every coordinate is finite when the extreme ones are: the file's reach is checked with the header, this
/// adds the frame.
void check_frame(const LasHeader& header, const PositionFrame& frame) {
  const auto reach = [&](double scale, double offset, double shift) {
    return (std::abs(scale) * 2147483648.0 + std::abs(offset)) * std::abs(frame.unit_scale) + std::abs(shift);
  };
  const bool ok = std::isfinite(reach(header.scale.x, header.offset.x, frame.shift.x)) &&
                  std::isfinite(reach(header.scale.y, header.offset.y, frame.shift.y)) &&
                  std::isfinite(reach(header.scale.z, header.offset.z, frame.shift.z));
  require(ok && frame.unit_scale != 0.0, "unit_scale and shift must be finite, and unit_scale not zero");
}

void check_has_points(const std::string& path, const LasHeader& header) {
  if (header.compressed) {
    throw Error(ErrorCode::kUnsupported,
                path +
                    ": compressed points (LAZ). This version reads uncompressed LAS; LAZ comes "
                    "with the next release. Decompress the file to .las first");
  }
  if (header.declared_point_count > 0 && header.present_point_count == 0) {
    throw Error(ErrorCode::kInvalidFile,
                path + ": the header declares " + std::to_string(header.declared_point_count) +
                    " points, but no complete record follows byte " + std::to_string(header.points_offset) +
                    "; the file was cut off, copy it again");
  }
}

void decode_block(const LasHeader& header, const PositionFrame& frame,
                  const std::vector<OutputColumn>& columns, const std::uint8_t* records, std::size_t first,
                  std::size_t count, Vec3d* positions) {
  const std::size_t stride = header.record_bytes;
  const std::size_t tile = std::max<std::size_t>(1, kTileBytes / stride);
  for (std::size_t begin = 0; begin < count; begin += tile) {
    const std::size_t rows = std::min(tile, count - begin);
    const std::uint8_t* from = records + begin * stride;
    const std::size_t row = first + begin;
    decode_positions(header, frame, from, rows, positions + row);
    for (const OutputColumn& column : columns) {
      las::decode_field(*column.field, from, stride, rows, column.data + row * column.element_bytes);
    }
  }
}

}  // namespace

LasCloud read_las(const std::string& path, const LasReadParams& params, OpContext& ctx) {
  const auto file = platform::File::open_read(path);
  las::Opened opened = las::open_las(file);
  LasCloud cloud;
  cloud.header = std::move(opened.header);
  const LasHeader& header = cloud.header;
  check_has_points(path, header);
  check_frame(header, params.frame);
  const std::uint64_t first_row = std::min(params.first_row, header.present_point_count);
  const auto rows =
      static_cast<std::size_t>(std::min(params.row_count, header.present_point_count - first_row));

  cloud.table.positions = Column<Vec3d>(rows);
  cloud.table.warnings = header.warnings;
  std::vector<OutputColumn> columns;
  for (const las::Field& field : opened.fields) {
    if (params.wanted && !params.wanted(field.dimension)) continue;
    const auto& dimension = field.dimension;
    cloud.table.columns.push_back(
        {dimension.name, dimension.description, dimension.extra, AnyColumn(dimension.dtype, rows)});
    columns.push_back({&field, cloud.table.columns.back().values.data(), dtype_size(dimension.dtype)});
  }

  const std::size_t stride = header.record_bytes;
  const std::size_t grain = std::max<std::size_t>(1, kBlockBytes / stride);
  std::vector<BulkVector<std::uint8_t>> buffers(static_cast<std::size_t>(ctx.threads()));
  Vec3d* positions = cloud.table.positions.view().data;
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
    decode_block(header, params.frame, columns, buffer.data(), begin, end - begin, positions);
  });
  return cloud;
}

}  // namespace pc::io
