#include "ops/mesh/scan_mesh.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/cloud/order_select.h"
#include "ops/mesh/place_merge.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr double kLeastAngle_rad = 1e-6;

enum Reason : std::uint8_t { kKept, kLength, kAspect, kDegenerate, kSeparation };

using Triangle = std::array<Vec3d, 3>;

struct EdgeRange {
  double shortest, longest;  ///< metres
};
EdgeRange edges_of(const Triangle& p) {
  const double a = squared_distance(p[0], p[1]), b = squared_distance(p[1], p[2]),
               c = squared_distance(p[2], p[0]);
  return {std::sqrt(std::min({a, b, c})), std::sqrt(std::max({a, b, c}))};
}

double angle(const Vec3d& a, const Vec3d& b) {
  const Vec3d c = cross(a, b);
  return std::atan2(std::sqrt(dot(c, c)), dot(a, b));
}

/// Largest edge length over its angle from the scanner.
double separation_of(const Triangle& p, const Vec3d& origin) {
  double most = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3d &a = p[k], &b = p[(k + 1) % 3];
    const double seen = angle(a - origin, b - origin) + kLeastAngle_rad;
    most = std::max(most, std::sqrt(squared_distance(a, b)) / seen);
  }
  return most;
}

bool is_degenerate(const Triangle& p, double shortest) {
  const Vec3d area = cross(p[1] - p[0], p[2] - p[0]);
  if (!(dot(area, area) > 0)) return true;
  return shortest < 2 * kVertexCell_m &&
         (same_place(p[0], p[1]) || same_place(p[1], p[2]) || same_place(p[2], p[0]));
}

class Joiner {
 public:
  Joiner(const std::vector<ScanTriangles>& scans, const ScanMeshParams& params, OpContext& ctx)
      : scans_(scans), params_(params), ctx_(ctx) {}

  ScanMesh join() {
    check();
    classify();
    drop_separated();
    ScanMesh out{};
    out.drops = counted();
    out.split = split_edges(longest_.view(), first_triangle_, ctx_);
    gather(out);
    return out;
  }

 private:
  std::size_t triangle_count() const { return first_triangle_.back(); }

  void check() {
    require(params_.lmax_m > 0, "lmax must be positive");
    require(params_.max_aspect_ratio >= 1, "max_aspect_ratio must be at least 1");
    for (const ScanTriangles& scan : scans_) {
      require(scan.indices.size % 3 == 0, "indices must be three per triangle");
      require(is_finite(scan.origin), "the origin of a scan must be finite");
      first_triangle_.push_back(first_triangle_.back() + scan.indices.size / 3);
      first_point_.push_back(first_point_.back() + scan.points.size);
    }
    require(first_point_.back() < std::numeric_limits<std::uint32_t>::max(),
            "the scans must have fewer than 2^32 - 1 points");
  }

  /// Calls body(scan, first, last) for the triangles of one scan after another, numbered through all scans, in parallel.
  template <class Body>
  void for_triangles(const Body& body) {
    for (std::size_t s = 0; s < scans_.size(); ++s) {
      const std::size_t first = first_triangle_[s];
      parallel_for(ctx_, first_triangle_[s + 1] - first, kGrain,
                   [&](std::size_t begin, std::size_t end) { body(s, first + begin, first + end); });
    }
  }
  const std::uint32_t* corners(std::size_t s, std::size_t t) const {
    return scans_[s].indices.data + 3 * (t - first_triangle_[s]);
  }
  Triangle triangle(std::size_t s, std::size_t t) const {
    const std::uint32_t* c = corners(s, t);
    const Span<const Vec3d>& points = scans_[s].points;
    require(std::max({c[0], c[1], c[2]}) < points.size, "a triangle has a corner beyond the points");
    return {points[c[0]], points[c[1]], points[c[2]]};
  }

  void classify() {
    ctx_.begin_phase("Filtering triangles", triangle_count());
    longest_.resize(triangle_count());
    reason_.resize(triangle_count());
    for_triangles([&](std::size_t s, std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        const Triangle p = triangle(s, t);
        const EdgeRange edges = edges_of(p);
        longest_[t] = edges.longest;
        reason_[t] = !(edges.longest <= params_.lmax_m)                              ? kLength
                     : !(edges.longest <= params_.max_aspect_ratio * edges.shortest) ? kAspect
                     : is_degenerate(p, edges.shortest)                              ? kDegenerate
                                                                                     : kKept;
      }
    });
  }

  /// Applies the separation filter to multi-return scans.
  void drop_separated() {
    if (std::none_of(scans_.begin(), scans_.end(), [](const ScanTriangles& s) { return s.is_multi_return; }))
      return;
    BulkVector<double> separation(triangle_count());
    for_triangles([&](std::size_t s, std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        const bool counts_in = scans_[s].is_multi_return && reason_[t] != kLength;
        separation[t] = counts_in ? separation_of(triangle(s, t), scans_[s].origin) : -1;
      }
    });
    const double limit = kMostSeparation * lower_quartile(separation);
    for_triangles([&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t)
        if (reason_[t] == kKept && separation[t] > limit) reason_[t] = kSeparation;
    });
  }

  /// Entry n / 4 of the sorted values that are not negative; infinite without any.
  double lower_quartile(const BulkVector<double>& values) {
    std::uint64_t count = 0;
    LaneRange range{std::numeric_limits<double>::infinity(), 0};
    for (std::size_t t = 0; t < values.size(); ++t) {
      if (t % kGrain == 0) ctx_.checkpoint();
      if (values[t] < 0) continue;
      ++count;
      range = {std::min(range.min, values[t]), std::max(range.max, values[t])};
    }
    if (count == 0) return std::numeric_limits<double>::infinity();
    const double rank = static_cast<double>(count / 4);
    std::vector<PercentileQuery> query{{0, count > 1 ? rank / static_cast<double>(count - 1) : 0, 0}};
    select_percentiles<1>(ctx_, values.size(), count, {range}, query,
                          [&](std::size_t t, std::array<double, 1>& value) {
                            value[0] = values[t];
                            return value[0] >= 0;
                          });
    return query[0].value;
  }

  TriangleDrops counted() {
    using Sums = std::array<std::uint64_t, 5>;
    std::vector<Sums> blocks((reason_.size() + kGrain - 1) / kGrain, Sums{});
    parallel_for(ctx_, reason_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      Sums sums{};
      for (std::size_t t = begin; t < end; ++t) ++sums[reason_[t]];
      blocks[begin / kGrain] = sums;
    });
    Sums sums{};
    for (const Sums& block : blocks)
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += block[k];
    return {triangle_count(), sums[kKept],       sums[kLength],
            sums[kAspect],    sums[kDegenerate], sums[kSeparation]};
  }

  /// The triangles kept, and their corners as vertices.
  void gather(ScanMesh& out) {
    ctx_.begin_phase("Deduplicating vertices", 0);
    const auto kept = static_cast<std::size_t>(out.drops.kept);
    BulkVector<Vec3d> pooled(scans_.size() == 1 ? 0 : first_point_.back());
    BulkVector<std::uint8_t> used(first_point_.back());
    out.indices = Column<std::uint32_t>(3 * kept);
    out.scan_ids = Column<std::uint32_t>(kept);
    std::size_t at = 0;
    for (std::size_t s = 0; s < scans_.size(); ++s) {
      at = gather_scan(s, at, used.view(), out);
      if (pooled.empty()) continue;
      const Span<const Vec3d>& points = scans_[s].points;
      parallel_for(ctx_, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) pooled[first_point_[s] + i] = points[i];
      });
    }
    const Span<const Vec3d> points = pooled.empty() && !scans_.empty() ? scans_[0].points : pooled.view();
    MergedPlaces merged = merge_places(points, used.view(), ctx_);
    parallel_for(ctx_, out.indices.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) out.indices[i] = merged.number[out.indices[i]];
    });
    out.vertices = std::move(merged.places);
  }

  /// Writes the triangles kept of a scan from place `at` on and marks their points. Returns the place after them.
  std::size_t gather_scan(std::size_t s, std::size_t at, Span<std::uint8_t> used, ScanMesh& out) {
    const std::size_t first = first_triangle_[s], count = first_triangle_[s + 1] - first;
    std::vector<std::size_t> places((count + kGrain - 1) / kGrain + 1, at);
    parallel_for(ctx_, count, kGrain, [&](std::size_t begin, std::size_t end) {
      places[begin / kGrain + 1] = static_cast<std::size_t>(
          std::count(reason_.data() + first + begin, reason_.data() + first + end, std::uint8_t{kKept}));
    });
    for (std::size_t k = 1; k < places.size(); ++k) places[k] += places[k - 1];
    parallel_for(ctx_, count, kGrain, [&](std::size_t begin, std::size_t end) {
      std::size_t to = places[begin / kGrain];
      for (std::size_t t = first + begin; t < first + end; ++t) {
        if (reason_[t] != kKept) continue;
        out.scan_ids[to] = static_cast<std::uint32_t>(s);
        for (std::size_t k = 0; k < 3; ++k) {
          const auto point = static_cast<std::uint32_t>(first_point_[s] + corners(s, t)[k]);
          std::atomic_ref<std::uint8_t>(used[point]).store(1, std::memory_order_relaxed);
          out.indices[3 * to + k] = point;
        }
        ++to;
      }
    });
    return places.back();
  }

  const std::vector<ScanTriangles>& scans_;
  ScanMeshParams params_;
  OpContext& ctx_;
  std::vector<std::size_t> first_triangle_{0}, first_point_{0};
  BulkVector<double> longest_;
  BulkVector<std::uint8_t> reason_;
};

}  // namespace

ScanMesh scan_mesh(const std::vector<ScanTriangles>& scans, const ScanMeshParams& params, OpContext& ctx) {
  return Joiner(scans, params, ctx).join();
}

}  // namespace pc
