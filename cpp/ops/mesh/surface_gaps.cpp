#include "ops/mesh/surface_gaps.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/symmetric_eigen.h"
#include "ops/cloud/percentile.h"

namespace pc {

namespace {

constexpr std::uint32_t kNear = 64, kFar = 256;  // neighbours
constexpr double kFlat = 0.05;                   // most surface variation
constexpr double kSteep =
    1;  // a neighbour farther off the plane than this share of its distance on it is not on it
constexpr std::size_t kLeast = 8;

struct Point2 {
  double x, y;
};

struct Neighbors {
  double squared[kFar];
  std::uint64_t row[kFar], slot[kFar];
};

/// The convex polygon around the origin that is left of the plane by halving the distance to points.
class Cell {
 public:
  explicit Cell(double half_width)
      : corners_{{-half_width, -half_width},
                 {half_width, -half_width},
                 {half_width, half_width},
                 {-half_width, half_width}} {}
  void cut(const Point2& q) {
    const double half = (q.x * q.x + q.y * q.y) / 2;
    const auto beyond = [&](const Point2& p) { return p.x * q.x + p.y * q.y - half; };
    kept_.clear();
    for (std::size_t i = 0; i < corners_.size(); ++i) {
      const Point2 &a = corners_[i], &b = corners_[(i + 1) % corners_.size()];
      const double from = beyond(a), to = beyond(b);
      if (from <= 0) kept_.push_back(a);
      if ((from < 0 && to > 0) || (from > 0 && to < 0)) {
        const double t = from / (from - to);
        kept_.push_back({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)});
      }
    }
    corners_.swap(kept_);
  }
  double farthest() const {
    double squared = 0;
    for (const Point2& p : corners_) squared = std::max(squared, p.x * p.x + p.y * p.y);
    return std::sqrt(squared);
  }

 private:
  std::vector<Point2> corners_, kept_;
};

/// In units of the distance to the last neighbour.
double gap_among(const Vec3d& center, Span<const Vec3d> points, const Neighbors& near, std::uint32_t count) {
  const double unit = 1 / std::sqrt(near.squared[count - 1]);
  std::vector<Vec3d> around(count);
  Vec3d mean{0, 0, 0};
  for (std::uint32_t i = 0; i < count; ++i) {
    around[i] = (points[near.row[i]] - center) * unit;
    mean = mean + around[i] * (1.0 / count);
  }
  Symmetric3 m{0, 0, 0, 0, 0, 0};
  for (const Vec3d& p : around) {
    const Vec3d d = p - mean;
    m.xx += d.x * d.x, m.xy += d.x * d.y, m.xz += d.x * d.z;
    m.yy += d.y * d.y, m.yz += d.y * d.z, m.zz += d.z * d.z;
  }
  const SymmetricEigen3 eigen = symmetric_eigen(m);
  const double sum = eigen.value[0] + eigen.value[1] + eigen.value[2];
  if (!(eigen.value[0] < kFlat * sum)) return SurfaceGap::kNotFlat;
  Cell cell(4);
  for (const Vec3d& p : around) {
    const Point2 q{dot(p, eigen.vector[1]), dot(p, eigen.vector[2])};
    const double on = std::sqrt(q.x * q.x + q.y * q.y);
    if (on > 0 && std::abs(dot(p, eigen.vector[0])) <= kSteep * on) cell.cut(q);
  }
  // The circle around the farthest corner reaches twice as far: beyond the last neighbour nothing is known.
  const double gap = cell.farthest();
  return 2 * gap <= 1 ? gap / unit : SurfaceGap::kOpen;
}

double gap_at(const KdTreeView& tree, Span<const Vec3d> points, std::uint32_t row) {
  Neighbors near;
  double gap = SurfaceGap::kNotFlat;
  for (const std::uint32_t wanted : {kNear, kFar}) {
    const std::uint32_t count = tree.knn(points[row], wanted, row, near.squared, near.row, near.slot);
    const double last = count > 0 ? near.squared[count - 1] : 0;
    if (count < kLeast || !(last > 0) || !std::isfinite(last)) return SurfaceGap::kNotFlat;
    gap = gap_among(points[row], points, near, count);
    if (gap != SurfaceGap::kOpen || count < wanted) return gap;
  }
  return gap;
}

}  // namespace

std::vector<SurfaceGap> surface_gaps(const KdTree& tree, Span<const Vec3d> points, std::size_t most,
                                     OpContext& ctx) {
  const std::size_t stride = std::max<std::size_t>(1, (points.size + most - 1) / most);
  std::vector<SurfaceGap> gaps((points.size + stride - 1) / stride);
  parallel_for(ctx, gaps.size(), 32, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto row = static_cast<std::uint32_t>(i * stride);
      gaps[i] = {row, gap_at(tree.view(), points, row)};
    }
  });
  return gaps;
}

double typical_gap(Span<const SurfaceGap> gaps) {
  std::vector<double> radii;
  std::size_t flat = 0;
  for (const SurfaceGap& gap : gaps) {
    flat += gap.radius_m != SurfaceGap::kNotFlat ? 1 : 0;
    if (gap.radius_m > 0) radii.push_back(gap.radius_m);
  }
  if (2 * flat < gaps.size || radii.empty() || 10 * radii.size() < flat) return 0;
  std::sort(radii.begin(), radii.end());
  return sorted_percentile({radii.data(), radii.size()}, 0.9);
}

}  // namespace pc
