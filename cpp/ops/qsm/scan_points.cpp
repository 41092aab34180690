#include "ops/qsm/scan_points.h"

#include <vector>

#include "core/error.h"
#include "spatial/predicates.h"

namespace pc {

namespace {

constexpr std::size_t kPerPoll = std::size_t{1} << 16;
/// By which numbers of scans of different sources differ: no source numbers as many.
constexpr double kSource = 4294967296.0;

std::vector<std::size_t> used_rows(const ScanSource& source, std::uint64_t& unusable, const OpContext& ctx) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < source.positions.size; ++i) {
    if (i % kPerPoll == 0) ctx.checkpoint();
    if (!source.skip.empty() && source.skip[i] != 0) continue;
    if (in_exact_range(source.positions[i] + source.shift)) {
      rows.push_back(i);
    } else {
      ++unusable;
    }
  }
  if (source.max_points == 0 || rows.size() <= source.max_points) return rows;
  const std::size_t stride = (rows.size() + source.max_points - 1) / source.max_points;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); i += stride) rows[kept++] = rows[i];
  rows.resize(kept);
  return rows;
}

Column<double> values_at(const AnyColumn* column, const std::vector<std::size_t>& rows, double plus) {
  Column<double> out(rows.size());
  if (column == nullptr) {
    for (std::size_t k = 0; k < rows.size(); ++k) out[k] = plus;
    return out;
  }
  visit_scalar(*column, [&](auto values) {
    for (std::size_t k = 0; k < rows.size(); ++k) out[k] = static_cast<double>(values[rows[k]]) + plus;
  });
  return out;
}

}  // namespace

ScanPoints scan_points(const ScanSource& source, OpContext& ctx) {
  const std::size_t n = source.positions.size;
  require(source.skip.empty() || source.skip.size == n, "skip must have one entry per point");
  require(is_finite(source.shift), "the shift must be finite");
  for (const AnyColumn* column : {source.scan_index, source.time_s})
    require(column == nullptr || column->size() == n, "scan_index and time_s need one entry per point");
  ctx.begin_phase("Reading points", 0);
  ScanPoints out{};
  const std::vector<std::size_t> rows = used_rows(source, out.unusable_count, ctx);
  out.points = Column<Vec3d>(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) out.points[k] = source.positions[rows[k]] + source.shift;
  if (!source.stamped) return out;
  out.scan = values_at(source.scan_index, rows, kSource * source.source);
  ctx.checkpoint();
  out.time_s = values_at(source.time_s, rows, 0);
  return out;
}

}  // namespace pc
