#include "ops/ground/ground_pieces.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "core/parallel.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 4096, kPoll = std::size_t{1} << 14;
constexpr int kPairReach = 3, kFaceReach = 2;  // cells
constexpr std::uint32_t kFewestPairs = 2;

struct Direction {
  int u, v;
};
/// Four directions and their opposites.
constexpr std::array<Direction, 8> kDirections{
    {{1, 0}, {0, 1}, {1, 1}, {-1, 1}, {-1, 0}, {0, -1}, {-1, -1}, {1, -1}}};

class Walk {
 public:
  Walk(const CellLevel& level, std::size_t cell)
      : level_(level),
        cell_(cell),
        x_(static_cast<std::int64_t>(cell % level.nx)),
        y_(static_cast<std::int64_t>(cell / level.nx)) {}

  /// The first cell that `wanted` accepts; false if there is none within `reach`.
  template <class Wanted>
  bool find(const Direction& to, int reach, const Wanted& wanted, std::size_t& found) const {
    for (int step = 1; step <= reach; ++step) {
      const std::int64_t u = x_ + step * to.u, v = y_ + step * to.v;
      if (u < 0 || v < 0 || u >= level_.nx || v >= level_.ny) return false;
      found = static_cast<std::size_t>(v * level_.nx + u);
      if (wanted(found)) return true;
    }
    return false;
  }

  /// Horizontal distance between the points of the cell and of `other`, metres.
  double distance(std::size_t other) const {
    const CellPoint &a = level_.points[cell_], &b = level_.points[other];
    const double du = static_cast<double>(static_cast<std::int64_t>(other % level_.nx) - x_) + (b.du - a.du);
    const double dv = static_cast<double>(static_cast<std::int64_t>(other / level_.nx) - y_) + (b.dv - a.dv);
    return std::sqrt(du * du + dv * dv) * level_.size;
  }

 private:
  const CellLevel& level_;
  std::size_t cell_;
  std::int64_t x_, y_;
};

/// Pairs of a piece's cells with ground across its edge: all pairs, and those in which the piece is high above.
struct Edge {
  std::uint32_t pairs, above;
};

template <class Visit>
void for_candidates(const CellLevel& level, OpContext& ctx, const Visit& visit) {
  for (std::size_t cell = 0; cell < level.cells(); ++cell) {
    if (cell % kPoll == 0) ctx.checkpoint();
    if (level.ground[cell] == 0 && !level.empty(cell) && !level.points[cell].scattered) visit(cell);
  }
}

bool on_a_face(const CellLevel& level, std::size_t cell, const GroundConstants& constants) {
  const Walk walk(level, cell);
  const auto is_ground = [&](std::size_t other) { return level.ground[other] != 0; };
  for (std::size_t k = 0; k < 4; ++k) {
    std::size_t one = 0, other = 0;
    if (!walk.find(kDirections[k], kFaceReach, is_ground, one)) continue;
    if (!walk.find(kDirections[k + 4], kFaceReach, is_ground, other)) continue;
    const double a = level.points[one].height, b = level.points[other].height;
    const double to_a = walk.distance(one), to_b = walk.distance(other);
    if (std::abs(a - b) < constants.face_slope * (to_a + to_b)) continue;
    const double line = to_a + to_b > 0 ? (a * to_b + b * to_a) / (to_a + to_b) : std::max(a, b);
    const double limit = std::min(std::max(a, b), line + constants.face_share * std::abs(a - b));
    if (level.points[cell].height <= limit + tolerance_of(constants, level.size)) return true;
  }
  return false;
}

}  // namespace

std::uint64_t join_level_pieces(CellLevel& level, const GroundConstants& constants, OpContext& ctx) {
  UnionFind pieces(level.cells());
  BulkVector<Edge> edges(level.cells());
  const auto any = [&](std::size_t other) { return !level.empty(other); };
  for_candidates(level, ctx, [&](std::size_t cell) {
    const Walk walk(level, cell);
    for (std::size_t k = 0, other = 0; k < 4; ++k) {
      if (!walk.find(kDirections[k], kPairReach, any, other) || level.ground[other] != 0) continue;
      const double step = std::abs(level.points[cell].height - level.points[other].height);
      if (step <= tolerance_of(constants, walk.distance(other))) pieces.join(cell, other);
    }
  });
  for_candidates(level, ctx, [&](std::size_t cell) {
    const Walk walk(level, cell);
    Edge& edge = edges[pieces.root_of(cell)];
    std::size_t other = 0;
    for (const Direction& to : kDirections) {
      if (!walk.find(to, kPairReach, any, other) || level.ground[other] == 0) continue;
      const double step = level.points[cell].height - level.points[other].height;
      edge.pairs += 1;
      edge.above += step > tolerance_of(constants, walk.distance(other)) ? 1 : 0;
    }
  });
  std::uint64_t joined = 0;
  for_candidates(level, ctx, [&](std::size_t cell) {
    const Edge& edge = edges[pieces.root_of(cell)];
    if (edge.pairs < kFewestPairs || edge.above > constants.piece_above * edge.pairs) return;
    level.ground[cell] = 1;
    joined += 1;
  });
  return joined;
}

std::uint64_t join_faces(CellLevel& level, const GroundConstants& constants, OpContext& ctx) {
  BulkVector<std::uint8_t> next(level.cells());
  std::atomic<std::uint64_t> joined{0};
  parallel_for(ctx, level.cells(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t cell = begin; cell < end; ++cell) {
      next[cell] = level.ground[cell];
      if (next[cell] != 0 || level.empty(cell) || level.points[cell].scattered) continue;
      next[cell] = on_a_face(level, cell, constants) ? 1 : 0;
      own += next[cell];
    }
    joined.fetch_add(own, std::memory_order_relaxed);
  });
  std::swap(level.ground, next);
  return joined;
}

}  // namespace pc
