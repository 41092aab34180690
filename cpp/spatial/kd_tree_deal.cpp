#include "spatial/kd_tree_deal.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/parallel.h"
#include "core/random.h"

namespace pc::kd_tree {

namespace {

constexpr std::size_t kSamplesPerPart = 128, kMostParts = 1024;
constexpr std::size_t kLeastBlock = std::size_t{1} << 16, kMostBlocks = 2048;
constexpr std::uint16_t kNoPart = 0xffff;

struct Split {
  std::uint32_t axis;
  std::uint32_t left;  ///< split of what is below the value, which that of the others follows; 0 = a part
  double value;
  std::uint16_t part;
};

using Place = std::array<double, 3>;

Place place_of(const Vec3d& p) { return {p.x, p.y, p.z}; }

/// One random row from each of many equal stretches; finite ones.
std::vector<Place> sample_of(Span<const Vec3d> points, std::size_t wanted) {
  std::vector<Place> sample;
  const std::size_t count = std::min(points.size, wanted),
                    step = points.size / std::max<std::size_t>(count, 1);
  sample.reserve(count);
  for (std::size_t t = 0; t < count; ++t) {
    const Vec3d& p = points[t * step + static_cast<std::size_t>(random_u64(3, t) % step)];
    if (is_finite(p)) sample.push_back(place_of(p));
  }
  return sample;
}

/// The splits of a sample into 2^depth parts, fewer where its points coincide.
class Splits {
 public:
  Splits(std::vector<Place> sample, int depth) : splits_(1), sample_(std::move(sample)) {
    divide(0, 0, sample_.size(), depth);
  }

  std::size_t part_count() const { return parts_; }
  const std::vector<Split>& all() const { return splits_; }
  std::uint16_t part_of(const Vec3d& p) const {
    const Place place = place_of(p);
    const Split* split = splits_.data();
    while (split->left != 0)
      split = splits_.data() + split->left + (place[split->axis] < split->value ? 0 : 1);
    return split->part;
  }

 private:
  void divide(std::size_t number, std::size_t begin, std::size_t end, int depth) {
    const std::size_t middle = begin + (end - begin) / 2;
    const std::uint32_t axis = longest_side(begin, end);
    if (depth == 0 || axis > 2) {
      splits_[number].part = static_cast<std::uint16_t>(parts_++);
      return;
    }
    const auto at = [&](std::size_t i) { return sample_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(begin), at(middle), at(end),
                     [axis](const Place& a, const Place& b) { return a[axis] < b[axis]; });
    const double value = sample_[middle][axis];
    const auto first_above =
        std::partition(at(begin), at(end), [&](const Place& p) { return p[axis] < value; });
    const auto left = static_cast<std::uint32_t>(splits_.size());
    splits_[number] = {axis, left, value, 0};
    splits_.resize(splits_.size() + 2);
    const auto between = static_cast<std::size_t>(first_above - sample_.begin());
    divide(left, begin, between, depth - 1);
    divide(left + 1, between, end, depth - 1);
  }
  /// 3 if all points coincide, or there are none.
  std::uint32_t longest_side(std::size_t begin, std::size_t end) const {
    std::uint32_t longest = 3;
    double length = 0;
    for (std::uint32_t axis = 0; axis < 3 && begin < end; ++axis) {
      const auto [low, high] =
          std::minmax_element(sample_.begin() + static_cast<std::ptrdiff_t>(begin),
                              sample_.begin() + static_cast<std::ptrdiff_t>(end),
                              [axis](const Place& a, const Place& b) { return a[axis] < b[axis]; });
      if ((*high)[axis] - (*low)[axis] > length) {
        length = (*high)[axis] - (*low)[axis];
        longest = axis;
      }
    }
    return longest;
  }

  std::vector<Split> splits_;
  std::vector<Place> sample_;
  std::size_t parts_ = 0;
};

/// Where the items of each part begin; the last entry is their number.
using PartBegins = std::vector<std::uint64_t>;

/// The range of parts below a split.
struct Range {
  std::size_t first, last;
};

Range parts_below(const std::vector<Split>& splits, std::uint32_t number) {
  std::uint32_t low = number, high = number;
  while (splits[low].left != 0) low = splits[low].left;
  while (splits[high].left != 0) high = splits[high].left + 1;
  return {splits[low].part, std::size_t{splits[high].part} + 1};
}

/// The nodes of the splits whose children get their share of the points.
std::vector<DealtNode> nodes_of(const std::vector<Split>& splits, const PartBegins& begins) {
  const auto node = [&](std::uint32_t split) {
    const Range range = parts_below(splits, split);
    return DealtNode{begins[range.first], begins[range.last], 0};
  };
  std::vector<DealtNode> nodes{node(0)};
  std::vector<std::uint32_t> split_of{0};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint32_t left = splits[split_of[i]].left;
    if (left == 0) continue;
    const DealtNode first = node(left), second = node(left + 1);
    const std::uint64_t least = std::min(first.end - first.begin, second.end - second.begin);
    if (least == 0 || least < (nodes[i].end - nodes[i].begin) / 16) continue;
    nodes[i].left = static_cast<std::uint32_t>(nodes.size());
    nodes.insert(nodes.end(), {first, second});
    split_of.insert(split_of.end(), {left, left + 1});
  }
  return nodes;
}

}  // namespace

Dealt deal(Span<const Vec3d> points, std::size_t part_points, OpContext& ctx) {
  const std::size_t wanted = std::min(kMostParts, std::bit_ceil(points.size / part_points));
  const Splits splits(sample_of(points, kSamplesPerPart * wanted), std::bit_width(wanted) - 1);
  const std::size_t parts = splits.part_count();
  const std::size_t block = std::max(kLeastBlock, (points.size + kMostBlocks - 1) / kMostBlocks);
  const std::size_t blocks = (points.size + block - 1) / block;
  BulkVector<std::uint16_t> part_of(points.size);
  std::vector<std::uint64_t> next(blocks * parts,
                                  0);  // of a block and part: first their number, then where they go
  parallel_for(ctx, points.size, block, [&](std::size_t begin, std::size_t end) {
    std::uint64_t* const count = &next[begin / block * parts];
    for (std::size_t i = begin; i < end; ++i) {
      const bool finite = is_finite(points[i]);
      part_of[i] = finite ? splits.part_of(points[i]) : kNoPart;
      if (finite) ++count[part_of[i]];
    }
  });
  PartBegins begins;
  std::uint64_t sum = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    begins.push_back(sum);
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::uint64_t count = next[b * parts + part];
      next[b * parts + part] = sum;
      sum += count;
    }
  }
  begins.push_back(sum);
  Dealt out{BulkVector<Item>(static_cast<std::size_t>(sum)), nodes_of(splits.all(), begins)};
  parallel_for(ctx, points.size, block, [&](std::size_t begin, std::size_t end) {
    std::uint64_t* const to = &next[begin / block * parts];
    for (std::size_t i = begin; i < end; ++i) {
      if (part_of[i] == kNoPart) continue;
      const Vec3d& p = points[i];
      out.items[static_cast<std::size_t>(to[part_of[i]]++)] = {{p.x, p.y, p.z}, i};
    }
  });
  return out;
}

}  // namespace pc::kd_tree
