#include "ops/wood/crop_search.h"

#include <algorithm>
#include <utility>

#include "core/parallel.h"
#include "spatial/all_knn.h"

namespace pc {

namespace {

constexpr std::uint32_t kOutside = ~std::uint32_t{0};
constexpr int kBisections = 60;
/// Of the voxels of a crop, at most so many are of its part: the others are around it.
constexpr double kMostCore = 0.85;

bool nearer(const NearVoxel& a, const NearVoxel& b) {
  return a.squared < b.squared || (a.squared == b.squared && a.voxel < b.voxel);
}

}  // namespace

CropSearch::CropSearch(Span<const Vec3d> places, std::uint32_t neighbors, OpContext& ctx)
    : places_(places), width_(neighbors - 1), tree_(places, ctx), row_of_(places.size) {
  near_.resize(checked_bytes(places.size, width_));
  std::fill(row_of_.begin(), row_of_.end(), kOutside);
  if (places.empty()) return;
  open_.push_back(0);
  const auto count = static_cast<std::uint32_t>(width_);
  const KdTreeView view = tree_.view();
  ctx.begin_phase("Listing neighbours", tree_.leaf_blocks(all_knn_block(count)).size() - 1);
  all_knn(tree_, count, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
      const auto rows = found.rows(i);
      std::uint32_t* const list = near_.data() + leaf.row[i] * width_;
      for (std::size_t k = 0; k < width_; ++k)
        list[k] = static_cast<std::uint32_t>(k < rows.size ? rows[k] : leaf.row[i]);
    }
  });
}

std::vector<NearVoxel> CropSearch::nearest(const Vec3d& place, std::size_t count, OpContext& ctx) {
  const KdTreeView view = tree_.view();
  double low = 0, high = hint_ > 0 ? hint_ : 1;
  const auto holds = [&](double squared) {
    ctx.checkpoint();
    return view.count_within(place, squared, count) >= count;
  };
  while (!holds(high)) low = std::exchange(high, 4 * high);
  for (int i = 0; i < kBisections && view.count_within(place, high, 2 * count) >= 2 * count; ++i) {
    const double middle = (low + high) / 2;
    (holds(middle) ? high : low) = middle;
  }
  std::vector<NearVoxel> found;
  view.for_each_within(place, high, [&](std::uint64_t row, std::uint64_t, double squared) {
    found.push_back({squared, static_cast<std::uint32_t>(row)});
  });
  std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count) - 1, found.end(),
                   nearer);
  found.resize(count);
  std::sort(found.begin(), found.end(), nearer);
  hint_ = found.back().squared;
  return found;
}

std::vector<std::uint32_t> CropSearch::voxels_of(std::uint32_t node) const {
  const KdTreeView view = tree_.view();
  std::vector<std::uint32_t> open{node}, found;
  while (!open.empty()) {
    const kd_tree::Node& at = view.nodes[open.back()];
    open.pop_back();
    if (at.left != 0) {
      open.push_back(at.left + 1);
      open.push_back(at.left);
      continue;
    }
    const kd_tree::Leaf leaf = view.leaf(at);
    for (std::uint32_t i = 0; i < leaf.count; ++i) found.push_back(static_cast<std::uint32_t>(leaf.row[i]));
  }
  return found;
}

/// Adds what the lists reach; false, with some of it, where `most` voxels are not enough.
bool CropSearch::grow(VoxelPart& part, std::size_t most, std::uint32_t hops) {
  for (const std::uint32_t v : part.voxel) row_of_[v] = 0;
  bool has_room = true;
  for (std::size_t from = 0, hop = 0; hop < hops && has_room; ++hop) {
    const std::size_t end = part.voxel.size();
    for (; from < end && has_room; ++from)
      for (const std::uint32_t next : near_of(part.voxel[from])) {
        if (row_of_[next] != kOutside) continue;
        has_room = part.voxel.size() < most;
        if (!has_room) break;
        row_of_[next] = 0;
        part.voxel.push_back(next);
      }
  }
  for (const std::uint32_t v : part.voxel) row_of_[v] = kOutside;
  return has_room;
}

VoxelPart CropSearch::next_part(std::size_t most, std::uint32_t hops, OpContext& ctx) {
  const KdTreeView view = tree_.view();
  const auto most_core = static_cast<std::uint64_t>(kMostCore * static_cast<double>(most));
  while (!open_.empty()) {
    ctx.checkpoint();
    const std::uint32_t number = open_.back();
    open_.pop_back();
    const kd_tree::Node& node = view.nodes[number];
    const std::uint64_t count = node.end - node.begin;
    const bool is_all = count == places_.size && count <= most;
    if (count <= most_core || is_all || node.left == 0) {
      VoxelPart part{voxels_of(number), count};
      if (grow(part, most, hops) || node.left == 0) return part;
    }
    open_.push_back(node.left + 1);
    open_.push_back(node.left);
  }
  return {};
}

std::vector<std::uint32_t> CropSearch::linked(Span<const std::uint32_t> voxel,
                                              std::vector<std::uint32_t>& out) {
  const std::size_t neighbors = width_ + 1;
  out.resize(voxel.size * neighbors);
  for (std::size_t i = 0; i < voxel.size; ++i) row_of_[voxel[i]] = static_cast<std::uint32_t>(i);
  std::vector<std::uint32_t> open;
  for (std::size_t i = 0; i < voxel.size; ++i) {
    std::uint32_t* const list = out.data() + i * neighbors;
    const auto row = static_cast<std::uint32_t>(i);
    std::size_t count = 0;
    list[count++] = row;
    for (const std::uint32_t next : near_of(voxel[i]))
      if (row_of_[next] != kOutside) list[count++] = row_of_[next];
    if (count < neighbors) open.push_back(row);
    std::fill(list + count, list + neighbors, row);
  }
  for (const std::uint32_t v : voxel) row_of_[v] = kOutside;
  return open;
}

std::vector<std::uint32_t> CropSearch::linked_rows(Span<const std::uint32_t> voxel, OpContext& ctx) {
  ctx.checkpoint();
  std::vector<std::uint32_t> out;
  linked(voxel, out);
  return out;
}

std::vector<std::uint32_t> CropSearch::nearest_rows(Span<const std::uint32_t> voxel, OpContext& ctx) {
  std::vector<std::uint32_t> out;
  const std::vector<std::uint32_t> open = linked(voxel, out);
  if (open.empty()) return out;
  std::vector<Vec3d> places;
  for (const std::uint32_t v : voxel) places.push_back(places_[v]);
  const KdTree tree({places.data(), places.size()}, ctx);
  const KdTreeView view = tree.view();
  parallel_for(ctx, open.size(), 1024, [&](std::size_t begin, std::size_t end) {
    const auto count = static_cast<std::uint32_t>(width_);
    std::vector<double> squared(count);
    std::vector<std::uint64_t> rows(count), slots(count);
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t row = open[i];
      const std::uint32_t found =
          view.knn(places[row], count, row, squared.data(), rows.data(), slots.data());
      std::uint32_t* const list = out.data() + std::size_t{row} * (width_ + 1);
      std::fill(list, list + width_ + 1, row);
      for (std::uint32_t k = 0; k < found; ++k) list[k + 1] = static_cast<std::uint32_t>(rows[k]);
    }
  });
  return out;
}

}  // namespace pc
