#include "ops/lad/occlusion_kriging.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/lad/beer_lambert.h"

namespace pc {

namespace {

constexpr std::size_t kFewestDonors = 12, kMostDonors = 2000, kTargetGrain = 256;

bool is_donor(double lad, double variance, std::uint8_t state) {
  return (state & kVoxelSolved) != 0 && (state & kVoxelOccluded) == 0 && lad >= 0 && std::isfinite(lad) &&
         std::isfinite(variance);
}

/// Means of the donors of each layer; NaN without any.
std::vector<double> layer_means(Span<const double> lad, const BulkVector<std::uint32_t>& donors,
                                std::size_t layer, std::uint32_t nz) {
  std::vector<double> sums(nz, 0), counts(nz, 0);
  for (const std::uint32_t v : donors) sums[v / layer] += lad[v], counts[v / layer] += 1;
  for (std::uint32_t k = 0; k < nz; ++k)
    sums[k] = counts[k] > 0 ? sums[k] / counts[k] : std::numeric_limits<double>::quiet_NaN();
  return sums;
}

/// Centres of voxels in the unrotated lattice, from its lower corner.
class Centres {
 public:
  explicit Centres(const VoxelBox& grid)
      : grid_(grid), side_{grid.size.x / grid.nx, grid.size.y / grid.ny, grid.size.z / grid.nz} {}
  Vec3d operator()(std::size_t v) const {
    const std::size_t i = v % grid_.nx, column = v % (std::size_t{grid_.nx} * grid_.ny),
                      j = column / grid_.nx;
    const std::size_t k = v / (std::size_t{grid_.nx} * grid_.ny);
    const double raised = grid_.offsets.empty() ? 0 : grid_.offsets[column];
    return {(static_cast<double>(i) + 0.5) * side_.x, (static_cast<double>(j) + 0.5) * side_.y,
            (static_cast<double>(k) + 0.5) * side_.z + raised};
  }
  double side() const { return (side_.x + side_.y + side_.z) / 3; }

 private:
  const VoxelBox& grid_;
  Vec3d side_;
};

/// A donor by its squared distance from the targets.
struct FarDonor {
  double squared_distance;
  std::uint32_t voxel;
  friend bool operator<(const FarDonor& a, const FarDonor& b) {
    return a.squared_distance != b.squared_distance ? a.squared_distance < b.squared_distance
                                                    : a.voxel < b.voxel;
  }
};

/// The donors nearest to the centroid of the targets; ties by number.
std::vector<KrigingDonor> nearest_donors(const BulkVector<std::uint32_t>& donors,
                                         const BulkVector<std::uint32_t>& targets, Span<const double> lad,
                                         Span<const double> variance, const Centres& centre) {
  Vec3d centroid{0, 0, 0};
  for (const std::uint32_t v : targets)
    centroid = centroid + centre(v) * (1 / static_cast<double>(targets.size()));
  BulkVector<FarDonor> by_distance;
  by_distance.reserve(donors.size());
  for (const std::uint32_t v : donors) by_distance.push_back({squared_distance(centre(v), centroid), v});
  const std::size_t count = std::min(kMostDonors, by_distance.size());
  std::partial_sort(by_distance.begin(), by_distance.begin() + count, by_distance.end());
  std::vector<KrigingDonor> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t v = by_distance[i].voxel;
    chosen.push_back({centre(v), lad[v], variance[v]});
  }
  return chosen;
}

/// Values that kriging may give: at most one range of the donors beyond them; then clipped to 0 .. the largest.
struct Plausible {
  double least, largest;
  bool accepts(double value) const {
    const double spread = largest - least;
    return value >= least - spread && value <= largest + spread;
  }
  double clipped(double value) const { return std::clamp(value, 0.0, largest); }
};

}  // namespace

OcclusionKrigingResult occlusion_kriging(Span<const double> lad, Span<const double> variance,
                                         Span<const std::uint8_t> state, const VoxelBox& grid,
                                         OpContext& ctx) {
  const std::size_t layer = std::size_t{grid.nx} * grid.ny, cells = layer * grid.nz;
  require(lad.size == cells && variance.size == cells && state.size == cells,
          "the voxels do not belong to the grid");
  require(cells > 0 && cells < 4294967295U, "a grid has 1 to 2^32 - 2 cells");
  ctx.begin_phase("Filling occluded voxels", 0);
  OcclusionKrigingResult out{Column<double>(cells), Column<std::uint8_t>(cells), OcclusionFill::kNone, 0, {}};
  BulkVector<std::uint32_t> donors, targets;
  for (std::size_t v = 0; v < cells; ++v) {
    out.lad[v] = lad[v];
    out.state[v] = state[v];
    if ((state[v] & kVoxelOccluded) != 0) targets.push_back(static_cast<std::uint32_t>(v));
    if (is_donor(lad[v], variance[v], state[v])) donors.push_back(static_cast<std::uint32_t>(v));
  }
  if (targets.empty() || donors.empty()) return out;
  const Centres centre(grid);
  const std::vector<double> means = layer_means(lad, donors, layer, grid.nz);
  std::optional<OrdinaryKriging> kriging;
  Plausible plausible{0, 0};
  if (donors.size() >= kFewestDonors) {
    std::vector<KrigingDonor> near = nearest_donors(donors, targets, lad, variance, centre);
    const auto [least, largest] =
        std::minmax_element(near.begin(), near.end(),
                            [](const KrigingDonor& a, const KrigingDonor& b) { return a.value < b.value; });
    plausible = {least->value, largest->value};
    out.variogram = fit_variogram(near, centre.side(), ctx);
    if (out.variogram) kriging.emplace(std::move(near), *out.variogram, ctx);
    if (!kriging || !kriging->solvable()) kriging.reset(), out.variogram.reset();
  }
  BulkVector<std::uint8_t> how(targets.size());
  ctx.begin_phase("Filling occluded voxels", targets.size());
  parallel_for(ctx, targets.size(), kTargetGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      const std::uint32_t v = targets[n];
      const double estimate =
          kriging ? kriging->estimate(centre(v)) : std::numeric_limits<double>::quiet_NaN();
      const double mean = means[v / layer];
      if (plausible.accepts(estimate)) {
        out.lad[v] = plausible.clipped(estimate);
        how[n] = static_cast<std::uint8_t>(OcclusionFill::kKriging);
      } else if (std::isfinite(mean)) {
        out.lad[v] = mean;
        how[n] = static_cast<std::uint8_t>(OcclusionFill::kLayerMean);
      }
      if (how[n] != 0) out.state[v] |= kVoxelFilled;
    }
  });
  for (const std::uint8_t one : how) {
    if (one != 0) ++out.filled_count;
    out.method = std::max(out.method, static_cast<OcclusionFill>(one));
  }
  return out;
}

}  // namespace pc
