#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <mutex>
#include <set>

#include "core/error.h"
#include "core/parallel.h"
#include "io/las_encode.h"
#include "io/laz/laz_writer.h"

namespace pc::io {

namespace {

using las::ReturnCounts;

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxBlockRows = 65536, kMinBlockRows = 16;
constexpr double kMaxSteps = 2147483646.0;  // one less than int32 holds, for rounding

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

struct Range {
  double low, high;
};

Range range_of(const las::StandardField& field) {
  if (field.bits != 0) return {0.0, static_cast<double>((1U << field.bits) - 1U)};
  switch (field.dtype) {
    case DType::kU8:
      return {0.0, 255.0};
    case DType::kI8:
      return {-128.0, 127.0};
    case DType::kI16:
      return {-32768.0, 32767.0};
    default:
      return {0.0, 65535.0};
  }
}

/// True when every written value is a whole number within the range.
bool values_fit(const AnyColumn& column, const Range& range, const las::RowBlocks& blocks, OpContext& ctx) {
  std::atomic<bool> fit{true};
  visit_scalar(column, [&](auto values) {
    parallel_for(ctx, values.size, blocks.grain(), [&](std::size_t begin, std::size_t end) {
      if (!fit.load(std::memory_order_relaxed)) return;
      std::vector<std::size_t> rows;
      blocks.collect(begin, end, rows);
      bool good = true;
      for (const std::size_t row : rows) {
        const auto value = static_cast<double>(values[row]);
        good = good && value >= range.low && value <= range.high && std::trunc(value) == value;
      }
      if (!good) fit.store(false, std::memory_order_relaxed);
    });
  });
  return fit;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// At most `bytes` bytes, never cutting a UTF-8 character.
std::string cut(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  text.resize(bytes);
  return text;
}

/// Decides for every column where it goes.
class Planner {
 public:
  Planner(const CloudView& view, const LasWriteParams& params, const las::RowBlocks& blocks,
          LasWriteResult& result, OpContext& ctx)
      : view_(view), blocks_(blocks), result_(result), ctx_(ctx) {
    choose_format(params);
    for (const las::StandardField& field : las::standard_fields(8)) reserved_.insert(field.name);
    for (const las::StandardField& field : las::standard_fields(3)) reserved_.insert(field.name);
    for (const char* name : {"x", "y", "z", "red", "green", "blue"}) reserved_.insert(name);
  }

  las::RecordPlan plan() {
    plan_.record_bytes = las::kPointLayouts[plan_.point_format].bytes;
    for (const ScalarView& scalar : view_.scalars) {
      if (!place_standard(scalar)) place_extra(scalar);
    }
    if (!view_.beam_origins.empty()) {
      plan_.origin_offset = static_cast<std::uint16_t>(plan_.record_bytes);
      for (const char* axis : {"x", "y", "z"}) {
        plan_.extras.push_back(
            {unique(std::string("origin_") + axis), std::string("beam origin ") + axis, DType::kF64});
        plan_.record_bytes += sizeof(double);
      }
    }
    if (plan_.extras.size() > las::kMaxExtraDimensions) {
      throw Error(ErrorCode::kUnsupported,
                  std::to_string(plan_.extras.size()) + " extra columns; a LAS file holds at most " +
                      std::to_string(las::kMaxExtraDimensions) + ". Choose fewer columns");
    }
    if ((plan_.return_number == nullptr) == plan_.has_return_count) {
      result_.warnings.push_back(
          plan_.has_return_count
              ? "number_of_returns is given without return_number; every point is written as return 1"
              : "return_number is given without number_of_returns, which is written as 1");
    }
    return std::move(plan_);
  }

 private:
  void choose_format(const LasWriteParams& params) {
    const bool colored = !view_.colors.empty();
    if (params.version == LasVersion::k14) {
      const bool infrared =
          std::any_of(view_.scalars.begin(), view_.scalars.end(), [&](const ScalarView& scalar) {
            return scalar.slug == "nir" && values_fit(*scalar.values, {0.0, 65535.0}, blocks_, ctx_);
          });
      plan_.point_format = !colored ? 6 : infrared ? 8 : 7;
    } else {
      const bool timed = !view_.timestamps.empty() || find_time() != nullptr;
      plan_.point_format = (colored ? 2 : 0) + (timed ? 1 : 0);
    }
    if (view_.timestamps.empty()) plan_.gps_time = find_time();
  }

  const AnyColumn* find_time() const {
    for (const ScalarView& scalar : view_.scalars) {
      if (scalar.slug == "gps_time" && scalar.values->dtype() == DType::kF64) return scalar.values;
    }
    return nullptr;
  }

  bool place_standard(const ScalarView& scalar) {
    const std::uint16_t time_at = las::kPointLayouts[plan_.point_format].gps_time;
    if (scalar.values == plan_.gps_time && scalar.slug == "gps_time" && used_.insert("gps_time").second) {
      plan_.targets.push_back({scalar.values, time_at, 0, 0, 8, false});
      return true;
    }
    if (scalar.slug == "intensity" && !view_.intensity.empty()) return false;
    for (const las::StandardField& field : las::standard_fields(plan_.point_format)) {
      if (scalar.slug != field.name || field.dtype == DType::kRgb16 || field.dtype == DType::kF64) continue;
      if (used_.count(scalar.slug) != 0) return false;
      if (!values_fit(*scalar.values, range_of(field), blocks_, ctx_)) {
        const Range range = range_of(field);
        result_.warnings.push_back(scalar.slug + ": some values are not whole numbers from " +
                                   std::to_string(static_cast<int>(range.low)) + " to " +
                                   std::to_string(static_cast<int>(range.high)) +
                                   ", what the LAS field holds; the column becomes an extra dimension");
        return false;
      }
      used_.insert(scalar.slug);
      plan_.targets.push_back({scalar.values, field.offset, field.shift, field.bits,
                               static_cast<std::uint8_t>(dtype_size(field.dtype)), true});
      if (scalar.slug == "return_number") plan_.return_number = scalar.values;
      if (scalar.slug == "number_of_returns") plan_.has_return_count = true;
      return true;
    }
    return false;
  }

  void place_extra(const ScalarView& scalar) {
    const DType dtype = scalar.values->dtype();
    const auto bytes = static_cast<std::uint8_t>(dtype_size(dtype));
    plan_.targets.push_back(
        {scalar.values, static_cast<std::uint16_t>(plan_.record_bytes), 0, 0, bytes, false});
    plan_.extras.push_back({unique(scalar.slug), cut(scalar.label, 32), dtype});
    plan_.record_bytes += bytes;
  }

  /// A name of at most 32 bytes that no field and no other dimension has; a change is reported.
  std::string unique(const std::string& slug) {
    std::string name = slug.empty() ? "field" : slug;
    if (reserved_.count(lower(name)) != 0) name += "_field";
    std::string candidate = cut(name, 32);
    for (int i = 2; !extra_names_.insert(candidate).second; ++i) {
      const std::string suffix = std::string("_").append(std::to_string(i));
      candidate = cut(name, 32 - suffix.size()) + suffix;
    }
    if (candidate != slug) {
      result_.warnings.push_back("the column '" + slug + "' is named '" + candidate + "' in the file");
    }
    return candidate;
  }

  const CloudView& view_;
  const las::RowBlocks& blocks_;
  LasWriteResult& result_;
  OpContext& ctx_;
  las::RecordPlan plan_;
  std::set<std::string> reserved_, used_, extra_names_;
};

Box3d written_bounds(const CloudView& view, const las::RowBlocks& blocks, OpContext& ctx) {
  std::vector<Box3d> boxes(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(
      ctx, view.positions.size, blocks.grain(), [&](std::size_t begin, std::size_t end, int worker) {
        std::vector<std::size_t> rows;
        blocks.collect(begin, end, rows);
        Box3d box;
        for (const std::size_t row : rows) {
          const Vec3d p = view.positions[row] + view.offset;
          if (!is_finite(p)) {
            throw Error(
                ErrorCode::kInvalidArgument,
                "row " + std::to_string(row) + " has a coordinate that is not finite; LAS cannot store it");
          }
          box.add(p);
        }
        boxes[static_cast<std::size_t>(worker)].add(box);
      });
  Box3d all;
  for (const Box3d& box : boxes) all.add(box);
  return all;
}

/// Offset and step of one axis: offset floor(min); the step grows tenfold until 32 bits hold the range.
void choose_step(double low, double high, char axis, double& scale, double& offset, LasWriteResult& result) {
  const double wanted = scale;
  offset = std::floor(low);
  while (std::isfinite(scale) && !((high - offset) / scale <= kMaxSteps)) scale *= 10.0;
  if (!std::isfinite(scale * 2147483648.0 + std::abs(offset))) {
    throw Error(ErrorCode::kInvalidArgument, std::string("the ") + axis + " coordinates from " +
                                                 las::number_text(low) + " to " + las::number_text(high) +
                                                 " are too far apart for a LAS file");
  }
  if (scale != wanted) {
    result.warnings.push_back(std::string("the ") + axis + " coordinates span " +
                              las::number_text(high - low) + ", too much for steps of " +
                              las::number_text(wanted) + "; steps of " + las::number_text(scale) +
                              " are written");
  }
}

/// What a reader computes from the stored integers.
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
        las::encode_rows(view, plan, result.scale, result.offset, own.rows, own.records.data(), own.returns);
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
  if (params.version == LasVersion::k14 && params.wkt.empty() && params.epsg != 0) {
    result.warnings.push_back(
        "EPSG:" + std::to_string(params.epsg) +
        " is not in the file: LAS 1.4 states coordinate systems as WKT text, and none is known");
  }
  if (params.version == LasVersion::k14 && params.wkt.size() > las::kMaxWktBytes) {
    result.warnings.push_back("the WKT text of " + std::to_string(params.wkt.size()) +
                              " bytes is longer than the 65534 a record holds; it is not in the file");
  }
  if (params.version == LasVersion::k12 && !params.wkt.empty() && params.epsg == 0) {
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
  // Widest record possible: every scalar an f64 extra dimension.
  const std::size_t widest = las::kPointLayouts[8].bytes + 8 * view.scalars.size() + 24;
  ctx.begin_phase("Computing bounds", 0);
  const las::RowBlocks blocks(view, std::clamp(kBlockBytes / widest, kMinBlockRows, kMaxBlockRows), ctx);
  check_count(params, blocks.total());
  const las::RecordPlan plan = Planner(view, params, blocks, result, ctx).plan();
  const Box3d box = written_bounds(view, blocks, ctx);
  result.scale = {params.scale_m, params.scale_m, params.scale_m};
  if (!box.empty()) {
    choose_step(box.min.x, box.max.x, 'x', result.scale.x, result.offset.x, result);
    choose_step(box.min.y, box.max.y, 'y', result.scale.y, result.offset.y, result);
    choose_step(box.min.z, box.max.z, 'z', result.scale.z, result.offset.z, result);
  }
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
  file.write_at(0, header.data(), header.size());  // last: a file that was cut short has no valid start
  file.close_checked();
  return result;
}

}  // namespace pc::io
