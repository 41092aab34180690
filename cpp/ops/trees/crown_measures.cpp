#include "ops/trees/crown_measures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/polled_sort.h"
#include "ops/trees/stem_radius.h"

namespace pc {

namespace {

constexpr double kOnFace = 1e-6;  // of a voxel
constexpr double kPi = 3.14159265358979323846;
constexpr double kStemRoom = 0.10, kStemRoomPart = 0.5;
constexpr double kQuadrantPart = 0.05;
constexpr int kQuadrants = 4, kSides = 3;
constexpr std::size_t kPollPoints = 1 << 16;
constexpr double kMostBins = 1e6;
constexpr std::size_t kMostCorners = 720;

/// The rows that are crown.
std::vector<std::size_t> crown_rows(Span<const Vec3d> points, const Stem& stem, OpContext& ctx) {
  std::vector<std::size_t> rows;
  const StemRadius radius_of(stem);
  const bool has_radius = stem.found && std::isfinite(radius_of.at(0));
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kPollPoints == 0) ctx.checkpoint();
    const Vec3d p = points[i] - stem.base;
    const double along = dot(p, stem.axis);
    const Vec3d off = p - stem.axis * along;
    if (has_radius) {
      const double radius = radius_of.at(along);
      if (std::sqrt(dot(off, off)) <= radius + std::max(kStemRoom, kStemRoomPart * radius)) continue;
    }
    rows.push_back(i);
  }
  return rows;
}

/// Points of a height bin, by side of the axis.
using Bin = std::array<std::uint64_t, kQuadrants>;
std::uint64_t total(const Bin& bin) { return std::accumulate(bin.begin(), bin.end(), std::uint64_t{0}); }

bool surrounds(const Bin& bin) {
  const double least = std::max(1.0, kQuadrantPart * static_cast<double>(total(bin)));
  return std::count_if(bin.begin(), bin.end(),
                       [&](std::uint64_t n) { return static_cast<double>(n) >= least; }) >= kSides;
}

double crown_base(Span<const Vec3d> points, const std::vector<std::size_t>& rows, const Stem& stem,
                  const CrownMeasureParams& params, const OpContext& ctx) {
  double lowest = 0, highest = -HUGE_VAL;
  for (const std::size_t i : rows) {
    lowest = std::min(lowest, points[i].z - stem.base.z);
    highest = std::max(highest, points[i].z - stem.base.z);
  }
  const double count = std::floor((highest - lowest) / params.bin_m) + 1;
  if (!(count <= kMostBins)) return std::nan("");
  std::vector<Bin> bins(static_cast<std::size_t>(count), Bin{});
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (k % kPollPoints == 0) ctx.checkpoint();
    const std::size_t i = rows[k];
    const double height = points[i].z - stem.base.z;
    const auto bin = std::min(bins.size() - 1, static_cast<std::size_t>((height - lowest) / params.bin_m));
    const double axial = height / stem.axis.z;
    const Vec3d at = stem.base + stem.axis * axial;
    const int side = (points[i].x >= at.x ? 1 : 0) + (points[i].y >= at.y ? 2 : 0);
    ++bins[bin][static_cast<std::size_t>(side)];
  }
  std::uint64_t fullest = 0;
  for (const Bin& bin : bins) fullest = std::max(fullest, total(bin));
  const double least = std::max(1.0, params.occupancy_fraction * static_cast<double>(fullest));
  const auto occupied = [&](std::size_t i) { return static_cast<double>(total(bins[i])) >= least; };
  const auto gap = static_cast<std::size_t>(std::max(1.0, std::ceil(params.gap_m / params.bin_m - 1e-9)));
  std::size_t top = bins.size();
  while (top > 0 && !occupied(top - 1)) --top;
  if (top == 0) return std::nan("");
  std::size_t low = top - 1, empty = 0;
  for (std::size_t i = top - 1; i-- > 0;) {
    empty = occupied(i) ? 0 : empty + 1;
    if (empty >= gap) break;
    if (occupied(i)) low = i;
  }
  std::size_t base = low;
  for (std::size_t i = low; i < top; ++i) {
    if (!surrounds(bins[i])) continue;
    base = i;
    break;
  }
  return lowest + static_cast<double>(base) * params.bin_m;
}

/// Area, centroid and second central moments of a polygon.
struct PolygonMoments {
  double area = 0;
  Vec2d centroid{0, 0};
  double xx = 0, yy = 0, xy = 0;
};

PolygonMoments moments_of(const ConvexPolygon& polygon) {
  PolygonMoments m;
  const Vec2d origin = polygon[0];
  double x = 0, y = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec2d a{polygon[i].x - origin.x, polygon[i].y - origin.y};
    const Vec2d& next = polygon[(i + 1) % polygon.size()];
    const Vec2d b{next.x - origin.x, next.y - origin.y};
    const double cross_ab = a.x * b.y - a.y * b.x;
    m.area += cross_ab / 2;
    x += cross_ab * (a.x + b.x) / 6;
    y += cross_ab * (a.y + b.y) / 6;
    m.xx += cross_ab * (a.x * a.x + a.x * b.x + b.x * b.x) / 12;
    m.yy += cross_ab * (a.y * a.y + a.y * b.y + b.y * b.y) / 12;
    m.xy += cross_ab * (2 * a.x * a.y + a.x * b.y + b.x * a.y + 2 * b.x * b.y) / 24;
  }
  x /= m.area;
  y /= m.area;
  m.xx = m.xx / m.area - x * x;
  m.yy = m.yy / m.area - y * y;
  m.xy = m.xy / m.area - x * y;
  m.centroid = {origin.x + x, origin.y + y};
  return m;
}

double eccentricity_of(const PolygonMoments& m) {
  const double middle = (m.xx + m.yy) / 2;
  const double spread = std::sqrt((m.xx - m.yy) * (m.xx - m.yy) / 4 + m.xy * m.xy);
  const double large = middle + spread, small = std::max(0.0, middle - spread);
  return large > 0 ? std::sqrt(1 - small / large) : 0;
}

/// The largest distance between corners, and the extent at right angles to it. Cost: O(corners^2).
std::pair<double, double> widths_of(const ConvexPolygon& hull) {
  double widest = 0;
  Vec2d across{1, 0};
  for (std::size_t i = 0; i < hull.size(); ++i) {
    for (std::size_t j = i + 1; j < hull.size(); ++j) {
      const double dx = hull[j].x - hull[i].x, dy = hull[j].y - hull[i].y, d = std::sqrt(dx * dx + dy * dy);
      if (d <= widest) continue;
      widest = d;
      across = {-dy / d, dx / d};
    }
  }
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const Vec2d& p : hull) {
    const double at = (p.x - hull[0].x) * across.x + (p.y - hull[0].y) * across.y;
    low = std::min(low, at);
    high = std::max(high, at);
  }
  return {widest, high - low};
}

using Cell = std::tuple<double, double, double>;  // z, x, y

/// Cubes with a point, by their height.
std::vector<Cell> cubes_of(Span<const Vec3d> points, const std::vector<std::size_t>& rows, double edge,
                           OpContext& ctx) {
  // On a face, as coordinates in millimetres often are, rounding would decide.
  const auto whole = [](double at) { return std::floor(at + kOnFace); };
  std::vector<Cell> cells;
  cells.reserve(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (k % kPollPoints == 0) ctx.checkpoint();
    const Vec3d& p = points[rows[k]];
    cells.emplace_back(whole(p.z / edge), whole(p.x / edge), whole(p.y / edge));
  }
  polled_sort(
      cells.begin(), cells.end(), [](const auto& a, const auto& b) { return a < b; }, ctx);
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  return cells;
}

double volume_of(const std::vector<Cell>& cubes, double edge) {
  return static_cast<double>(cubes.size()) * edge * edge * edge;
}

/// Of the layers of kLayerCubes that hold as many cubes or more.
double depth_of_layers(const std::vector<Cell>& cubes) {
  constexpr std::size_t kLayerCubes = 5;
  std::size_t layers = 0;
  for (std::size_t first = 0, end; first < cubes.size(); first = end) {
    const auto layer = [&](std::size_t i) { return std::floor(std::get<0>(cubes[i]) / kLayerCubes); };
    for (end = first; end < cubes.size() && layer(end) == layer(first);) ++end;
    layers += end - first >= kLayerCubes ? 1 : 0;
  }
  return static_cast<double>(layers) * kLayerCubes * kCrownCube;
}

}  // namespace

double hull_gain(std::size_t corners, std::size_t points) {
  const auto c = static_cast<double>(corners);
  return c / (static_cast<double>(points) + 1 - c);
}

CrownMeasures measure_crown(Span<const Vec3d> points, const Stem& stem, const CrownMeasureParams& params,
                            OpContext& ctx) {
  require(params.voxel_size_m > 0 && params.gap_m > 0 && params.bin_m > 0, "sizes must be above 0");
  const double none = std::nan("");
  CrownMeasures out{0, none, {}, none, none, none, none, none, none, none, none, none, none};
  const std::vector<std::size_t> rows = crown_rows(points, stem, ctx);
  out.point_count = rows.size();
  if (rows.empty()) return out;
  out.base_height_m = crown_base(points, rows, stem, params, ctx);
  const std::vector<Cell> cubes = cubes_of(points, rows, kCrownCube, ctx);
  out.cube_volume_m3 = volume_of(cubes, kCrownCube);
  out.depth_m = depth_of_layers(cubes);
  const double edge = params.voxel_size_m;
  out.voxel_volume_m3 =
      edge == kCrownCube ? out.cube_volume_m3 : volume_of(cubes_of(points, rows, edge, ctx), edge);
  GrowingHull hull;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (k % kPollPoints == 0) ctx.checkpoint();
    hull.add({points[rows[k]].x, points[rows[k]].y});
  }
  const std::size_t corners = hull.corners().size();
  out.hull = with_fewer_corners(hull.corners(), kMostCorners);
  if (out.hull.size() < 3) return out;
  const PolygonMoments moments = moments_of(out.hull);
  out.projected_area_m2 = moments.area;
  out.area_gain_m2 = moments.area * hull_gain(corners, rows.size());
  out.eccentricity = eccentricity_of(moments);
  std::tie(out.max_width_m, out.perp_width_m) = widths_of(out.hull);
  const double dx = moments.centroid.x - stem.base.x, dy = moments.centroid.y - stem.base.y;
  out.offset_m = std::sqrt(dx * dx + dy * dy);
  const double azimuth = std::atan2(dx, dy) * 180 / kPi;
  out.offset_azimuth_deg = azimuth < 0 ? azimuth + 360 : azimuth;
  return out;
}

}  // namespace pc
