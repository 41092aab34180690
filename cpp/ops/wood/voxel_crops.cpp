#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/wood/place_cells.h"
#include "ops/wood/voxel_hierarchy.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr double kLeastWeight = 0.05;
constexpr int kBisections = 60;

/// A voxel and its squared distance from the seed.
struct Near {
  double squared;
  std::uint32_t voxel;
};
bool nearer(const Near& a, const Near& b) {
  return a.squared < b.squared || (a.squared == b.squared && a.voxel < b.voxel);
}

/// Itself first, then the nearest others.
std::vector<std::uint32_t> neighbors_of(Span<const Vec3d> places, std::uint32_t count, OpContext& ctx) {
  const KdTree tree(places, ctx);
  const KdTreeView view = tree.view();
  std::vector<std::uint32_t> out(places.size * count);
  parallel_for(ctx, places.size, 1024, [&](std::size_t begin, std::size_t end) {
    std::vector<double> squared(count);
    std::vector<std::uint64_t> rows(count), slots(count);
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t found =
          view.knn(places[i], count - 1, i, squared.data(), rows.data(), slots.data());
      std::uint32_t* const list = out.data() + i * count;
      std::fill(list, list + count, static_cast<std::uint32_t>(i));
      for (std::uint32_t k = 0; k < found; ++k) list[k + 1] = static_cast<std::uint32_t>(rows[k]);
    }
  });
  return out;
}

std::vector<float> relative(Span<const Vec3d> places, const Vec3d& seed) {
  std::vector<float> out;
  out.reserve(3 * places.size);
  for (const Vec3d& place : places) {
    const Vec3d d = place - seed;
    for (const double value : {d.x, d.y, d.z}) out.push_back(static_cast<float>(value));
  }
  return out;
}

}  // namespace

struct CropSequence::Search {
  KdTree tree;
  double hint = 0;  ///< squared radius of the last crop

  /// The `count` voxels nearest to a place, nearest first.
  std::vector<Near> nearest(const Vec3d& place, std::size_t count, OpContext& ctx) {
    const KdTreeView view = tree.view();
    double low = 0, high = hint > 0 ? hint : 1;
    const auto holds = [&](double squared) {
      ctx.checkpoint();
      return view.count_within(place, squared, count) >= count;
    };
    while (!holds(high)) low = std::exchange(high, 4 * high);
    for (int i = 0; i < kBisections && view.count_within(place, high, 2 * count) >= 2 * count; ++i) {
      const double middle = (low + high) / 2;
      (holds(middle) ? high : low) = middle;
    }
    std::vector<Near> found;
    view.for_each_within(place, high, [&](std::uint64_t row, std::uint64_t, double squared) {
      found.push_back({squared, static_cast<std::uint32_t>(row)});
    });
    std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count) - 1, found.end(),
                     nearer);
    found.resize(count);
    std::sort(found.begin(), found.end(), nearer);
    hint = found.back().squared;
    return found;
  }
};

CropSequence::CropSequence(const VoxelCloud& cloud, const CropParams& params, OpContext& ctx)
    : cloud_(cloud), params_(params) {
  require(params.levels >= 1 && params.levels <= kMostVoxelLevels, "levels must be from 1 to 6");
  require(params.neighbors >= 2 && params.neighbors <= kMostVoxelNeighbors, "neighbors must be from 2 to 64");
  require(params.max_voxels >= 256 && params.max_voxels <= kMostCropVoxels,
          "max_voxels must be from 256 to 65536");
  require(params.inner_fraction >= 0.1 && params.inner_fraction <= 1, "inner_fraction must be from 0.1 to 1");
  require(params.class_count >= 2 && params.class_count <= kMostVoxelClasses,
          "class_count must be from 2 to 16");
  search_ = std::make_unique<Search>(Search{KdTree(cloud.nodes.place.view(), ctx)});
  claimed_.resize(cloud.size());
  votes_.resize(cloud.size() * params.class_count);
}

CropSequence::~CropSequence() = default;

std::optional<Crop> CropSequence::next(OpContext& ctx) {
  while (next_seed_ < claimed_.size() && claimed_[next_seed_]) ++next_seed_;
  if (next_seed_ == claimed_.size()) return {};
  const Vec3d seed = cloud_.nodes.place[next_seed_];
  const std::size_t count = std::min<std::size_t>(params_.max_voxels, cloud_.size());
  std::vector<Near> near = search_->nearest(seed, count, ctx);
  const bool is_all = count == cloud_.size();
  const std::size_t inner =
      is_all ? count
             : std::max<std::size_t>(
                   1, static_cast<std::size_t>(params_.inner_fraction * static_cast<double>(count)));
  for (std::size_t i = 0; i < inner; ++i) {
    claimed_count_ += claimed_[near[i].voxel] ? 0 : 1;
    claimed_[near[i].voxel] = 1;
  }
  const double farthest = std::sqrt(near.back().squared);
  std::sort(near.begin(), near.end(), [](const Near& a, const Near& b) { return a.voxel < b.voxel; });
  Crop crop;
  std::vector<Vec3d> places;
  for (const Near& one : near) {
    crop.voxel.push_back(one.voxel);
    const double share = farthest > 0 ? std::sqrt(one.squared) / farthest : 0;
    crop.weight.push_back(static_cast<float>(std::clamp(1 - share, kLeastWeight, 1.0)));
    places.push_back(cloud_.nodes.place[one.voxel]);
  }
  double edge = cloud_.nodes.edge_m;
  std::vector<Vec3d> at = places;
  std::vector<std::uint32_t> cell_of_before;
  for (std::uint32_t level = 0; level < params_.levels; ++level) {
    CropLevel out{relative({at.data(), at.size()}, seed),
                  neighbors_of({at.data(), at.size()}, params_.neighbors, ctx),
                  {}};
    if (level + 1 < params_.levels) {
      edge *= kVoxelLevelFactor;
      const PlaceCells cells = place_cells({places.data(), places.size()}, edge, ctx);
      out.parent.resize(at.size());
      for (std::size_t i = 0; i < places.size(); ++i)
        out.parent[level == 0 ? i : cell_of_before[i]] = cells.cell_of[i];
      cell_of_before.assign(cells.cell_of.begin(), cells.cell_of.end());
      at.assign(cells.place.begin(), cells.place.end());
    }
    crop.levels.push_back(std::move(out));
  }
  return crop;
}

void CropSequence::vote(const Crop& crop, Span<const float> logits) {
  const std::size_t classes = params_.class_count;
  require(logits.size == crop.voxel.size() * classes, "every voxel of a crop needs one logit per class");
  for (const float logit : logits)
    require(std::isfinite(logit), "the network gave logits that are not finite");
  std::vector<double> share(classes);
  for (std::size_t i = 0; i < crop.voxel.size(); ++i) {
    const float* const of = logits.data + i * classes;
    const double most = *std::max_element(of, of + classes);
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += share[c] = std::exp(static_cast<double>(of[c]) - most);
    float* const votes = votes_.data() + crop.voxel[i] * classes;
    for (std::size_t c = 0; c < classes; ++c)
      votes[c] += static_cast<float>(static_cast<double>(crop.weight[i]) * share[c] / sum);
  }
}

Column<std::uint8_t> CropSequence::labels(Span<const std::uint8_t> values, std::uint8_t unknown,
                                          OpContext& ctx) const {
  const std::size_t classes = params_.class_count;
  require(values.size == classes, "every class needs a value");
  BulkVector<std::uint8_t> of_voxel(cloud_.size());
  for (std::size_t v = 0; v < of_voxel.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    const float* const votes = votes_.data() + v * classes;
    const float* const most = std::max_element(votes, votes + classes);
    require(*most > 0, "not every voxel was voted on");
    of_voxel[v] = values[static_cast<std::size_t>(most - votes)];
  }
  const auto node_of = cloud_.nodes.node_of.view();
  Column<std::uint8_t> out(node_of.size);
  parallel_for(ctx, node_of.size, 65'536, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = node_of[i] == kNoNode ? unknown : of_voxel[node_of[i]];
  });
  return out;
}

}  // namespace pc
