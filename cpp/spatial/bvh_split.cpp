#include "spatial/bvh_split.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"

namespace pc::bvh {

namespace {

constexpr std::size_t kBins = 16;           // at most
constexpr std::size_t kBlock = 16'384;      // items per block of a shared pass: 0.2 ms
constexpr int kHalveDepth = 40;             // from here on ranges are halved by count: 31 more levels at most
constexpr std::size_t kPollEvery = 65'536;  // items or comparisons between two cancel checks

void add_middle(Box4& middles, const Item& item) {
  float middle[4];
  for (int k = 0; k < 4; ++k) middle[k] = item.box.min[k] + item.box.max[k];
  middles.add(middle, middle);
}

}  // namespace

/// Places in which the middles of a range are counted.
struct Splitter::Bins {
  std::array<std::array<Box4, kBins>, 3> box;
  std::array<std::array<std::uint32_t, kBins>, 3> count;
  std::array<float, 3> low, scale;
  std::size_t bins;  ///< few for few items: they cost more than the items

  explicit Bins(const Range& range) : bins(std::min(kBins, 4 + range.count() / 16)) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = range.middles.min[axis];
      const float extent = range.middles.max[axis] - low[axis];
      scale[axis] = extent > 1e-30F ? static_cast<float>(bins) * 0.99999F / extent : 0;
      std::fill_n(box[axis].begin(), bins, Box4::empty());
      std::fill_n(count[axis].begin(), bins, 0U);
    }
  }
  std::size_t place(const Item& item, std::size_t axis) const {
    return static_cast<std::size_t>((item.middle(static_cast<int>(axis)) - low[axis]) * scale[axis]);
  }
  void add(const Item& item) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t at = place(item, axis);
      box[axis][at].add(item.box);
      ++count[axis][at];
    }
  }
  void add(const Bins& other) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (std::size_t at = 0; at < bins; ++at) {
        box[axis][at].add(other.box[axis][at]);
        count[axis][at] += other.count[axis][at];
      }
    }
  }
};

/// Items of `axis` whose place is below `place` go to the left.
struct Splitter::Cut {
  std::size_t axis, place;
  float low, scale;
  Box4 left, right;

  bool to_left(const Item& item) const {
    return static_cast<std::size_t>((item.middle(static_cast<int>(axis)) - low) * scale) < place;
  }
};

Range Splitter::measured(std::size_t begin, std::size_t end, int depth, OpContext& ctx) const {
  Range range{begin, end, Box4::empty(), Box4::empty(), depth, false};
  for (std::size_t i = begin; i < end; ++i) {
    if ((i - begin) % kPollEvery == 0) ctx.checkpoint();
    range.box.add(items_[i].box);
    add_middle(range.middles, items_[i]);
  }
  return range;
}

void Splitter::remove_copies(Range& range, OpContext& ctx) const {
  if (range.unique || range.count() <= kWidth) return;
  for (int axis = 0; axis < 3; ++axis)
    if (range.middles.max[axis] > range.middles.min[axis]) return;
  const auto corner = [&](const Item& item, std::size_t k) {
    return mesh_.vertices[mesh_.indices[std::size_t{item.index()} * 3 + k]];
  };
  std::size_t compared = 0;
  const auto order = [&](const Item& a, const Item& b) {
    if (++compared % kPollEvery == 0) ctx.checkpoint();
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3d p = corner(a, k), q = corner(b, k);
      if (p.x != q.x) return p.x < q.x;
      if (p.y != q.y) return p.y < q.y;
      if (p.z != q.z) return p.z < q.z;
    }
    return a.index() < b.index();
  };
  const auto equal = [&](const Item& a, const Item& b) {
    return corner(a, 0) == corner(b, 0) && corner(a, 1) == corner(b, 1) && corner(a, 2) == corner(b, 2);
  };
  Item *const begin = items_.data + range.begin, *const end = items_.data + range.end;
  std::sort(begin, end, order);
  range.end = range.begin + static_cast<std::size_t>(std::unique(begin, end, equal) - begin);
  range.unique = true;
}

void Splitter::fill(const Range& range, Bins& bins, OpContext& ctx) const {
  if (scratch_.empty() || range.count() <= kBlock) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if ((i - range.begin) % kPollEvery == 0) ctx.checkpoint();
      bins.add(items_[i]);
    }
    return;
  }
  std::vector<Bins> parts((range.count() + kBlock - 1) / kBlock, bins);
  parallel_for(ctx, range.count(), kBlock, [&](std::size_t begin, std::size_t end) {
    Bins& part = parts[begin / kBlock];
    for (std::size_t i = begin; i < end; ++i) part.add(items_[range.begin + i]);
  });
  for (const Bins& part : parts) bins.add(part);
}

bool Splitter::best_cut(const Range& range, Cut& cut, OpContext& ctx) const {
  Bins bins(range);
  fill(range, bins, ctx);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::array<Box4, kBins> above;  // union of the bins from here on
    Box4 box = Box4::empty();
    for (std::size_t at = bins.bins; at-- > 0;) {
      box.add(bins.box[axis][at]);
      above[at] = box;
    }
    box = Box4::empty();
    std::size_t below = 0;
    for (std::size_t at = 1; at < bins.bins; ++at) {
      box.add(bins.box[axis][at - 1]);
      below += bins.count[axis][at - 1];
      if (below == 0 || below == range.count()) continue;
      const double cost =
          static_cast<double>(box.half_area()) * static_cast<double>(below) +
          static_cast<double>(above[at].half_area()) * static_cast<double>(range.count() - below);
      if (cost < best) {
        best = cost;
        cut = {axis, at, bins.low[axis], bins.scale[axis], box, above[at]};
      }
    }
  }
  return best < std::numeric_limits<double>::infinity();
}

void Splitter::split(const Range& range, Range& left, Range& right, OpContext& ctx) const {
  Cut cut;
  const int depth = range.depth + 1;
  if (range.depth >= kHalveDepth || !best_cut(range, cut, ctx)) {
    const std::size_t middle = range.begin + range.count() / 2;
    left = measured(range.begin, middle, depth, ctx);
    right = measured(middle, range.end, depth, ctx);
    left.unique = right.unique = range.unique;
    return;
  }
  left = {range.begin, 0, cut.left, Box4::empty(), depth, false};
  right = {0, range.end, cut.right, Box4::empty(), depth, false};
  left.end = right.begin = divide(range, cut, left, right, ctx);
}

std::size_t Splitter::divide(const Range& range, const Cut& cut, Range& left, Range& right,
                             OpContext& ctx) const {
  if (scratch_.empty() || range.count() <= kBlock) return divide_in_place(range, cut, left, right, ctx);
  return divide_by_blocks(range, cut, left, right, ctx);
}

std::size_t Splitter::divide_in_place(const Range& range, const Cut& cut, Range& left, Range& right,
                                      OpContext& ctx) const {
  std::size_t low = range.begin, high = range.end;
  for (std::size_t swaps = 0;; ++swaps) {
    if (swaps % kPollEvery == 0) ctx.checkpoint();
    while (low < high && cut.to_left(items_[low])) add_middle(left.middles, items_[low++]);
    while (low < high && !cut.to_left(items_[high - 1])) add_middle(right.middles, items_[--high]);
    if (low >= high) return low;
    std::swap(items_[low], items_[high - 1]);
  }
}

/// Every block's items go to their final places by way of the scratch memory, in order.
std::size_t Splitter::divide_by_blocks(const Range& range, const Cut& cut, Range& left, Range& right,
                                       OpContext& ctx) const {
  struct Part {
    Box4 left = Box4::empty(), right = Box4::empty();
    std::size_t below = 0;
  };
  std::vector<Part> parts((range.count() + kBlock - 1) / kBlock);
  parallel_for(ctx, range.count(), kBlock, [&](std::size_t begin, std::size_t end) {
    Part part;
    for (std::size_t i = range.begin + begin; i < range.begin + end; ++i) {
      const bool below = cut.to_left(items_[i]);
      add_middle(below ? part.left : part.right, items_[i]);
      part.below += below ? 1 : 0;
    }
    parts[begin / kBlock] = part;
  });
  std::size_t middle = range.begin;
  for (const Part& part : parts) middle += part.below;
  std::size_t to_left = range.begin;
  std::vector<std::size_t> first(parts.size());
  for (std::size_t block = 0; block < parts.size(); ++block) {
    first[block] = to_left;
    to_left += parts[block].below;
    left.middles.add(parts[block].left);
    right.middles.add(parts[block].right);
  }
  parallel_for(ctx, range.count(), kBlock, [&](std::size_t begin, std::size_t end) {
    std::size_t low = first[begin / kBlock], high = middle + begin - (low - range.begin);
    for (std::size_t i = range.begin + begin; i < range.begin + end; ++i) {
      scratch_[cut.to_left(items_[i]) ? low++ : high++] = items_[i];
    }
  });
  parallel_for(ctx, range.count(), kBlock, [&](std::size_t begin, std::size_t end) {
    std::memcpy(items_.data + range.begin + begin, scratch_.data + range.begin + begin,
                (end - begin) * sizeof(Item));
  });
  return middle;
}

}  // namespace pc::bvh
