#include "ops/ground/ground_search.h"

#include <algorithm>
#include <vector>

#include "ops/ground/ground_pieces.h"
#include "ops/ground/ground_surface.h"

namespace pc {

namespace {

constexpr double kCoarsest = 16;  // metres: wider than most houses, narrower than most hills
constexpr int kRounds = 2, kLastRounds = 6, kPieceRounds = 3, kFaceRounds = 2;
/// 10 cm for noise and grass, plus 12 cm per metre between points, because the slope is known no better.
constexpr Tolerance kTolerance{0.1, 0.12};
constexpr SurfaceRule kSurface{kTolerance, 0.25, 1.75, 1.0};

void settle(CellLevel& level, int rounds, OpContext& ctx) {
  GroundSurface surface(level, kSurface);
  for (int round = 0; round < rounds; ++round) {
    if (surface.revise(ctx) == 0) return;
  }
}

void join_steps(CellLevel& level, OpContext& ctx) {
  for (int round = 0; round < kPieceRounds; ++round) {
    if (join_level_pieces(level, kTolerance, ctx) == 0) break;
  }
  for (int round = 0; round < kFaceRounds; ++round) {
    if (join_faces(level, kTolerance, ctx) == 0) break;
  }
}

}  // namespace

void find_ground(CellLevel& level, OpContext& ctx) {
  std::vector<CellLevel> coarser;
  const auto at = [&](std::size_t depth) -> CellLevel& { return depth == 0 ? level : coarser[depth - 1]; };
  while (at(coarser.size()).size < kCoarsest && at(coarser.size()).cells() > 1)
    coarser.push_back(coarser_level(at(coarser.size()), ctx));
  std::fill(level.ground.begin(), level.ground.end(), std::uint8_t{0});
  CellLevel& top = at(coarser.size());
  for (std::size_t cell = 0; cell < top.cells(); ++cell) top.ground[cell] = top.empty(cell) ? 0 : 1;
  for (std::size_t depth = coarser.size(); depth-- > 0;) {
    inherit_ground(at(depth + 1), at(depth), ctx);
    coarser.pop_back();
    settle(at(depth), depth == 0 ? kLastRounds : kRounds, ctx);
  }
  join_steps(level, ctx);
}

}  // namespace pc
