#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/error.h"
#include "core/parallel.h"
#include "io/las_encode.h"
#include "io/las_plan.h"
#include "io/laz/laz_writer.h"

namespace pc::io {

namespace {

using las::ReturnCounts;

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxBlockRows = 65536, kMinBlockRows = 16;

void check_view(const CloudView& view, const LasWriteParams& params) {
  const std::size_t n = view.positions.size;
  const auto fits = [&](std::size_t size) { return size == 0 || size == n; };
  bool ok = fits(view.colors.size) && fits(view.intensity.size) && fits(view.timestamps.size) &&
            fits(view.beam_origins.size) && fits(view.skip.size);
  for (const ScalarView& scalar : view.scalars)
    ok = ok && scalar.values != nullptr && scalar.values->size() == n;
  require(ok, "every column of an export must have as many rows as there are positions");
  require(view.stride >= 1, "stride must be at least 1");
  require(std::isfinite(params.scale_m) && params.scale_m > 0, "scale_m must be finite and positive");
  require(params.system_identifier.size() <= 32 && params.generating_software.size() <= 32,
          "system_identifier and generating_software hold at most 32 bytes");
  require(params.epsg == 0 || is_epsg_code(params.epsg), "epsg must be 0 or a code from 1024 to 32766");
  for (const ScalarView& scalar : view.scalars) {
    const DType dtype = scalar.values->dtype();
    require(dtype != DType::kVec3d && dtype != DType::kRgb16, "an exported scalar column must be scalar");
  }
}

/// The value that a reader computes from the stored integer.
double stored(double value, double scale, double offset) {
  return static_cast<double>(std::llrint((value - offset) / scale)) * scale + offset;
}

Box3d stored_bounds(const Box3d& box, const Vec3d& scale, const Vec3d& offset) {
  if (box.empty()) return Box3d{{0, 0, 0}, {0, 0, 0}};
  const auto corner = [&](const Vec3d& p) {
    return Vec3d{stored(p.x, scale.x, offset.x), stored(p.y, scale.y, offset.y),
                 stored(p.z, scale.z, offset.z)};
  };
  return Box3d{corner(box.min), corner(box.max)};
}

ReturnCounts write_points(const CloudView& view, const las::RecordPlan& plan, const las::RowBlocks& blocks,
                          const LasWriteResult& result, std::uint64_t points_offset, platform::File& file,
                          OpContext& ctx) {
  struct Scratch {
    std::vector<std::size_t> rows;
    BulkVector<std::uint8_t> records;
    ReturnCounts returns{};
  };
  std::vector<Scratch> scratch(static_cast<std::size_t>(ctx.threads()));
  std::mutex
      file_mutex;  // File counts its size without a lock; writes to one file are serial in the kernel anyway
  ctx.begin_phase("Writing points", view.positions.size);
  parallel_for_worker(
      ctx, view.positions.size, blocks.grain(), [&](std::size_t begin, std::size_t end, int worker) {
        Scratch& own = scratch[static_cast<std::size_t>(worker)];
        blocks.collect(begin, end, own.rows);
        if (own.rows.empty()) return;
        const std::size_t bytes = own.rows.size() * plan.record_bytes;
        if (own.records.size() < bytes) own.records.resize(blocks.grain() * plan.record_bytes);
        las::encode_rows(view, plan, result.scale, result.offset, {own.rows.data(), own.rows.size()},
                         own.records.data(), own.returns);
        const std::lock_guard<std::mutex> lock(file_mutex);
        file.write_at(points_offset + blocks.first(begin / blocks.grain()) * plan.record_bytes,
                      own.records.data(), bytes);
      });
  ReturnCounts total{};
  for (const Scratch& own : scratch) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += own.returns[i];
  }
  return total;
}

void check_count(const LasWriteParams& params, std::uint64_t count) {
  if (params.version == LasVersion::k12 && count > 0xFFFFFFFFULL) {
    throw Error(ErrorCode::kUnsupported,
                std::to_string(count) + " points; LAS 1.2 counts at most 4294967295. Choose LAS 1.4");
  }
}

void warn_about_crs(const LasWriteParams& params, LasWriteResult& result) {
  const bool geotiff = las::writes_verbatim_geotiff(params) || params.epsg != 0;
  if (params.version == LasVersion::k14 && params.wkt.size() > las::kMaxWktBytes) {
    result.warnings.push_back("the WKT text of " + std::to_string(params.wkt.size()) +
                              " bytes is longer than the 65534 a record holds; it is not in the file");
  }
  if (las::writes_wkt(params)) return;
  if (geotiff && params.version == LasVersion::k14 && !params.legacy_points) {
    const std::string crs =
        params.epsg != 0 ? "EPSG:" + std::to_string(params.epsg) : "the coordinate system";
    result.warnings.push_back(crs +
                              " is in the file as GeoTIFF keys: the point formats 6 to 8, which the columns "
                              "need, ask for WKT text, "
                              "and none is known. Programs that go by the standard see no coordinate system");
  }
  if (!geotiff && !params.wkt.empty() && params.version == LasVersion::k12) {
    result.warnings.push_back(
        "the coordinate system is not in the file: LAS 1.2 states it as GeoTIFF keys, which need an EPSG "
        "code");
  }
}

}  // namespace

LasWriteResult write_las(const CloudView& view, const LasWriteParams& params, const std::string& path,
                         OpContext& ctx) {
  check_view(view, params);
  LasWriteResult result;
  warn_about_crs(params, result);
  // Widest possible record: every scalar is an f64 extra dimension.
  const std::size_t widest = las::kPointLayouts[8].bytes + 8 * view.scalars.size() + 24;
  ctx.begin_phase("Computing bounds", 0);
  const las::RowBlocks blocks(view, std::clamp(kBlockBytes / widest, kMinBlockRows, kMaxBlockRows), ctx);
  check_count(params, blocks.total());
  const las::RecordPlan plan = las::plan_record(view, params, blocks, result, ctx);
  const las::Extent extent = las::written_extent(view, params, blocks, ctx);
  const Box3d& box = extent.box;
  las::choose_steps(view, extent, params, blocks, result, ctx);
  result.point_count = blocks.total();
  result.point_format = plan.point_format;

  auto file = platform::File::create(path);
  const std::size_t points_offset = las::header_length(params, plan);
  ReturnCounts returns;
  result.bytes = points_offset;
  if (params.compressed) {
    const auto written =
        laz::write_points(view, plan, blocks, result.scale, result.offset, points_offset, file, ctx);
    returns = written.returns;
    result.bytes += written.bytes;
  } else {
    returns = write_points(view, plan, blocks, result, points_offset, file, ctx);
    result.bytes += result.point_count * plan.record_bytes;
  }
  const auto header =
      las::header_bytes({params, plan, result.scale, result.offset,
                         stored_bounds(box, result.scale, result.offset), result.point_count, returns});
  file.write_at(0, header.data(), header.size());  // last: an incomplete file has no valid header
  file.close_checked();
  return result;
}

}  // namespace pc::io
