#include "ops/mesh/scan_mesh_payload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/cloud/order_select.h"
#include "ops/mesh/mesh_measures.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::uint32_t kOutside = 0xFFFFFFFF;

class Payload {
 public:
  Payload(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, Span<const std::uint32_t> scan_ids,
          OpContext& ctx)
      : vertices_(vertices), indices_(indices), scan_ids_(scan_ids), ctx_(ctx), count_(scan_ids.size) {}

  ScanMeshPayload make(const VoxelBox& grid, std::uint64_t most) {
    require(indices_.size == 3 * count_, "one scan per triangle is needed");
    require(most > 0, "max_triangles must be positive");
    bin(VoxelCells(grid));
    ScanMeshPayload out{};
    const std::uint64_t inside = kept_count();
    out.outside_count = count_ - inside;
    out.cap_aspect = kNoAspectCap;
    if (inside > most) {
      cap(most);
      out.cap_aspect = kCappedAspect;
    }
    gather(out);
    out.capped_count = inside - out.cell_ids.size();
    out.surface_area = mesh_area(vertices_, out.indices.view(), ctx_);
    return out;
  }

 private:
  /// Squared lengths of the shortest and the longest edge.
  std::array<double, 2> edges(std::size_t t) const {
    const std::uint32_t* c = indices_.data + 3 * t;
    const Vec3d &p = vertices_[c[0]], &q = vertices_[c[1]], &r = vertices_[c[2]];
    const double a = squared_distance(p, q), b = squared_distance(q, r), d = squared_distance(r, p);
    return {std::min({a, b, d}), std::max({a, b, d})};
  }

  void bin(const VoxelCells& cells) {
    ctx_.begin_phase("Binning into grid", count_);
    cell_.resize(count_);
    longest_.resize(count_);
    parallel_for(ctx_, count_, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        Vec3d sum{0, 0, 0};
        for (std::size_t k = 0; k < 3; ++k) {
          require(indices_[3 * t + k] < vertices_.size, "a triangle has a corner beyond the vertices");
          sum = sum + vertices_[indices_[3 * t + k]];
        }
        cell_[t] = cells.cell_of({sum.x / 3, sum.y / 3, sum.z / 3}).value_or(kOutside);
        longest_[t] = std::sqrt(edges(t)[1]);
      }
    });
  }

  template <class Visit>
  void for_kept(const Visit& visit) {
    for (std::size_t t = 0; t < count_; ++t) {
      if (t % kGrain == 0) ctx_.checkpoint();
      if (cell_[t] != kOutside) visit(t);
    }
  }
  std::uint64_t kept_count() {
    std::uint64_t count = 0;
    for_kept([&](std::size_t) { ++count; });
    return count;
  }

  void cap(std::uint64_t most) {
    std::uint64_t count = 0;
    LaneRange range{std::numeric_limits<double>::infinity(), 0};
    for_kept([&](std::size_t t) {
      const auto [shortest, longest] = edges(t);
      if (!(longest <= kCappedAspect * kCappedAspect * shortest)) {
        cell_[t] = kOutside;
        return;
      }
      ++count;
      range = {std::min(range.min, longest_[t]), std::max(range.max, longest_[t])};
    });
    if (count <= most) return;
    std::vector<PercentileQuery> query{{0, static_cast<double>(most - 1) / static_cast<double>(count - 1), 0}};
    select_percentiles<1>(ctx_, count_, count, {range}, query, [&](std::size_t t, std::array<double, 1>& value) {
      value[0] = longest_[t];
      return cell_[t] != kOutside;
    });
    const double limit = query[0].value;
    std::uint64_t shorter = 0;
    for_kept([&](std::size_t t) { shorter += longest_[t] < limit ? 1 : 0; });
    std::uint64_t equal = most - std::min(most, shorter);
    for_kept([&](std::size_t t) {
      if (longest_[t] < limit) return;
      if (longest_[t] == limit && equal > 0) {
        --equal;
      } else {
        cell_[t] = kOutside;
      }
    });
  }

  void gather(ScanMeshPayload& out) {
    const auto kept = static_cast<std::size_t>(kept_count());
    out.indices = Column<std::uint32_t>(3 * kept);
    out.scan_ids = Column<std::uint32_t>(kept);
    out.cell_ids = Column<std::uint32_t>(kept);
    std::size_t at = 0;
    for_kept([&](std::size_t t) {
      for (std::size_t k = 0; k < 3; ++k) out.indices[3 * at + k] = indices_[3 * t + k];
      out.scan_ids[at] = scan_ids_[t];
      out.cell_ids[at++] = cell_[t];
      out.cap_lmax_m = std::max(out.cap_lmax_m, longest_[t]);
    });
  }

  Span<const Vec3d> vertices_;
  Span<const std::uint32_t> indices_, scan_ids_;
  OpContext& ctx_;
  std::size_t count_;
  BulkVector<std::uint32_t> cell_;  ///< kOutside = dropped
  BulkVector<double> longest_;      ///< metres
};

}  // namespace

ScanMeshPayload scan_mesh_payload(Span<const Vec3d> vertices, Span<const std::uint32_t> indices,
                                  Span<const std::uint32_t> scan_ids, const VoxelBox& grid,
                                  std::uint64_t max_triangles, OpContext& ctx) {
  return Payload(vertices, indices, scan_ids, ctx).make(grid, max_triangles);
}

}  // namespace pc
