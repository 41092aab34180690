#include "ops/lad/scanner_view.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/polled_sort.h"
#include "ops/cloud/select_hits.h"
#include "ops/lad/beam_rows.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14;
/// Beams that pass a grid by so much are read too: those at its border have neighbours then.
constexpr double kMargin_m = 0.05;
/// An edge of a triangle of directions is a gap if it is so many times as long as the median one.
constexpr double kGap = 10;
/// Hits side by side are of one leaf if they are at most so many spacings apart: on a leaf 78 degrees off the beam.
constexpr double kSteepest = 5;

/// The grid with a margin, for rays from one place.
class NearGrid {
 public:
  NearGrid(const GridFrame& frame, const Vec3d& origin)
      : frame_(frame), from_(frame.to_lattice(origin - frame.center())) {
    const VoxelLattice& lattice = frame.lattice();
    low_ = {-kMargin_m, -kMargin_m, lattice.least_offset - kMargin_m};
    high_ = {lattice.cell.x * lattice.nx + kMargin_m, lattice.cell.y * lattice.ny + kMargin_m,
             lattice.cell.z * lattice.nz + lattice.largest_offset + kMargin_m};
  }
  bool is_met(const Vec3d& direction) const {
    const Vec3d d = frame_.rotated_back(direction);
    double enter = 0, leave = HUGE_VAL;
    clip(from_.x, d.x, low_.x, high_.x, &enter, &leave);
    clip(from_.y, d.y, low_.y, high_.y, &enter, &leave);
    clip(from_.z, d.z, low_.z, high_.z, &enter, &leave);
    return enter <= leave;
  }

 private:
  static void clip(double from, double slope, double low, double high, double* enter, double* leave) {
    if (slope == 0) {
      if (from < low || from > high) *leave = -1;
      return;
    }
    const double a = (low - from) / slope, b = (high - from) / slope;
    *enter = std::max(*enter, std::min(a, b));
    *leave = std::min(*leave, std::max(a, b));
  }
  const GridFrame& frame_;
  Vec3d from_, low_{}, high_{};
};

/// Solid angle of a triangle of unit vectors. Source: Van Oosterom & Strackee 1983 (IEEE Trans. Biomed. Eng. 30).
double solid_angle(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const double over = std::fabs(dot(a, cross(b - a, c - a)));
  return 2 * std::atan2(over, 1 + dot(a, b) + dot(b, c) + dot(c, a));
}

double longest_edge(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  return std::sqrt(std::max({squared_distance(a, b), squared_distance(b, c), squared_distance(c, a)}));
}

bool comes_first(const ViewBeam& a, const ViewBeam& b) {
  if (a.direction.x != b.direction.x) return a.direction.x < b.direction.x;
  if (a.direction.y != b.direction.y) return a.direction.y < b.direction.y;
  if (a.direction.z != b.direction.z) return a.direction.z < b.direction.z;
  return a.range != b.range ? a.range < b.range : a.layer < b.layer;
}

/// Median of at most 65,536 of the values, evenly taken.
double typical(Span<const double> values) {
  const std::size_t stride = values.size / 65'536 + 1;
  std::vector<double> taken;
  for (std::size_t i = 0; i < values.size; i += stride) taken.push_back(values[i]);
  const auto middle = taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / 2);
  std::nth_element(taken.begin(), middle, taken.end());
  return *middle;
}

/// Reads one part of a scan.
class RowReader {
 public:
  RowReader(const ViewRows& rows, const Vec3d& origin, const VoxelBox& grid, const GridFrame& frame,
            OpContext& ctx)
      : rows_(rows),
        to_origin_(rows.shift - origin),
        cells_(grid),
        near_(frame, origin),
        per_layer_(frame.lattice().layer()),
        mask_(hit_mask(rows.positions.size, rows.is_miss, rows.deleted, ctx)) {
    require(rows.is_leaf.empty() || rows.is_leaf.size == rows.positions.size,
            "is_leaf must have a value per row");
    require(is_finite(rows.shift), "the shift of a scan must be finite");
  }
  /// False for a row that is not finite, at the scanner, or passes the grid.
  bool read(std::size_t i, ViewBeam* out) const {
    const Vec3d along = rows_.positions[i] + to_origin_;
    const double squared = dot(along, along);
    if (!(squared > 0) || !std::isfinite(squared)) return false;
    const double range = std::sqrt(squared);
    *out = {along * (1 / range), range, 0, {0, 0, 0}, kNoLeafLayer};
    if (!near_.is_met(out->direction)) return false;
    const std::uint8_t skip = mask_.skip[i];
    if ((skip & kSkipMiss) != 0) {
      out->range = HUGE_VAL;
    } else if (skip == 0 && (rows_.is_leaf.empty() || rows_.is_leaf[i] != 0)) {
      const auto cell = cells_.cell_of(rows_.positions[i] + rows_.shift);
      if (cell) out->layer = static_cast<std::uint32_t>(*cell / per_layer_);
    }
    return true;
  }
  std::size_t size() const { return rows_.positions.size; }

 private:
  const ViewRows& rows_;
  Vec3d to_origin_;
  VoxelCells cells_;
  NearGrid near_;
  std::size_t per_layer_;
  HitMask mask_;
};

}  // namespace

ScannerView::ScannerView(const ViewedScan& scan, const VoxelBox& grid, OpContext& ctx)
    : origin_(scan.origin) {
  require(is_finite(origin_), "the origin of a scan must be finite");
  collect(scan, grid, ctx);
  sort(ctx);
  triangulate(ctx);
}

void ScannerView::collect(const ViewedScan& scan, const VoxelBox& grid, OpContext& ctx) {
  const GridFrame frame(grid);
  for (const ViewRows& rows : scan.rows) {
    const RowReader reader(rows, origin_, grid, frame, ctx);
    std::vector<std::size_t> firsts(reader.size() / kGrain + 2, 0);
    parallel_for(ctx, reader.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      ViewBeam one{};
      for (std::size_t i = begin; i < end; ++i) firsts[begin / kGrain + 1] += reader.read(i, &one) ? 1 : 0;
    });
    firsts[0] = beams_.size();
    for (std::size_t k = 1; k < firsts.size(); ++k) firsts[k] += firsts[k - 1];
    beams_.resize(firsts.back());
    parallel_for(ctx, reader.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      std::size_t at = firsts[begin / kGrain];
      ViewBeam one{};
      for (std::size_t i = begin; i < end; ++i)
        if (reader.read(i, &one)) beams_[at++] = one;
    });
  }
}

/// Into the order of directions; of beams in one direction the first, which is the nearest, stays.
void ScannerView::sort(OpContext& ctx) {
  ctx.begin_phase("Sorting beams", 0);
  ViewBeam* const first = beams_.data();
  polled_sort(first, first + beams_.size(), comes_first, ctx);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < beams_.size(); ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (kept > 0 && first[kept - 1].direction == first[i].direction) continue;
    first[kept++] = first[i];
  }
  beams_.resize(kept);
}

void ScannerView::triangulate(OpContext& ctx) {
  BulkVector<Vec3d> directions(beams_.size());
  for (std::size_t i = 0; i < beams_.size(); ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    directions[i] = beams_[i].direction;
  }
  tree_.emplace(directions.view(), ctx);
  const auto mesh = scan_triangulation(HitPoints::assume_hits(directions.view()), {0, 0, 0}, ctx);
  const std::size_t count = mesh.indices.size() / 3;
  if (count == 0) return;
  BulkVector<double> longest(count);
  const Span<const std::uint32_t> corners = mesh.indices.view();
  const auto corner = [&](std::size_t t, std::size_t k) { return directions[corners[3 * t + k]]; };
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t)
      longest[t] = longest_edge(corner(t, 0), corner(t, 1), corner(t, 2));
  });
  const double gap = kGap * typical({longest.data(), count});
  for (std::size_t t = 0; t < count; ++t) {
    if (t % kGrain == 0) ctx.checkpoint();
    if (longest[t] > gap) continue;
    const double third = solid_angle(corner(t, 0), corner(t, 1), corner(t, 2)) / 3;
    for (std::size_t k = 0; k < 3; ++k) beams_[corners[3 * t + k]].solid_angle += third;
  }
  find_normals(corners, ctx);
}

/// The sum over the triangles around a hit whose corners are all on its leaf.
void ScannerView::find_normals(Span<const std::uint32_t> corners, OpContext& ctx) {
  for (std::size_t t = 0; t < corners.size / 3; ++t) {
    if (t % kGrain == 0) ctx.checkpoint();
    ViewBeam* beam[3];
    Vec3d at[3];
    bool leaves = true;
    double spacing = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      beam[k] = &beams_[corners[3 * t + k]];
      leaves = leaves && beam[k]->is_leaf();
      if (!leaves) break;
      at[k] = beam[k]->direction * beam[k]->range;
      spacing = std::max(spacing, beam[k]->range * std::sqrt(beam[k]->solid_angle));
    }
    if (!leaves || longest_edge(at[0], at[1], at[2]) > kSteepest * spacing) continue;
    const Vec3d normal = cross(at[1] - at[0], at[2] - at[0]);
    for (ViewBeam* one : beam) one->normal = one->normal + normal;
  }
}

std::optional<std::size_t> ScannerView::nearest(const Vec3d& unit) const {
  double squared;
  std::uint64_t row, slot;
  if (tree_->view().knn(unit, 1, ~std::uint64_t{0}, &squared, &row, &slot) == 0) return std::nullopt;
  return static_cast<std::size_t>(row);
}

}  // namespace pc
