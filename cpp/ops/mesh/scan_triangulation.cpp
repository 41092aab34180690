#include "ops/mesh/scan_triangulation.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "spatial/predicates.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::size_t kCentres = 64;
constexpr std::size_t kSample = 4096;
constexpr double kClearance = 1e-10;  // rad from a projection's centre; directions are rounded to 1e-16

/// Stereographic projection of directions from a centre on the sphere.
class Stereographic {
 public:
  /// `centre`: a unit vector.
  explicit Stereographic(const Vec3d& centre) : n_(centre) {
    const bool upright = std::fabs(centre.z) > 0.9;
    const Vec3d other = upright ? Vec3d{1, 0, 0} : Vec3d{0, 0, 1};
    const Vec3d a = cross(other, n_);
    a_ = a * (1 / std::sqrt(dot(a, a)));
    b_ = cross(n_, a_);
  }
  /// From the opposite centre; triangles keep their sense of rotation.
  Stereographic opposite() const {
    Stereographic other = *this;
    other.n_ = n_ * -1.0;
    std::swap(other.a_, other.b_);
    return other;
  }
  /// Whether the direction of a vector is so near to the centre that its projection says nothing.
  bool too_near(const Vec3d& v) const {
    const double x = dot(a_, v), y = dot(b_, v);
    return dot(n_, v) > 0 && x * x + y * y < kClearance * kClearance * dot(v, v);
  }
  /// Of a vector of length r, not too near the centre. Triangles turn as they do seen from the middle of the sphere.
  Vec2d operator()(const Vec3d& v, double r) const {
    const double x = dot(a_, v), y = dot(b_, v), z = dot(n_, v);
    const double scale = z > 0 ? (r + z) / (x * x + y * y) : 1 / (r - z);  // r - z without cancellation
    return {x * scale, y * scale};
  }

 private:
  Vec3d n_, a_{}, b_{};
};

/// Even directions of a generic orientation: a Fibonacci lattice.
Vec3d centre_of(std::size_t k) {
  const double z = 1 - (2 * static_cast<double>(k) + 0.877) / kCentres;
  const double turn = 0.431 + std::numbers::pi * (3 - std::sqrt(5.0)) * static_cast<double>(k);
  const double r = std::sqrt(1 - z * z);
  return {r * std::cos(turn), r * std::sin(turn), z};
}

class Triangulation {
 public:
  Triangulation(Span<const Vec3d> points, const Vec3d& origin, OpContext& ctx)
      : points_(points), origin_(origin), ctx_(ctx) {}

  ScanTriangulation make() {
    require(is_finite(origin_), "the origin of a scan must be finite");
    require(points_.size < (std::size_t{1} << 29), "at most 2^29 points can be triangulated");
    find_usable();
    const Stereographic projection = project();
    const PlaneTriangulation mesh(plane_.view(), DelaunayCuts::kBoth, ctx_);
    const BulkVector<std::uint32_t> closing = closing_triangles(projection.opposite(), mesh.outline(ctx_));
    plane_.reset();
    const auto faces = [&](const std::array<std::uint32_t, 3>& rows, const std::array<Vec2d, 3>& places) {
      const int turn = turn_of_directions(places);
      return turn == 0 ? faces_scanner(rows) : turn < 0;
    };
    Column<std::uint32_t> indices = mesh.triangles(faces, closing.view(), ctx_);
    name_rows(indices.view());
    return {std::move(indices), mesh.repeated_count(), points_.size - count()};
  }

 private:
  /// Number of usable points.
  std::size_t count() const { return rows_.empty() ? points_.size - unusable_ : rows_.size(); }
  std::uint32_t row(std::size_t i) const { return rows_.empty() ? static_cast<std::uint32_t>(i) : rows_[i]; }
  Vec3d from_scanner(std::size_t i) const { return points_[row(i)] - origin_; }

  static bool usable(const Vec3d& v) {
    return in_exact_range(v) &&
           std::fmax(std::fabs(v.x), std::fmax(std::fabs(v.y), std::fabs(v.z))) > 0x1p-60;
  }

  /// Rows of the usable points, if some are not.
  void find_usable() {
    std::vector<std::size_t> usable_of((points_.size + kGrain - 1) / kGrain + 1, 0);
    parallel_for(ctx_, points_.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        usable_of[begin / kGrain + 1] += usable(points_[i] - origin_) ? 1 : 0;
    });
    for (std::size_t k = 1; k < usable_of.size(); ++k) usable_of[k] += usable_of[k - 1];
    unusable_ = points_.size - usable_of.back();
    if (unusable_ == 0 || unusable_ == points_.size) return;
    rows_.resize(usable_of.back());
    parallel_for(ctx_, points_.size, kGrain, [&](std::size_t begin, std::size_t end) {
      std::size_t at = usable_of[begin / kGrain];
      for (std::size_t i = begin; i < end; ++i)
        if (usable(points_[i] - origin_)) rows_[at++] = static_cast<std::uint32_t>(i);
    });
  }

  /// The centres of projections, those farthest from a sample of the directions first.
  std::vector<Vec3d> centres() const {
    struct Centre {
      double nearest;  ///< largest cosine
      std::size_t number;
    };
    std::vector<Centre> found;
    for (std::size_t k = 0; k < kCentres; ++k) found.push_back({-1, k});
    const std::size_t stride = std::max<std::size_t>(1, count() / kSample);
    for (std::size_t i = 0; i < count(); i += stride) {
      const Vec3d v = from_scanner(i), unit = v * (1 / std::sqrt(dot(v, v)));
      for (Centre& centre : found)
        centre.nearest = std::max(centre.nearest, dot(unit, centre_of(centre.number)));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Centre& a, const Centre& b) { return a.nearest < b.nearest; });
    std::vector<Vec3d> out;
    for (const Centre& centre : found) out.push_back(centre_of(centre.number));
    return out;
  }

  /// Fills plane_. The first centre that no direction is too near to.
  Stereographic project() {
    plane_.resize(count());
    for (const Vec3d& centre : centres()) {
      const Stereographic projection(centre);
      std::atomic<bool> hit{false};
      parallel_for(ctx_, count(), kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end && !hit.load(std::memory_order_relaxed); ++i) {
          const Vec3d v = from_scanner(i);
          if (projection.too_near(v)) {
            hit.store(true, std::memory_order_relaxed);
            return;
          }
          const Vec2d q = projection(v, std::sqrt(dot(v, v)));
          plane_[i] = {exact_coordinate(q.x), exact_coordinate(q.y)};
        }
      });
      if (!hit.load()) return projection;
    }
    throw Error(
        ErrorCode::kInvalidArgument,
        "the directions of the points come too near to every centre that they could be projected from");
  }

  /// Triangles whose circle contains the centre of the projection: of points on the outline, seen from the other side.
  /// Those that face the scanner.
  BulkVector<std::uint32_t> closing_triangles(const Stereographic& opposite,
                                              const BulkVector<std::uint32_t>& outline) {
    BulkVector<std::uint32_t> rim, triangles;
    BulkVector<Vec3d> plane;
    for (const std::uint32_t i : outline) {
      if (rim.size() % kGrain == 0) ctx_.checkpoint();
      const Vec3d v = from_scanner(i);
      if (opposite.too_near(v))
        continue;  // a circle through it and around the centre is no smaller than a half sphere
      const Vec2d q = opposite(v, std::sqrt(dot(v, v)));
      rim.push_back(i);
      plane.push_back({q.x, q.y, 0});
    }
    const DelaunayResult mesh = delaunay_in_plane(plane.view(), ctx_);
    const Span<const std::uint32_t> found = mesh.indices.view();
    for (std::size_t t = 0; t + 2 < found.size; t += 3) {
      if (t % kGrain == 0) ctx_.checkpoint();
      const std::array<std::uint32_t, 3> c{rim[found[t]], rim[found[t + 1]], rim[found[t + 2]]};
      if (orient_2d(in_plane(c[0]), in_plane(c[1]), in_plane(c[2])) > 0)
        continue;  // its circle is a plane one as well
      if (!faces_scanner(c)) continue;
      for (const std::uint32_t corner : c) triangles.push_back(corner);
    }
    return triangles;
  }
  const Vec2d& in_plane(std::uint32_t i) const { return plane_[i]; }

  /// Sign of the volume that three directions span, from their projections; 0 if rounding may have changed it. A direction
  /// (x, y, z) has the projection (x, y) / (1 - z), so with w = (x^2 + y^2 - 1) / 2 of a projection (x, y) the vector
  /// (x, y, w) is the direction, times w + 1. Projections are known to within 1e-15 rad or so.
  static int turn_of_directions(const std::array<Vec2d, 3>& p) {
    const auto w = [](const Vec2d& q) { return (q.x * q.x + q.y * q.y - 1) / 2; };
    const auto turn = [](const Vec2d& q, const Vec2d& s) { return q.x * s.y - s.x * q.y; };
    const double w0 = w(p[0]), w1 = w(p[1]), w2 = w(p[2]);
    const double volume = w0 * turn(p[1], p[2]) + w1 * turn(p[2], p[0]) + w2 * turn(p[0], p[1]);
    const double doubt = 1e-12 * (w0 + 1) * (w1 + 1) * (w2 + 1);
    return (volume > doubt) - (volume < -doubt);
  }
  /// Whether the circle of a triangle is smaller than a half sphere: the scanner is in front of its plane.
  bool faces_scanner(const std::array<std::uint32_t, 3>& corner) const {
    return orient_3d(exact_point(from_scanner(corner[0])), exact_point(from_scanner(corner[1])),
                     exact_point(from_scanner(corner[2])), {0, 0, 0}) < 0;
  }

  /// Replaces numbers of usable points by their rows.
  void name_rows(Span<std::uint32_t> numbers) {
    if (rows_.empty()) return;
    parallel_for(ctx_, numbers.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) numbers[i] = rows_[numbers[i]];
    });
  }

  Span<const Vec3d> points_;
  Vec3d origin_;
  OpContext& ctx_;
  std::size_t unusable_ = 0;
  BulkVector<std::uint32_t> rows_;  ///< of the usable points; empty if all are
  BulkVector<Vec2d> plane_;
};

}  // namespace

ScanTriangulation scan_triangulation(HitPoints points, const Vec3d& origin, OpContext& ctx) {
  ctx.begin_phase("Triangulating", 0);
  return Triangulation(points.xyz(), origin, ctx).make();
}

}  // namespace pc
