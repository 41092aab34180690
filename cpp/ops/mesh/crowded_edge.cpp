#include "ops/mesh/crowded_edge.h"

#include <algorithm>
#include <cmath>

namespace pc {

namespace {

constexpr std::size_t kMostCompared = 16;  // triangles of which all pairs are compared
constexpr double kSameDirection = 0.5;     // added to the cosine of a pair that runs in the same direction
constexpr std::size_t kPoll = std::size_t{1} << 16;

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Unit direction off the edge in the plane across it, and a number from 0 to 4 that rises with its angle.
struct Direction {
  double x = 0, y = 0, turn = 0;
  std::uint32_t half = 0;
  bool runs_up = false;
};

double turn_of(double x, double y) {
  if (y >= 0) return x >= 0 ? y / (x + y) : 1 - x / (y - x);
  return x < 0 ? 2 - y / (-x - y) : 3 + x / (x - y);
}

Vec3d unit(const Vec3d& v) {
  const double longest = std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)});
  if (!(longest > 0)) return {0, 0, 0};
  const Vec3d scaled = v * (1 / longest);
  return scaled * (1 / std::sqrt(dot(scaled, scaled)));
}

/// The directions by angle; at the same angle those that run down come first, as if a solid were between them.
std::vector<Direction> directions(const Vec3d& low, const Vec3d& high, std::vector<CrowdedSide>& sides,
                                  OpContext& ctx) {
  const Vec3d axis = unit(high - low);
  const auto across = [&](const Vec3d& p) {
    const Vec3d off = p - low;
    return unit(off - axis * dot(off, axis));
  };
  const auto first = std::min_element(
      sides.begin(), sides.end(), [](const CrowdedSide& a, const CrowdedSide& b) { return a.half < b.half; });
  const Vec3d x = across(first->apex), y = cross(axis, x);
  std::vector<Direction> out;
  out.reserve(sides.size());
  for (const CrowdedSide& side : sides) {
    const Vec3d d = across(side.apex);
    const double turn = turn_of(dot(d, x), dot(d, y));
    out.push_back({dot(d, x), dot(d, y), std::isfinite(turn) ? turn : 0, side.half, side.runs_up});
  }
  std::size_t compared = 0;
  std::sort(out.begin(), out.end(), [&](const Direction& a, const Direction& b) {
    if (++compared % kPoll == 0) ctx.checkpoint();
    if (a.turn != b.turn) return a.turn < b.turn;
    return a.runs_up != b.runs_up ? b.runs_up : a.half < b.half;
  });
  return out;
}

/// The triangle that runs up has its outside at larger angles: solids begin at one that runs down.
Pairs bracket_pairs(const std::vector<Direction>& around) {
  Pairs pairs;
  std::vector<std::uint32_t> open;
  std::vector<std::uint8_t> taken(around.size());
  for (std::size_t i = 0; i < 2 * around.size(); ++i) {
    const std::size_t at = i % around.size();
    if (taken[at] != 0) continue;
    if (!around[at].runs_up) {
      if (i < around.size()) open.push_back(static_cast<std::uint32_t>(at));
    } else if (!open.empty()) {
      pairs.emplace_back(around[open.back()].half, around[at].half);
      taken[at] = taken[open.back()] = 1;
      open.pop_back();
    }
  }
  return pairs;
}

Pairs flattest_pairs(const std::vector<Direction>& around) {
  Pairs pairs;
  std::vector<std::uint8_t> taken(around.size());
  for (;;) {
    double least = HUGE_VAL;
    std::size_t a = 0, b = 0;
    for (std::size_t i = 0; i < around.size(); ++i) {
      for (std::size_t j = i + 1; j < around.size(); ++j) {
        if (taken[i] != 0 || taken[j] != 0) continue;
        const double cosine = around[i].x * around[j].x + around[i].y * around[j].y +
                              (around[i].runs_up == around[j].runs_up ? kSameDirection : 0);
        if (!(cosine < least)) continue;
        least = cosine;
        a = i;
        b = j;
      }
    }
    if (a == b) return pairs;
    taken[a] = taken[b] = 1;
    pairs.emplace_back(around[a].half, around[b].half);
  }
}

}  // namespace

Pairs pairs_round_edge(const Vec3d& low, const Vec3d& high, std::vector<CrowdedSide>& sides, OpContext& ctx) {
  const std::vector<Direction> around = directions(low, high, sides, ctx);
  bool alternate = around.size() % 2 == 0;
  for (std::size_t i = 0; i < around.size() && alternate; ++i)
    alternate = around[i].runs_up != around[(i + 1) % around.size()].runs_up;
  return alternate || around.size() > kMostCompared ? bracket_pairs(around) : flattest_pairs(around);
}

}  // namespace pc
