#include "ops/ground/ground_search.h"

#include <algorithm>
#include <vector>

#include "ops/ground/ground_pieces.h"
#include "ops/ground/ground_surface.h"

namespace pc {

namespace {

constexpr int kRounds = 2, kLastRounds = 6, kPieceRounds = 3, kFaceRounds = 2;

void settle(CellLevel& level, const GroundConstants& constants, int rounds, OpContext& ctx) {
  GroundSurface surface(level, constants);
  for (int round = 0; round < rounds; ++round) {
    if (surface.revise(ctx) == 0) return;
  }
}

void join_steps(CellLevel& level, const GroundConstants& constants, OpContext& ctx) {
  for (int round = 0; round < kPieceRounds; ++round) {
    if (join_level_pieces(level, constants, ctx) == 0) break;
  }
  for (int round = 0; round < kFaceRounds; ++round) {
    if (join_faces(level, constants, ctx) == 0) break;
  }
}

}  // namespace

void find_ground(CellLevel& level, const GroundConstants& constants, OpContext& ctx) {
  std::vector<CellLevel> coarser;
  const auto at = [&](std::size_t depth) -> CellLevel& { return depth == 0 ? level : coarser[depth - 1]; };
  while (at(coarser.size()).size < constants.coarsest_cell && at(coarser.size()).cells() > 1)
    coarser.push_back(coarser_level(at(coarser.size()), ctx));
  std::fill(level.ground.begin(), level.ground.end(), std::uint8_t{0});
  CellLevel& top = at(coarser.size());
  for (std::size_t cell = 0; cell < top.cells(); ++cell) top.ground[cell] = top.empty(cell) ? 0 : 1;
  for (std::size_t depth = coarser.size(); depth-- > 0;) {
    inherit_ground(at(depth + 1), at(depth), ctx);
    coarser.pop_back();
    settle(at(depth), constants, depth == 0 ? kLastRounds : kRounds, ctx);
  }
  join_steps(level, constants, ctx);
}

}  // namespace pc
