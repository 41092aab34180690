#include "ops/fit/crown_points.h"

#include <cmath>
#include <vector>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = 8192;
constexpr double kGroundClass = 1, kLeafClass = 2;
constexpr double kFarthest = 1e15;  // metres; beyond it, products of distances lose their meaning

bool usable(const Vec3d& p) {
  return std::abs(p.x) <= kFarthest && std::abs(p.y) <= kFarthest && std::abs(p.z) <= kFarthest;
}

void check(const TreeRows& tree) {
  const std::size_t n = tree.positions.size;
  require(tree.skip.empty() || tree.skip.size == n, "skip needs one entry per point");
  for (const AnyColumn* column : {tree.ground_class, tree.wood_class}) {
    if (column == nullptr) continue;
    require(column->size() == n, "a label column needs one entry per point");
    require(dtype_size(column->dtype()) <= 8, "labels must be numbers");
  }
  if (tree.order == nullptr) return;
  require(tree.order->dtype() == DType::kU32 || tree.order->dtype() == DType::kU64,
          "an order of rows must be u32 or u64");
  require(tree.first <= tree.order->size() && tree.count <= tree.order->size() - tree.first,
          "the rows of a tree reach beyond the end of the order");
}

bool has_class(const AnyColumn* column, std::size_t row, double wanted) {
  return column != nullptr && visit_scalar(*column, [&](const auto& values) {
           return static_cast<double>(values[row]) == wanted;
         });
}

/// The rows of a tree by their position in its part of the order, or in the cloud.
class Rows {
 public:
  explicit Rows(const TreeRows& tree) : tree_(tree) {}
  std::size_t size() const { return tree_.order == nullptr ? tree_.positions.size : tree_.count; }

  /// Calls visit(row) for the rows from begin to end that are not left out.
  template <class Visit>
  void visit(std::size_t begin, std::size_t end, const Visit& visit) const {
    if (tree_.order == nullptr) {
      for (std::size_t row = begin; row < end; ++row)
        if (tree_.skip.empty() || tree_.skip[row] == 0) visit(row);
    } else if (tree_.order->dtype() == DType::kU32) {
      visit_order(tree_.order->as<std::uint32_t>(), begin, end, visit);
    } else {
      visit_order(tree_.order->as<std::uint64_t>(), begin, end, visit);
    }
  }

  bool is_crown(std::size_t row) const {
    if (tree_.leaf_only && tree_.wood_class != nullptr) return has_class(tree_.wood_class, row, kLeafClass);
    return !is_ground(row);
  }
  bool is_ground(std::size_t row) const { return has_class(tree_.ground_class, row, kGroundClass); }

 private:
  template <class Row, class Visit>
  void visit_order(Span<const Row> order, std::size_t begin, std::size_t end, const Visit& visit) const {
    for (std::size_t i = begin; i < end; ++i) {
      const Row row = order[tree_.first + i];
      require(row < tree_.positions.size, "an order of rows reaches beyond the points");
      visit(static_cast<std::size_t>(row));
    }
  }
  const TreeRows& tree_;
};

/// What one block of rows holds; coordinates as stored.
struct BlockFacts {
  std::uint64_t crown_count = 0, unusable_count = 0;
  Box3d box;
  double ground_z = HUGE_VAL;
};

std::vector<BlockFacts> facts_of(const TreeRows& tree, const Rows& rows, OpContext& ctx) {
  std::vector<BlockFacts> blocks((rows.size() + kBlock - 1) / kBlock);
  parallel_for(ctx, rows.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    BlockFacts facts;
    rows.visit(begin, end, [&](std::size_t row) {
      const Vec3d& p = tree.positions[row];
      if (!usable(p)) {
        ++facts.unusable_count;
        return;
      }
      facts.box.add(p);
      facts.crown_count += rows.is_crown(row) ? 1 : 0;
      if (rows.is_ground(row)) facts.ground_z = std::min(facts.ground_z, p.z);
    });
    blocks[begin / kBlock] = facts;
  });
  return blocks;
}

}  // namespace

CrownPoints crown_points(const TreeRows& tree, OpContext& ctx) {
  check(tree);
  const Rows rows(tree);
  const std::vector<BlockFacts> blocks = facts_of(tree, rows, ctx);
  CrownPoints out{{0, 0, 0}, {}, {}, std::nan(""), 0};
  std::vector<std::uint64_t> before;
  std::uint64_t count = 0;
  double ground_z = HUGE_VAL;
  for (const BlockFacts& facts : blocks) {
    before.push_back(count);
    count += facts.crown_count;
    out.unusable_count += facts.unusable_count;
    out.tree_box.add(facts.box);
    ground_z = std::min(ground_z, facts.ground_z);
  }
  if (out.tree_box.empty()) return out;
  out.origin = out.tree_box.min;
  out.tree_box = {{0, 0, 0}, out.tree_box.max - out.origin};
  if (ground_z < HUGE_VAL) out.ground_z = ground_z - out.origin.z;
  out.xyz.resize(count);
  parallel_for(ctx, rows.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    std::uint64_t at = before[begin / kBlock];
    rows.visit(begin, end, [&](std::size_t row) {
      const Vec3d& p = tree.positions[row];
      if (usable(p) && rows.is_crown(row)) out.xyz[at++] = p - out.origin;
    });
  });
  return out;
}

}  // namespace pc
