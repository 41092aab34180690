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
    const std::uint64_t inside = sum().kept;
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

  /// The triangles kept of kGrain.
  struct Block {
    std::uint64_t kept = 0;
    LaneRange longest{std::numeric_limits<double>::infinity(), 0};  ///< of their longest edges, metres

    void add(const LaneRange& edges) {
      longest = {std::min(longest.min, edges.min), std::max(longest.max, edges.max)};
    }
  };
  void add(std::size_t t, double longest) {
    Block& block = blocks_[t / kGrain];
    ++block.kept;
    block.add({longest, longest});
  }
  Block sum() const {
    Block all;
    for (const Block& block : blocks_) {
      all.kept += block.kept;
      all.add(block.longest);
    }
    return all;
  }
  /// Calls visit(t) for the triangles kept so far, in parallel, after the counts of their block were cleared.
  template <class Visit>
  void recount(const Visit& visit) {
    parallel_for(ctx_, count_, kGrain, [&](std::size_t begin, std::size_t end) {
      blocks_[begin / kGrain] = {};
      for (std::size_t t = begin; t < end; ++t)
        if (cell_[t] != kOutside) visit(t);
    });
  }

  void bin(const VoxelCells& cells) {
    ctx_.begin_phase("Binning into grid", count_);
    cell_.resize(count_);
    blocks_.resize((count_ + kGrain - 1) / kGrain);
    recount([&](std::size_t t) {
      Vec3d sum{0, 0, 0};
      for (std::size_t k = 0; k < 3; ++k) {
        require(indices_[3 * t + k] < vertices_.size, "a triangle has a corner beyond the vertices");
        sum = sum + vertices_[indices_[3 * t + k]];
      }
      cell_[t] = cells.cell_of({sum.x / 3, sum.y / 3, sum.z / 3}).value_or(kOutside);
      if (cell_[t] != kOutside) add(t, std::sqrt(edges(t)[1]));
    });
  }

  void cap(std::uint64_t most) {
    BulkVector<double> longest(count_);  // metres
    recount([&](std::size_t t) {
      const auto [shortest_squared, longest_squared] = edges(t);
      if (longest_squared <= kCappedAspect * kCappedAspect * shortest_squared) {
        longest[t] = std::sqrt(longest_squared);
        add(t, longest[t]);
      } else {
        cell_[t] = kOutside;
      }
    });
    if (sum().kept <= most) return;
    const double limit = shortest_of(longest, most);
    std::uint64_t shorter = 0;
    for_kept([&](std::size_t t) { shorter += longest[t] < limit ? 1 : 0; });
    std::uint64_t equal = most - std::min(most, shorter);
    for_kept([&](std::size_t t) {
      if (longest[t] < limit) return;
      if (longest[t] == limit && equal > 0) {
        --equal;
      } else {
        cell_[t] = kOutside;
      }
    });
    recount([&](std::size_t t) { add(t, longest[t]); });
  }
  /// The longest of the `most` shortest edges of triangles kept.
  double shortest_of(const BulkVector<double>& longest, std::uint64_t most) {
    const Block all = sum();
    std::vector<PercentileQuery> query{
        {0, static_cast<double>(most - 1) / static_cast<double>(all.kept - 1), 0}};
    select_percentiles<1>(ctx_, count_, all.kept, {all.longest}, query,
                          [&](std::size_t t, std::array<double, 1>& value) {
                            value[0] = longest[t];
                            return cell_[t] != kOutside;
                          });
    return query[0].value;
  }
  template <class Visit>
  void for_kept(const Visit& visit) {
    for (std::size_t t = 0; t < count_; ++t) {
      if (t % kGrain == 0) ctx_.checkpoint();
      if (cell_[t] != kOutside) visit(t);
    }
  }

  void gather(ScanMeshPayload& out) {
    const Block all = sum();
    const auto kept = static_cast<std::size_t>(all.kept);
    out.indices = Column<std::uint32_t>(3 * kept);
    out.scan_ids = Column<std::uint32_t>(kept);
    out.cell_ids = Column<std::uint32_t>(kept);
    out.cap_lmax_m = all.longest.max;
    std::vector<std::size_t> firsts{0};
    for (const Block& block : blocks_) firsts.push_back(firsts.back() + static_cast<std::size_t>(block.kept));
    parallel_for(ctx_, count_, kGrain, [&](std::size_t begin, std::size_t end) {
      std::size_t at = firsts[begin / kGrain];
      for (std::size_t t = begin; t < end; ++t) {
        if (cell_[t] == kOutside) continue;
        for (std::size_t k = 0; k < 3; ++k) out.indices[3 * at + k] = indices_[3 * t + k];
        out.scan_ids[at] = scan_ids_[t];
        out.cell_ids[at++] = cell_[t];
      }
    });
  }

  Span<const Vec3d> vertices_;
  Span<const std::uint32_t> indices_, scan_ids_;
  OpContext& ctx_;
  std::size_t count_;
  BulkVector<std::uint32_t> cell_;  ///< kOutside = dropped
  std::vector<Block> blocks_;
};

}  // namespace

ScanMeshPayload scan_mesh_payload(Span<const Vec3d> vertices, Span<const std::uint32_t> indices,
                                  Span<const std::uint32_t> scan_ids, const VoxelBox& grid,
                                  std::uint64_t max_triangles, OpContext& ctx) {
  return Payload(vertices, indices, scan_ids, ctx).make(grid, max_triangles);
}

}  // namespace pc
