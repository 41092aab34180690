#include "ops/trees/shared_tops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "ops/trees/tree_rows.h"

namespace pc {

namespace {

constexpr double kReach = 1, kReachOfHeight = 0.1;
constexpr double kFarthest = 1e15;  // metres, of cells that fit into 64 bits

struct Top {
  Vec3d place;
  double lowest;
};

bool is_higher(const Vec3d& a, const Vec3d& b) {
  return std::tuple(-a.z, a.x, a.y) < std::tuple(-b.z, b.x, b.y);
}

void join(std::unordered_map<std::uint64_t, Top>& tops, std::uint64_t tree, const Top& other) {
  const auto [at, is_new] = tops.emplace(tree, other);
  if (is_new) return;
  if (is_higher(other.place, at->second.place)) at->second.place = other.place;
  at->second.lowest = std::min(at->second.lowest, other.lowest);
}

using Cell = std::array<std::int64_t, 3>;

Cell cell_of(const Vec3d& p) {
  const auto along = [](double value) {
    return static_cast<std::int64_t>(std::floor(std::clamp(value, -kFarthest, kFarthest) / kReach));
  };
  return {along(p.x), along(p.y), along(p.z)};
}

struct CellHash {
  std::size_t operator()(const Cell& cell) const {
    std::uint64_t h = 0;
    for (const std::int64_t k : cell) {
      h = (h ^ static_cast<std::uint64_t>(k)) * 0x9e3779b97f4a7c15ULL;
      h ^= h >> 32;
    }
    return static_cast<std::size_t>(h);
  }
};

/// Calls visit(cell) for a cell and the 26 around it.
template <class Visit>
void for_each_around(const Cell& at, const Visit& visit) {
  for (std::int64_t i = -1; i <= 1; ++i)
    for (std::int64_t j = -1; j <= 1; ++j)
      for (std::int64_t k = -1; k <= 1; ++k) visit(Cell{at[0] + i, at[1] + j, at[2] + k});
}

/// Tops by their cells. Most points lie in no cell beside a top, which one bit tells.
class TopCells {
 public:
  TopCells() : near_(kBits / 64) {}
  void add(std::uint32_t top, const Vec3d& place) {
    const Cell at = cell_of(place);
    tops_[at].push_back(top);
    for_each_around(at, [&](const Cell& cell) {
      const std::size_t bit = CellHash{}(cell) % kBits;
      near_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    });
  }
  /// Calls visit(top) for the tops of the cell of `place` and of those around it.
  template <class Visit>
  void for_each_near(const Vec3d& place, const Visit& visit) const {
    const Cell at = cell_of(place);
    const std::size_t bit = CellHash{}(at) % kBits;
    if ((near_[bit / 64] >> (bit % 64) & 1U) == 0) return;
    for_each_around(at, [&](const Cell& cell) {
      const auto found = tops_.find(cell);
      if (found == tops_.end()) return;
      for (const std::uint32_t top : found->second) visit(top);
    });
  }

 private:
  static constexpr std::size_t kBits = std::size_t{1} << 22;
  std::unordered_map<Cell, std::vector<std::uint32_t>, CellHash> tops_;
  std::vector<std::uint64_t> near_;
};

/// Points about a top: of its tree, and of others.
struct Around {
  std::uint64_t own = 0, others = 0;
};

}  // namespace

std::vector<SharedTop> shared_tops(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                   const AnyColumn& trees, OpContext& ctx) {
  require(skip.empty() || skip.size == positions.size, "skip needs one value per point");
  require(trees.size() == positions.size, "every column needs one value per point");
  ctx.begin_phase("Looking at tree tops", 0);
  const auto threads = static_cast<std::size_t>(ctx.threads());
  std::vector<std::unordered_map<std::uint64_t, Top>> parts(threads);
  for_each_tree_row(positions, skip, trees, ctx,
                    [&](std::size_t row, std::uint64_t tree, std::size_t worker) {
                      join(parts[worker], tree, {positions[row], positions[row].z});
                    });
  for (std::size_t k = 1; k < threads; ++k)
    for (const auto& [tree, top] : parts[k]) join(parts[0], tree, top);
  std::vector<std::pair<std::uint64_t, Top>> tops(parts[0].begin(), parts[0].end());
  std::sort(tops.begin(), tops.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

  std::vector<double> reach_sq(tops.size());
  TopCells cells;
  for (std::size_t k = 0; k < tops.size(); ++k) {
    const Top& top = tops[k].second;
    const double reach = std::min(kReach, kReachOfHeight * (top.place.z - top.lowest));
    reach_sq[k] = reach * reach;
    cells.add(static_cast<std::uint32_t>(k), top.place);
  }
  std::vector<std::vector<Around>> counts(threads, std::vector<Around>(tops.size()));
  for_each_tree_row(positions, skip, trees, ctx,
                    [&](std::size_t row, std::uint64_t tree, std::size_t worker) {
                      cells.for_each_near(positions[row], [&](std::uint32_t k) {
                        if (!(squared_distance(positions[row], tops[k].second.place) <= reach_sq[k])) return;
                        Around& around = counts[worker][k];
                        (tops[k].first == tree ? around.own : around.others) += 1;
                      });
                    });
  std::vector<SharedTop> out;
  for (std::size_t k = 0; k < tops.size(); ++k) {
    Around all;
    for (const auto& part : counts) {
      all.own += part[k].own;
      all.others += part[k].others;
    }
    out.push_back(
        {tops[k].first, static_cast<double>(all.others) / static_cast<double>(all.own + all.others)});
  }
  return out;
}

}  // namespace pc
