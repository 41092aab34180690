#include "ops/ground/mirror_images.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/memory.h"
#include "core/parallel.h"
#include "ops/ground/mirror_columns.h"

namespace pc {

namespace {

constexpr double kColumnM = 0.2, kLevelM = 0.1;
constexpr double kFarthest = 1e11;
constexpr std::uint32_t kMostLevels = 1U << 20;
constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::size_t kFewestPoints = 20;      // of a square
constexpr std::size_t kFewestOfMirror = 2000;  // of one that can show a mirror
constexpr double kSameM = 0.2;
constexpr std::uint32_t kFewestToGoOn = 20;  // voxels
constexpr double kAllImages = 0.8, kAllAlone = 0.7;
constexpr std::uint32_t kLeastRim = 50;  // columns
constexpr double kLeastRimShare = 0.1;   // of the voxels below the mirror
constexpr double kMostSunk = 0.3;        // of the rim

using Square = std::pair<std::int64_t, std::int64_t>;

/// Where a point lies: its square, and its code in it.
struct Place {
  Square square;
  MirrorCode code;
};

std::optional<Place> place_of(const Vec3d& p, double lowest) {
  if (!is_finite(p) || std::abs(p.x) > kFarthest || std::abs(p.y) > kFarthest) return std::nullopt;
  const double level = (p.z - lowest) / kLevelM;
  if (!(level >= 0 && level < kMostLevels)) return std::nullopt;
  constexpr auto kSide = static_cast<std::int64_t>(MirrorColumns::kSide);
  const auto i = static_cast<std::int64_t>(std::floor(p.x / kColumnM));
  const auto j = static_cast<std::int64_t>(std::floor(p.y / kColumnM));
  const auto square = [](std::int64_t k) { return k >= 0 ? k / kSide : -((kSide - 1 - k) / kSide); };
  const Square at{square(i), square(j)};
  const auto column = static_cast<std::uint32_t>((j - at.second * kSide) * kSide + i - at.first * kSide);
  return Place{at, static_cast<std::uint32_t>(level) << 12 | column};
}

struct SquareHash {
  std::size_t operator()(const Square& s) const {
    std::uint64_t h = static_cast<std::uint64_t>(s.first) * 0x9e3779b97f4a7c15ULL;
    h ^= (static_cast<std::uint64_t>(s.second) + (h >> 29)) * 0xbf58476d1ce4e5b9ULL;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }
};

template <class Value>
using BySquare = std::unordered_map<Square, Value, SquareHash>;

double lowest_of(Span<const Vec3d> points, OpContext& ctx) {
  std::vector<double> lowest(static_cast<std::size_t>(ctx.threads()), HUGE_VAL);
  parallel_for_worker(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    double own = HUGE_VAL;
    for (std::size_t i = begin; i < end; ++i)
      if (is_finite(points[i])) own = std::min(own, points[i].z);
    lowest[static_cast<std::size_t>(worker)] = std::min(lowest[static_cast<std::size_t>(worker)], own);
  });
  return *std::min_element(lowest.begin(), lowest.end());
}

/// The codes of the points of all squares with enough of them, one square after another.
struct Squares {
  std::vector<Square> keys;          ///< ascending
  std::vector<std::uint64_t> first;  ///< (keys + 1)
  BySquare<std::uint32_t> index;
  BulkVector<MirrorCode> codes;

  Span<const MirrorCode> of(std::size_t k) const {
    return {codes.data() + first[k], static_cast<std::size_t>(first[k + 1] - first[k])};
  }
};

Squares squares_of(Span<const Vec3d> points, double lowest, OpContext& ctx) {
  std::vector<BySquare<std::uint64_t>> counts(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    BySquare<std::uint64_t>& own = counts[static_cast<std::size_t>(worker)];
    for (std::size_t i = begin; i < end; ++i)
      if (const auto place = place_of(points[i], lowest)) ++own[place->square];
  });
  std::map<Square, std::uint64_t> all;
  for (const auto& own : counts)
    for (const auto& [square, count] : own) all[square] += count;
  Squares out;
  out.first.push_back(0);
  for (const auto& [square, count] : all) {
    if (count < kFewestPoints) continue;
    out.index.emplace(square, static_cast<std::uint32_t>(out.keys.size()));
    out.keys.push_back(square);
    out.first.push_back(out.first.back() + count);
  }
  out.codes.resize(static_cast<std::size_t>(out.first.back()));
  std::vector<std::atomic<std::uint64_t>> next(out.keys.size());
  for (std::size_t k = 0; k < next.size(); ++k) next[k] = out.first[k];
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto place = place_of(points[i], lowest);
      if (!place) continue;
      const auto found = out.index.find(place->square);
      if (found == out.index.end()) continue;
      out.codes[next[found->second].fetch_add(1, std::memory_order_relaxed)] = place->code;
    }
  });
  return out;
}

/// A mirror of a square, its level counted from the lowest point of the cloud.
struct Seen {
  std::uint32_t square, level, voxels, rim, sunk;
};

std::vector<Seen> mirrors_of(const Squares& squares, OpContext& ctx) {
  std::vector<std::optional<Seen>> seen(squares.keys.size());
  parallel_for(ctx, squares.keys.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      if (squares.of(k).size < kFewestOfMirror) continue;
      const MirrorColumns columns(squares.of(k));
      if (const auto verdict = columns.verdict())
        seen[k] = Seen{static_cast<std::uint32_t>(k), columns.base() + verdict->level, verdict->voxels,
                       verdict->rim, verdict->sunk};
    }
  });
  std::vector<Seen> out;
  for (const auto& one : seen)
    if (one) out.push_back(*one);
  std::stable_sort(out.begin(), out.end(), [](const Seen& a, const Seen& b) { return a.level < b.level; });
  return out;
}

/// Images of a square, of one mirror.
struct Shown {
  std::uint32_t mirror;
  std::uint32_t
      all_below;  ///< from this level down all are images, from the lowest point of the cloud; 0 = not all
  std::uint32_t base;  ///< lowest level, likewise
  std::size_t words;
  std::vector<std::uint64_t> images;

  bool has(MirrorCode code) const {
    const std::uint32_t level = code >> 12;
    if (level < base) return false;
    if (images.empty()) return level < all_below;
    if ((level - base) / 64 >= words) return false;
    return (images[(code & 4095U) * words + (level - base) / 64] >> ((level - base) % 64) & 1U) != 0;
  }
};

/// A mirror of the cloud, and the squares that show it.
struct Level {
  std::uint32_t level;
  std::uint64_t voxels;
  std::vector<std::uint32_t> squares;
};

/// Mirrors with a rim, those with most voxels first.
std::vector<Level> levels_of(const std::vector<Seen>& seen) {
  std::vector<Level> out;
  const auto same = static_cast<std::uint32_t>(std::lround(kSameM / kLevelM));
  for (std::size_t begin = 0, end = 0; begin < seen.size(); begin = end) {
    std::uint64_t part = 0, rim = 0, sunk = 0;
    Level one{seen[begin].level, 0, {}};
    for (end = begin; end < seen.size() && (end == begin || seen[end].level - seen[end - 1].level <= same);
         ++end) {
      one.voxels += seen[end].voxels;
      one.squares.push_back(seen[end].square);
      rim += seen[end].rim;
      sunk += seen[end].sunk;
    }
    const auto share = [](std::uint64_t some, std::uint64_t whole) {
      return static_cast<double>(some) / static_cast<double>(whole);
    };
    if (rim < kLeastRim || share(rim, one.voxels) < kLeastRimShare || share(sunk, rim) > kMostSunk) continue;
    for (std::size_t k = begin; k < end && 2 * part < one.voxels; ++k) {
      part += seen[k].voxels;
      one.level = seen[k].level;
    }
    out.push_back(std::move(one));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Level& a, const Level& b) { return a.voxels > b.voxels; });
  return out;
}

using Counts = MirrorColumns::Counts;

/// Calls body(square) for a square and those around it that have points.
template <class Body>
void for_around(const Squares& squares, std::uint32_t square, Body&& body) {
  const Square& at = squares.keys[square];
  for (std::int64_t i = -1; i <= 1; ++i) {
    for (std::int64_t j = -1; j <= 1; ++j) {
      const auto found = squares.index.find({at.first + i, at.second + j});
      if (found != squares.index.end()) body(found->second);
    }
  }
}

/// What a mirror shows in its squares, in those around them, and on from every square whose lower voxels are images. Squares
/// in `shown` belong to a mirror already.
void add_shown(const Level& mirror, std::uint32_t index, const Squares& squares,
               std::map<std::uint32_t, Shown>& shown, OpContext& ctx) {
  std::set<std::uint32_t> reached;
  std::vector<std::uint32_t> next;
  const auto reach = [&](std::uint32_t square) {
    if (shown.count(square) == 0 && reached.insert(square).second) next.push_back(square);
  };
  const auto reach_around = [&](std::uint32_t square) { for_around(squares, square, reach); };
  for (const std::uint32_t square : mirror.squares) reach_around(square);
  std::map<std::uint32_t, std::pair<Counts, Shown>> found;
  while (!next.empty()) {
    const std::vector<std::uint32_t> now = std::exchange(next, {});
    std::vector<std::pair<Counts, Shown>> own(now.size(), {{}, Shown{index, 0, 0, 0, {}}});
    parallel_for(ctx, now.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const MirrorColumns columns(squares.of(now[k]), mirror.level);
        const std::uint32_t level = mirror.level - columns.base();
        auto& [counts, images] = own[k];
        counts = columns.lower(level);
        images.base = columns.base();
        images.words = columns.words();
        images.images = columns.images(level);
      }
    });
    for (std::size_t k = 0; k < now.size(); ++k) {
      const Counts& counts = own[k].first;
      if (counts.low >= kFewestToGoOn && counts.matched >= kAllImages * counts.low) reach_around(now[k]);
      found.emplace(now[k], std::move(own[k]));
    }
  }
  for (auto& [square, own] : found) {
    if (own.first.low == 0) continue;
    Counts sum;
    for_around(squares, square, [&](std::uint32_t other) {
      const auto near = found.find(other);
      if (near == found.end()) return;
      sum.low += near->second.first.low;
      sum.matched += near->second.first.matched;
    });
    const bool alone = own.first.low < kFewestToGoOn || own.first.matched >= kAllAlone * own.first.low;
    if (alone && sum.matched >= kAllImages * sum.low) {
      own.second.all_below = mirror.level - 1;
      own.second.images.clear();
    }
    if (own.second.all_below > 0 || !own.second.images.empty()) shown.emplace(square, std::move(own.second));
  }
}

}  // namespace

MirrorImages mirror_images(HitPoints points, OpContext& ctx) {
  ctx.begin_phase("Looking for mirror images", 0);
  MirrorImages out{Column<std::uint8_t>(points.size()), {}};
  const Span<const Vec3d> all = points.xyz();
  const double lowest = lowest_of(all, ctx);
  if (!std::isfinite(lowest)) return out;
  const Squares squares = squares_of(all, lowest, ctx);
  const std::vector<Level> levels = levels_of(mirrors_of(squares, ctx));
  if (levels.empty()) return out;
  std::map<std::uint32_t, Shown> shown;
  for (std::size_t k = 0; k < levels.size(); ++k)
    add_shown(levels[k], static_cast<std::uint32_t>(k), squares, shown, ctx);
  BySquare<const Shown*> at;
  for (const auto& [square, one] : shown) at.emplace(squares.keys[square], &one);

  for (const Level& mirror : levels)
    out.mirrors.push_back(
        {lowest + kLevelM * mirror.level, 0, 0, {HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL}});
  const std::vector<Mirror> none = out.mirrors;
  std::mutex lock;
  parallel_for(ctx, all.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<Mirror> own = none;
    for (std::size_t i = begin; i < end; ++i) {
      const auto place = place_of(all[i], lowest);
      if (!place) continue;
      const auto found = at.find(place->square);
      if (found == at.end() || !found->second->has(place->code)) continue;
      out.is_image[i] = 1;
      Mirror& mirror = own[found->second->mirror];
      mirror.image_count += 1;
      mirror.depth_m = std::max(mirror.depth_m, mirror.z - all[i].z);
      mirror.low = {std::min(mirror.low[0], all[i].x), std::min(mirror.low[1], all[i].y)};
      mirror.high = {std::max(mirror.high[0], all[i].x), std::max(mirror.high[1], all[i].y)};
    }
    const std::lock_guard<std::mutex> guard(lock);
    for (std::size_t k = 0; k < own.size(); ++k) {
      Mirror& sum = out.mirrors[k];
      sum.image_count += own[k].image_count;
      sum.depth_m = std::max(sum.depth_m, own[k].depth_m);
      for (std::size_t axis = 0; axis < 2; ++axis) {
        sum.low[axis] = std::min(sum.low[axis], own[k].low[axis]);
        sum.high[axis] = std::max(sum.high[axis], own[k].high[axis]);
      }
    }
  });
  std::erase_if(out.mirrors, [](const Mirror& mirror) { return mirror.image_count == 0; });
  std::sort(out.mirrors.begin(), out.mirrors.end(),
            [](const Mirror& a, const Mirror& b) { return a.z < b.z; });
  return out;
}

}  // namespace pc
