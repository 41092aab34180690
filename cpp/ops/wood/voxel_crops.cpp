#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/wood/crop_search.h"
#include "ops/wood/place_cells.h"
#include "ops/wood/voxel_hierarchy.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr double kLeastWeight = 0.05;
/// Mark of the voxels around a part while its crop is made.
constexpr std::uint8_t kAround = 2;

/// Of the means of cells: itself first, then the nearest others.
std::vector<std::uint32_t> neighbors_of_cells(Span<const Vec3d> places, std::uint32_t count, OpContext& ctx) {
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

/// Places and levels of a crop from its voxels and the neighbours of level 0.
void fill_levels(Crop& crop, const VoxelCloud& cloud, const Vec3d& seed, std::vector<std::uint32_t>&& near,
                 const CropParams& params, OpContext& ctx) {
  std::vector<Vec3d> places;
  places.reserve(crop.voxel.size());
  for (const std::uint32_t v : crop.voxel) places.push_back(cloud.nodes.place[v]);
  double edge = cloud.nodes.edge_m;
  std::vector<Vec3d> at = places;
  std::vector<std::uint32_t> cell_of_before;
  for (std::uint32_t level = 0; level < params.levels; ++level) {
    const Span<const Vec3d> all{at.data(), at.size()};
    CropLevel out{relative(all, seed),
                  level == 0 ? std::move(near) : neighbors_of_cells(all, params.neighbors, ctx),
                  {}};
    if (level + 1 < params.levels) {
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
}

}  // namespace

CropSequence::CropSequence(const VoxelCloud& cloud, const CropParams& params, OpContext& ctx)
    : cloud_(cloud), params_(params) {
  require(params.levels >= 1 && params.levels <= kMostVoxelLevels, "levels must be from 1 to 6");
  require(params.neighbors >= 2 && params.neighbors <= kMostVoxelNeighbors, "neighbors must be from 2 to 64");
  require(params.max_voxels >= 256 && params.max_voxels <= kMostCropVoxels,
          "max_voxels must be from 256 to 65536");
  require(params.inner_fraction >= 0.1 && params.inner_fraction <= 1, "inner_fraction must be from 0.1 to 1");
  require(params.class_count >= 2 && params.class_count <= kMostVoxelClasses,
          "class_count must be from 2 to 16");
  require(params.hops <= kMostCropHops, "hops must be from 0 to 8");
  search_ = std::make_unique<CropSearch>(cloud.nodes.place.view(), params.neighbors, ctx);
  claimed_.resize(cloud.size());
  votes_.resize(cloud.size() * params.class_count);
}

CropSequence::~CropSequence() = default;

std::optional<Crop> CropSequence::next(OpContext& ctx) {
  return params_.hops > 0 ? next_part(ctx) : next_around(ctx);
}

std::optional<Crop> CropSequence::next_part(OpContext& ctx) {
  VoxelPart part = search_->next_part(params_.max_voxels, params_.hops, ctx);
  if (part.voxel.empty()) return {};
  claimed_count_ += part.core_count;
  for (std::size_t i = part.core_count; i < part.voxel.size(); ++i) claimed_[part.voxel[i]] |= kAround;
  std::sort(part.voxel.begin(), part.voxel.end());
  Crop crop;
  crop.voxel = std::move(part.voxel);
  for (const std::uint32_t v : crop.voxel) {
    crop.weight.push_back((claimed_[v] & kAround) != 0 ? 0.0F : 1.0F);
    claimed_[v] &= static_cast<std::uint8_t>(~kAround);
  }
  auto rows = search_->linked_rows({crop.voxel.data(), crop.voxel.size()}, ctx);
  fill_levels(crop, cloud_, cloud_.nodes.place[crop.voxel[0]], std::move(rows), params_, ctx);
  return crop;
}

std::optional<Crop> CropSequence::next_around(OpContext& ctx) {
  while (next_seed_ < claimed_.size() && claimed_[next_seed_]) ++next_seed_;
  if (next_seed_ == claimed_.size()) return {};
  const Vec3d seed = cloud_.nodes.place[next_seed_];
  const std::size_t count = std::min<std::size_t>(params_.max_voxels, cloud_.size());
  std::vector<NearVoxel> near = search_->nearest(seed, count, ctx);
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
  std::sort(near.begin(), near.end(),
            [](const NearVoxel& a, const NearVoxel& b) { return a.voxel < b.voxel; });
  Crop crop;
  for (const NearVoxel& one : near) {
    crop.voxel.push_back(one.voxel);
    const double share = farthest > 0 ? std::sqrt(one.squared) / farthest : 0;
    crop.weight.push_back(static_cast<float>(std::clamp(1 - share, kLeastWeight, 1.0)));
  }
  auto rows = search_->nearest_rows({crop.voxel.data(), crop.voxel.size()}, ctx);
  fill_levels(crop, cloud_, seed, std::move(rows), params_, ctx);
  return crop;
}

void CropSequence::vote(const Crop& crop, Span<const float> logits) {
  const std::size_t classes = params_.class_count;
  require(logits.size == crop.voxel.size() * classes, "every voxel of a crop needs one logit per class");
  for (const float logit : logits)
    require(std::isfinite(logit), "the network gave logits that are not finite");
  std::vector<double> share(classes);
  for (std::size_t i = 0; i < crop.voxel.size(); ++i) {
    if (crop.weight[i] == 0) continue;
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
