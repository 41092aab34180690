#include "ops/trees/cut_trees.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "core/position_hash.h"
#include "ops/trees/border_cells.h"
#include "ops/trees/cloud_border.h"
#include "ops/trees/polled_sort.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

using border_cells::CellPoint;
using border_cells::fill_columns;
using border_cells::Filled;
using border_cells::kFewestColumns;
using border_cells::kLayers;

constexpr std::size_t kGrain = std::size_t{1} << 14;
constexpr std::size_t kMostNear = 2'000'000, kFewestNear = 64, kSpacingSample = 2000;
constexpr std::size_t kMostCorners = 256, kInnerCorners = 16;
constexpr double kFirstReach = 0.025, kMostReach = 0.25;  // of the extent
constexpr double kLayerSpacings = 2, kCellLayers = 4;
constexpr std::uint32_t kFewestTreeCells = 3;
/// Cells of the first layer over those of the next ones. Around a whole crown that is round and smooth these are .6.
constexpr double kLeastShare = 0.6, kLeastRoundShare = 0.8, kLeastTreeShare = 0.5;
constexpr double kTolerance = 1.0 / 3;  // of a layer
constexpr double kMostId = 0x1.0p53 - 1;
constexpr double kMostColumns = 1 << 20;

/// A point near a border.
struct Near {
  Vec3d place;
  std::uint64_t tree;  ///< 0 = none
};

/// Points with the depth of the layers in which they lie.
struct Band {
  std::vector<Near> points;
  double layer_m;
};

std::int32_t index_of(double value, double cell) {
  constexpr double kMost = 1 << 30;
  return static_cast<std::int32_t>(std::clamp(std::floor(value / cell), -kMost, kMost));
}

class CutSearch {
 public:
  CutSearch(Span<const Vec3d> positions, Span<const std::uint8_t> skip, const AnyColumn* trees,
            OpContext& ctx)
      : positions_(positions), skip_(skip), trees_(trees), ctx_(ctx) {}

  std::vector<CutTree> run() {
    const std::size_t n = positions_.size;
    require(skip_.empty() || skip_.size == n, "skip needs one value per point");
    require(trees_ == nullptr || trees_->size() == n, "every column needs one value per point");
    ctx_.begin_phase("Looking at the border", 0);
    if (trees_ == nullptr) {
      search([](std::size_t) { return std::uint64_t{1}; });
    } else {
      visit_scalar(*trees_, [&](auto ids) {
        search([ids](std::size_t row) {
          const double id = std::rint(static_cast<double>(ids[row]));
          return id >= 1 && id <= kMostId ? static_cast<std::uint64_t>(id) : std::uint64_t{0};
        });
      });
    }
    std::vector<CutTree> out;
    for (const auto& [id, cut] : found_) out.push_back(cut);
    return out;
  }

 private:
  template <class TreeOf>
  void search(const TreeOf& tree_of) {
    outline(tree_of);
    if (hull_.size() < 3) return;
    const Vec2d size{box_.max.x - box_.min.x, box_.max.y - box_.min.y};
    const double extent = std::max(size.x, size.y);
    const ConvexPolygon inner = with_fewer_corners(hull_, kInnerCorners);
    const auto side = band(extent, tree_of, [&](const Vec3d& p, std::uint64_t, double reach) {
      return !(depth_of(inner, {p.x, p.y}) > reach) && !(depth_of(hull_, {p.x, p.y}) > reach);
    });
    if (side) cut_sides(*side);
    if (!std::isfinite(top_z_)) return;
    const auto top = band(extent, tree_of, [&](const Vec3d& p, std::uint64_t tree, double reach) {
      return tree > 0 && top_z_ - p.z <= reach;
    });
    if (top) cut_tops(*top);
  }

  template <class Visit>
  void for_each_hit(const Visit& visit) {
    parallel_for_worker(ctx_, positions_.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
      for (std::size_t i = begin; i < end; ++i)
        if ((skip_.empty() || skip_[i] == 0) && is_finite(positions_[i]))
          visit(i, static_cast<std::size_t>(worker));
    });
  }

  /// The hull, the box and the height of the trees.
  template <class TreeOf>
  void outline(const TreeOf& tree_of) {
    struct Part {
      GrowingHull hull;
      Box3d box;
      double top_z = -HUGE_VAL;
    };
    std::vector<Part> parts(static_cast<std::size_t>(ctx_.threads()));
    for_each_hit([&](std::size_t row, std::size_t worker) {
      Part& part = parts[worker];
      const Vec3d& p = positions_[row];
      part.hull.add({p.x, p.y});
      part.box.add(p);
      if (p.z > part.top_z && tree_of(row) > 0) part.top_z = p.z;
    });
    GrowingHull all;
    for (Part& part : parts) {
      for (const Vec2d& corner : part.hull.corners()) all.add(corner);
      box_.add(part.box);
      top_z_ = std::max(top_z_, part.top_z);
    }
    hull_ = with_fewer_corners(all.corners(), kMostCorners);
  }

  /// The points that a border is within reach of. Reaches grow with the spacing of the points there. Nothing if they are few or
  /// sparse.
  template <class TreeOf, class IsNear>
  std::optional<Band> band(double extent, const TreeOf& tree_of, const IsNear& is_near) {
    constexpr int kRounds = 4;
    double reach = kFirstReach * extent;
    for (int round = 0; round < kRounds; ++round) {
      Band found{near_points(reach, tree_of, is_near), 0};
      if (found.points.empty()) return std::nullopt;
      if (found.points.size() < kFewestNear) {
        reach *= 4;
        if (reach > kMostReach * extent) return std::nullopt;
        continue;
      }
      found.layer_m = kLayerSpacings * spacing_of(found.points);
      const double wanted = (kLayers + 1) * found.layer_m;
      if (!(found.layer_m > 0) || wanted > kMostReach * extent) return std::nullopt;
      if (wanted <= reach) return found;
      reach = 1.5 * wanted;
    }
    return std::nullopt;
  }

  /// Halves `reach` while the points are too many; none if they still are at the border itself.
  template <class TreeOf, class IsNear>
  std::vector<Near> near_points(double& reach, const TreeOf& tree_of, const IsNear& is_near) {
    constexpr int kMostHalvings = 5;
    for (int halvings = 0; halvings <= kMostHalvings; ++halvings, reach /= 2) {
      std::vector<std::vector<Near>> parts(static_cast<std::size_t>(ctx_.threads()));
      std::atomic<std::size_t> count{0};
      for_each_hit([&](std::size_t row, std::size_t worker) {
        const std::uint64_t tree = tree_of(row);
        if (count > kMostNear || !is_near(positions_[row], tree, reach)) return;
        ++count;
        parts[worker].push_back({positions_[row], tree});
      });
      if (count > kMostNear) continue;
      std::vector<Near> all;
      all.reserve(count);
      for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
      return all;
    }
    return {};
  }

  /// Median distance of a sample from the nearest point elsewhere.
  double spacing_of(const std::vector<Near>& points) {
    std::vector<Vec3d> places;
    for (const Near& near : points) places.push_back(near.place);
    const KdTree tree({places.data(), places.size()}, ctx_);
    const std::uint64_t every = std::max<std::uint64_t>(1, places.size() / kSpacingSample);
    std::vector<double> squared;
    for (const Vec3d& p : places) {
      if (position_hash(p) % every != 0) continue;
      const double nearest = tree.view().nearest_elsewhere(p);
      if (std::isfinite(nearest)) squared.push_back(nearest);
      if (squared.size() % 256 == 0) ctx_.checkpoint();
    }
    if (squared.empty()) return 0;
    return std::sqrt(nth_smallest(squared.data(), squared.size(), squared.size() / 2));
  }

  void cut_sides(const Band& band) {
    const auto pieces = border_pieces(hull_, kTolerance * band.layer_m);
    for (const BorderPiece& piece : pieces) {
      ctx_.checkpoint();
      const double edge = std::max(kCellLayers * band.layer_m, piece.length() / kMostColumns);
      if (piece.length() < kFewestColumns * edge) continue;
      std::vector<CellPoint> points;
      for (const Near& near : band.points) {
        const auto at = piece.place_of({near.place.x, near.place.y});
        if (!at || !(at->depth < kLayers * band.layer_m)) continue;
        points.push_back({near.tree, index_of(at->along, edge), index_of(near.place.z - box_.min.z, edge),
                          static_cast<std::uint32_t>(at->depth / band.layer_m), at->along});
      }
      const std::vector<bool> cut = cut_columns(points, static_cast<std::size_t>(piece.length() / edge) + 1,
                                                piece.is_circle() ? kLeastRoundShare : kLeastShare);
      std::erase_if(points, [&](const CellPoint& p) { return !cut[static_cast<std::size_t>(p.column)]; });
      for_each_tree(points, [&](std::uint64_t id, const Filled& filled, double span_m) {
        Side& side = sides_[id];
        side.filled.add(filled);
        side.width_m += std::min(filled.columns[0] * edge, span_m);
      });
    }
    for (const auto& [id, side] : sides_) {
      if (side.filled.cells[0] >= kFewestTreeCells && !side.filled.fades(kLeastTreeShare))
        found_[id] = {id, side.width_m, false};
    }
  }

  /// Which columns lie in a window of the border that is cut. Windows of 4, 8, .. columns, half over each other.
  std::vector<bool> cut_columns(std::vector<CellPoint>& points, std::size_t count, double least_share) {
    polled_sort(
        points, [](const CellPoint& a, const CellPoint& b) { return a.key() < b.key(); }, ctx_);
    std::vector<Filled> before(count + 1);  // of the columns before
    std::vector<std::size_t> stems;
    fill_columns({points.data(), points.size()}, [&](std::size_t column, const Filled& filled) {
      before[column + 1] = filled;
      if (filled.is_stem()) stems.push_back(column);
    });
    for (const std::size_t column : stems)  // and where its sides may be
      for (std::size_t i = column; i <= std::min(column + 2, count); ++i) before[i] = {};
    for (std::size_t i = 0; i < count; ++i) before[i + 1].add(before[i]);
    std::vector<bool> cut(count, false);
    for (std::size_t width = std::min<std::size_t>(kFewestColumns, count);;
         width = std::min(2 * width, count)) {
      ctx_.checkpoint();
      for (std::size_t next = 0; next < count; next += std::max<std::size_t>(1, width / 2)) {
        const std::size_t from = std::min(next, count - width);
        Filled window = before[from + width];
        window.add(before[from], -1);
        if (!window.is_cut(least_share)) continue;
        std::fill(cut.begin() + static_cast<std::ptrdiff_t>(from),
                  cut.begin() + static_cast<std::ptrdiff_t>(from + width), true);
      }
      if (width == count) return cut;
    }
  }

  /// Trees with points in the first layer, what theirs fill, and how long they are along the border there.
  template <class Visit>
  void for_each_tree(std::vector<CellPoint>& points, const Visit& visit) {
    const auto key = [](const CellPoint& p) { return std::pair(p.tree, p.key()); };
    polled_sort(
        points, [&](const CellPoint& a, const CellPoint& b) { return key(a) < key(b); }, ctx_);
    for (std::size_t i = 0; i < points.size();) {
      const std::size_t first = i;
      double from = HUGE_VAL, to = -HUGE_VAL;
      for (; i < points.size() && points[i].tree == points[first].tree; ++i) {
        if (points[i].layer > 0) continue;
        from = std::min(from, points[i].along);
        to = std::max(to, points[i].along);
      }
      if (points[first].tree == 0 || from > to) continue;
      Filled filled;
      fill_columns({points.data() + first, i - first},
                   [&](std::size_t, const Filled& column) { filled.add(column); });
      visit(points[first].tree, filled, to - from);
    }
  }

  void cut_tops(const Band& band) {
    const double edge = kCellLayers * band.layer_m;
    std::vector<CellPoint> points;
    std::map<std::uint64_t, std::set<std::int32_t>> rows;  // of the first layer
    for (const Near& near : band.points) {
      const auto layer = static_cast<std::uint32_t>((top_z_ - near.place.z) / band.layer_m);
      if (layer >= kLayers) continue;
      points.push_back({near.tree, index_of(near.place.x - box_.min.x, edge),
                        index_of(near.place.y - box_.min.y, edge), layer, 0});
      if (layer == 0) rows[near.tree].insert(points.back().row);
    }
    for_each_tree(points, [&](std::uint64_t id, const Filled& filled, double) {
      if (!filled.is_cut(kLeastShare) || rows[id].size() < kFewestColumns) return;
      CutTree& cut = found_[id];
      cut.id = id;
      cut.top = true;
    });
  }

  struct Side {
    Filled filled;
    double width_m = 0;
  };

  const Span<const Vec3d> positions_;
  const Span<const std::uint8_t> skip_;
  const AnyColumn* trees_;
  OpContext& ctx_;
  ConvexPolygon hull_;
  Box3d box_;
  double top_z_ = -HUGE_VAL;
  std::map<std::uint64_t, Side> sides_;
  std::map<std::uint64_t, CutTree> found_;
};

}  // namespace

std::vector<CutTree> cut_trees(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                               const AnyColumn* trees, OpContext& ctx) {
  return CutSearch(positions, skip, trees, ctx).run();
}

double cut_trees_bytes(std::uint64_t rows) {
  constexpr double kPerPoint = 130;  // twice while parts are joined; places and their tree; cells
  return kPerPoint * static_cast<double>(std::min<std::uint64_t>(rows, kMostNear));
}

}  // namespace pc
