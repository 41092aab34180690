#include "ops/mesh/ball_tiles.h"

namespace pc {

namespace {

/// Calls visit(tile) for the tiles that hold a place, ascending.
template <class Visit>
void for_tiles(const BallTiles& tiles, const Vec3d& p, double halo, const Visit& visit) {
  struct Range {
    std::size_t begin, end;
  };
  // One tile more on either side: `reaches` decides, in the same arithmetic for every caller.
  const auto range = [&](double v, double from, double step) {
    const std::size_t low = tiles.along(v - halo, from, step), high = tiles.along(v + halo, from, step);
    return Range{low > 0 ? low - 1 : 0, std::min(tiles.per_side, high + 2)};
  };
  const Range x = range(p.x, tiles.low.x, tiles.width.x), y = range(p.y, tiles.low.y, tiles.width.y);
  for (std::size_t row = y.begin; row < y.end; ++row) {
    if (!tiles.reaches(row, p.y, tiles.low.y, tiles.width.y, halo)) continue;
    for (std::size_t column = x.begin; column < x.end; ++column)
      if (tiles.reaches(column, p.x, tiles.low.x, tiles.width.x, halo)) visit(row * tiles.per_side + column);
  }
}

}  // namespace

TileRows tile_rows(Span<const Vec3d> points, const BallTiles& tiles, double halo, OpContext& ctx) {
  constexpr std::size_t kPollEvery = 16'384;
  TileRows out;
  out.first.resize(tiles.count() + 1);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    for_tiles(tiles, points[i], halo, [&](std::size_t tile) { ++out.first[tile + 1]; });
  }
  BulkVector<std::uint64_t> next(tiles.count());
  for (std::size_t tile = 0; tile < tiles.count(); ++tile) {
    next[tile] = out.first[tile];
    out.first[tile + 1] += out.first[tile];
  }
  out.rows.resize(out.first[tiles.count()]);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    for_tiles(tiles, points[i], halo,
              [&](std::size_t tile) { out.rows[next[tile]++] = static_cast<std::uint32_t>(i); });
  }
  return out;
}

}  // namespace pc
