#include "ops/octree/octree_sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif

#include "core/parallel.h"
#include "core/prefetch.h"
#include "core/random.h"
#include "ops/octree/dart_grid.h"
#include "ops/octree/level_scan.h"

namespace pc::octree {

namespace {

constexpr int kTileLevels = 2;  // a tile is a node two levels below: 128 / 4 = 32 minimum distances wide
static_assert(kSpacingsPerNode >> kTileLevels == DartGrid::kTile);
constexpr float kBorder = 1.001f;  // minimum distance plus a margin for rounding
constexpr std::uint32_t kPoll = 1u << 16;
constexpr std::uint32_t kPicks = 16;  // candidates drawn ahead
constexpr std::uint32_t kAhead = 8;   // records prefetched
static_assert(kPoll % kPicks == 0);

/// A node of level k + 2, or an octant of a leaf of level k + 1: the unit of sampling.
struct Tile {
  std::uint32_t begin, end;  ///< records
  Steps at;                  ///< coordinates at the tile's level
  /// Accepted records near its faces, for adjacent tiles: kGroups + 1 offsets into the list itself, then the records of
  /// each group. Null if there are none.
  const std::uint32_t* border;
};

/// Where a point lies on each axis: near the low face (0), between (1), near the high face (2).
constexpr std::uint32_t kGroups = 27;
constexpr std::uint32_t group_of(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return (x * 3 + y) * 3 + z;
}

/// A stretch of side numbers.
struct Sides {
  std::uint32_t first, last;
};
/// The sides of an adjacent tile's points that may lie near this one, where that tile is `step` tiles further.
constexpr Sides facing(int step) { return step > 0 ? Sides{0, 0} : step < 0 ? Sides{2, 2} : Sides{0, 2}; }

/// Tiles of one level, found by their coordinates.
class TileMap {
 public:
  BulkVector<Tile> tiles;

  void index() {
    std::size_t slots = 16;
    while (slots < 2 * tiles.size()) slots *= 2;
    slots_.clear();
    slots_.resize(slots);
    for (std::uint32_t i = 0; i < tiles.size(); ++i) {
      std::size_t slot = hash(tiles[i].at);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = i + 1;
    }
  }
  const Tile* find(const Steps& at) const {
    for (std::size_t slot = hash(at);; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] == 0) return nullptr;
      const Tile& tile = tiles[slots_[slot] - 1];
      if (tile.at.x == at.x && tile.at.y == at.y && tile.at.z == at.z) return &tile;
    }
  }

 private:
  std::size_t hash(const Steps& at) const {
    return random_u64(at.x, std::uint64_t{at.y} << 32 | at.z) & (slots_.size() - 1);
  }
  BulkVector<std::uint32_t> slots_;  ///< tile index + 1, 0 = free
};

/// An arena whose memory does not move while other threads read it.
class BorderArena {
 public:
  std::uint32_t* take(std::size_t count) {
    if (blocks_.empty() || blocks_.back().capacity() - used_ < count) {
      blocks_.emplace_back(std::max(kBlock, count));
      used_ = 0;
    }
    return blocks_.back().data() + std::exchange(used_, used_ + count);
  }
  void clear() {
    blocks_.clear();
    used_ = 0;
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::vector<BulkVector<std::uint32_t>> blocks_;
  std::size_t used_ = 0;
};

struct Candidate {
  float x, y, z;  ///< in minimum distances from the tile's corner
  std::uint32_t record;
};

/// Candidates of records: positions from the corner of a tile, in minimum distances.
class Placing {
 public:
  Placing(const BulkVector<Record>& records, const Steps& tile, double tile_steps, double per_step)
      : records_(records.data()),
        corner_{tile.x * tile_steps, tile.y * tile_steps, tile.z * tile_steps},
        per_step_(per_step) {}

  Candidate operator()(std::uint32_t record) const {
#if defined(__SSE2__) || defined(_M_X64)
    // Steps are below 2^30, so that their conversion from int32 is theirs.
    const __m128i steps = _mm_loadu_si128(reinterpret_cast<const __m128i*>(records_ + record));
    const __m128d scale = _mm_set1_pd(per_step_);
    const auto floats = [&](__m128i pair, const double* corner) {
      return _mm_cvtpd_ps(_mm_mul_pd(_mm_sub_pd(_mm_cvtepi32_pd(pair), _mm_loadu_pd(corner)), scale));
    };
    const __m128 xy = floats(steps, corner_.data()),
                 z = floats(_mm_shuffle_epi32(steps, _MM_SHUFFLE(3, 2, 3, 2)), corner_.data() + 2);
    Candidate out;
    _mm_storeu_ps(&out.x, _mm_movelh_ps(xy, z));
    out.record = record;
    return out;
#else
    const Steps& at = records_[record].at;
    return {static_cast<float>((at.x - corner_[0]) * per_step_),
            static_cast<float>((at.y - corner_[1]) * per_step_),
            static_cast<float>((at.z - corner_[2]) * per_step_), record};
#endif
  }

 private:
  static_assert(sizeof(Record) == 16 && sizeof(Candidate) == 16);
  const Record* records_;
  std::array<double, 4> corner_;
  double per_step_;
};

struct BorderPoint {
  std::uint32_t record, group;
};

struct Worker {
  DartGrid grid;
  BulkVector<Candidate> candidates;
  std::uint32_t candidate_count = 0;
  BulkVector<BorderPoint> border;
  BorderArena arena;

  /// The border list in the form of Tile::border.
  const std::uint32_t* keep_border() {
    if (border.empty()) return nullptr;
    std::uint32_t* const list = arena.take(kGroups + 1 + border.size());
    std::fill_n(list, kGroups + 1, 0u);
    for (const BorderPoint& point : border) ++list[point.group];
    std::uint32_t at = kGroups + 1;
    for (std::uint32_t group = 0; group <= kGroups; ++group) at += std::exchange(list[group], at);
    std::array<std::uint32_t, kGroups> next;
    std::copy_n(list, kGroups, next.begin());
    for (const BorderPoint& point : border) list[next[point.group]++] = point.record;
    return list;
  }
};

/// Sampling of one level k.
class Level {
 public:
  using Tiles = BulkVector<Tile>;
  Level(Tree& tree, const Frame& frame, int level)
      : tree_(tree),
        level_(level),
        tile_steps_(std::ldexp(frame.side_steps, -(level + kTileLevels))),
        per_step_(DartGrid::kTile / tile_steps_) {}

  TileMap map;

  void sample(Tile& tile, Worker& worker, const OpContext& ctx) const {
    collect(tile, worker, ctx);
    if (worker.candidate_count == 0) return;
    worker.grid.clear();
    load_surroundings(tile, worker);
    worker.border.clear();
    const std::uint32_t count = worker.candidate_count;
    Candidate* candidates = worker.candidates.data();
    // Random order (incremental Fisher-Yates): the order of a scan or of Morton codes would leave a visible pattern.
    const std::uint64_t seed = random_u64(tile.at.x, random_u64(tile.at.y, tile.at.z));
    std::array<std::uint32_t, kPicks> picks;  // drawn ahead: candidates lie anywhere in the caches
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i % kPicks == 0) {
        if (i % kPoll == 0) ctx.checkpoint();
        const std::uint32_t end = std::min(kPicks, count - i);
        for (std::uint32_t j = 0; j < end; ++j) {
          picks[j] =
              i + j + static_cast<std::uint32_t>((random_u64(seed, i + j) >> 32) * (count - i - j) >> 32);
          prefetch(candidates + picks[j]);
        }
      }
      std::swap(candidates[i], candidates[picks[i % kPicks]]);
      const Candidate& c = candidates[i];
      if (worker.grid.blocked(c.x, c.y, c.z)) continue;
      worker.grid.add(c.x, c.y, c.z);
      tree_.level[c.record] = static_cast<std::uint8_t>(level_);
      const std::uint32_t group = group_of(side(c.x), side(c.y), side(c.z));
      if (group != kInside) worker.border.push_back({c.record, group});
    }
    tile.border = worker.keep_border();
  }

 private:
  static constexpr std::uint32_t kInside = group_of(1, 1, 1);
  static std::uint32_t side(float v) {
    return 1u - static_cast<std::uint32_t>(v < kBorder) +
           static_cast<std::uint32_t>(v > DartGrid::kTile - kBorder);
  }

  Placing placing(const Tile& tile) const { return {tree_.records, tile.at, tile_steps_, per_step_}; }

  /// Gathers the records of the children. Wide tiles hold few candidates, so memory grows with their number.
  void collect(const Tile& tile, Worker& worker, const OpContext& ctx) const {
    std::uint32_t count = 0;
    const Placing place = placing(tile);
    for (std::uint64_t begin = tile.begin; begin < tile.end; begin += kPoll) {
      const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile.end, begin + kPoll));
      const std::size_t needed = count + (end - begin);
      if (worker.candidates.size() < needed)
        worker.candidates.resize(std::max(needed, 2 * std::size_t{count}));
      Candidate* out = worker.candidates.data();
      const std::uint32_t first = count;
      for_each_at_level(tree_.level.data(), static_cast<std::uint32_t>(begin), end,
                        static_cast<std::uint8_t>(level_ + 1),
                        [&](std::uint32_t record) { out[count++].record = record; });
      for (std::uint32_t i = first; i < count; ++i) {
        if (i + kAhead < count) prefetch(&tree_.records[out[i + kAhead].record]);
        out[i] = place(out[i].record);
      }
      if (end != tile.end) ctx.checkpoint();
    }
    worker.candidate_count = count;
  }

  /// Loads the accepted points of adjacent tiles that were sampled before this one (those with a smaller colour).
  void load_surroundings(const Tile& tile, Worker& worker) const {
    const Placing place = placing(tile);
    for (int n = 0; n < 27; ++n) {
      const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1;
      // At the cube's faces the coordinate wraps around to one that no tile has.
      const Steps at{tile.at.x + static_cast<std::uint32_t>(dx), tile.at.y + static_cast<std::uint32_t>(dy),
                     tile.at.z + static_cast<std::uint32_t>(dz)};
      if (color_of(at) >= color_of(tile.at)) continue;
      const Tile* other = map.find(at);
      if (other == nullptr || other->border == nullptr) continue;
      const Sides xs = facing(dx), ys = facing(dy), zs = facing(dz);
      for (std::uint32_t x = xs.first; x <= xs.last; ++x) {
        for (std::uint32_t y = ys.first; y <= ys.last; ++y) {
          const std::uint32_t end = other->border[group_of(x, y, zs.last) + 1];
          for (std::uint32_t i = other->border[group_of(x, y, zs.first)]; i < end; ++i) {
            if (i + kAhead < end) prefetch(&tree_.records[other->border[i + kAhead]]);
            const Candidate c = place(other->border[i]);
            if (within(c.x) && within(c.y) && within(c.z)) worker.grid.add(c.x, c.y, c.z);
          }
        }
      }
    }
  }
  static bool within(float v) { return v > -kBorder && v < DartGrid::kTile + kBorder; }

 public:
  static std::uint32_t color_of(const Steps& at) { return (at.x & 1) << 2 | (at.y & 1) << 1 | (at.z & 1); }

 private:
  Tree& tree_;
  int level_;
  double tile_steps_;  ///< side of a tile
  double per_step_;    ///< minimum distances per step
};

void add_tile(BulkVector<Tile>& tiles, std::uint32_t begin, std::uint32_t end, const Steps& at) {
  if (begin != end) tiles.push_back({begin, end, at, nullptr});
}

/// Adds the tiles of an inner node: its grandchildren, and the octants of those children that are leaves.
void add_tiles(const Tree& tree, const Frame& frame, const Node& node, BulkVector<Tile>& tiles) {
  for (const std::uint32_t child_index : node.child) {
    if (child_index == 0) continue;
    const Node& child = tree.nodes[child_index];
    if (child.inner()) {
      for (const std::uint32_t tile : child.child) {
        if (tile == 0) continue;
        const Node& t = tree.nodes[tile];
        add_tile(tiles, t.begin, t.end, {t.x, t.y, t.z});
      }
      continue;
    }
    const Leaf& leaf = tree.leaves[child.leaf];
    if (leaf.inseparable) {  // records at one position: all but one would be rejected
      const Steps& at = tree.records[child.begin].at;
      const int shift = kMaxLevel - 1 - child.level;
      const auto tile = [&](std::uint32_t steps, std::uint32_t node) {
        return shift < 0 ? node * 2 : frame.cell(steps) >> shift;
      };
      add_tile(tiles, child.begin, child.begin + 1,
               {tile(at.x, child.x), tile(at.y, child.y), tile(at.z, child.z)});
      continue;
    }
    std::uint32_t begin = child.begin;
    for (std::uint32_t octant = 0; octant < 8; ++octant) {
      const std::uint32_t end = leaf.octant_end[octant];
      add_tile(tiles, begin, end,
               {child.x * 2 + (octant >> 2), child.y * 2 + (octant >> 1 & 1), child.z * 2 + (octant & 1)});
      begin = end;
    }
  }
}

/// Samples colour after colour. Tiles of one colour are not adjacent, so they are sampled concurrently.
void sample_level(Level& level, std::vector<Worker>& workers, OpContext& ctx) {
  Level::Tiles& tiles = level.map.tiles;
  std::array<BulkVector<std::uint32_t>, 8> by_color;
  for (std::uint32_t i = 0; i < tiles.size(); ++i) by_color[Level::color_of(tiles[i].at)].push_back(i);
  for (const BulkVector<std::uint32_t>& same : by_color) {
    parallel_for_worker(ctx, same.size(), 1, [&](std::size_t i, std::size_t, int worker) {
      level.sample(tiles[same[i]], workers[static_cast<std::size_t>(worker)], ctx);
    });
  }
  for (Worker& worker : workers) worker.arena.clear();
}

}  // namespace

void sample_levels(Tree& tree, const Frame& frame, OpContext& ctx) {
  std::vector<BulkVector<std::uint32_t>> inner(tree.depth + 1);
  std::size_t tile_count = 0;
  Level::Tiles tiles;
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const Node& node = tree.nodes[i];
    if (!node.inner()) continue;
    inner[node.level].push_back(i);
    tiles.clear();
    add_tiles(tree, frame, node, tiles);
    tile_count += tiles.size();
  }
  std::vector<Worker> workers(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Sampling octree", tile_count);
  for (int k = static_cast<int>(tree.depth) - 1; k >= 0; --k) {
    Level level(tree, frame, k);
    for (const std::uint32_t node : inner[static_cast<std::size_t>(k)]) {
      add_tiles(tree, frame, tree.nodes[node], level.map.tiles);
    }
    level.map.index();
    sample_level(level, workers, ctx);
  }
}

}  // namespace pc::octree
