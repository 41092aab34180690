#include "ops/octree/octree_sampling.h"

#include <array>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "core/random.h"
#include "ops/octree/dart_grid.h"
#include "ops/octree/level_scan.h"

namespace pc::octree {

namespace {

constexpr int kTileLevels = 2;  // a tile is a node two levels below: 128 / 4 = 32 minimum distances wide
static_assert(kSpacingsPerNode >> kTileLevels == DartGrid::kTile);
constexpr float kBorder = 1.001f;  // minimum distance plus a margin for rounding
constexpr std::uint32_t kPoll = 1u << 16;

/// A node of level k + 2, or an octant of a leaf of level k + 1: the unit of sampling.
struct Tile {
  std::uint32_t begin, end;     ///< records
  Steps at;                     ///< coordinates at the tile's level
  const std::uint32_t* border;  ///< accepted records near its faces, for adjacent tiles
  std::uint32_t border_count;
};

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
  const std::uint32_t* keep(const BulkVector<std::uint32_t>& list) {
    if (list.empty()) return nullptr;
    if (blocks_.empty() || blocks_.back().capacity() - used_ < list.size()) {
      blocks_.emplace_back(std::max(kBlock, list.size()));
      used_ = 0;
    }
    std::uint32_t* to = blocks_.back().data() + used_;
    std::memcpy(to, list.data(), list.size() * sizeof *to);
    used_ += list.size();
    return to;
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

struct Worker {
  DartGrid grid;
  BulkVector<Candidate> candidates;
  std::uint32_t candidate_count = 0;
  BulkVector<std::uint32_t> border;
  BorderArena arena;
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
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i % kPoll == kPoll - 1) ctx.checkpoint();
      const std::uint64_t pick = (random_u64(seed, i) >> 32) * (count - i) >> 32;
      std::swap(candidates[i], candidates[i + pick]);
      const Candidate& c = candidates[i];
      if (worker.grid.blocked(c.x, c.y, c.z)) continue;
      worker.grid.add(c.x, c.y, c.z);
      tree_.level[c.record] = static_cast<std::uint8_t>(level_);
      if (near_face(c.x) || near_face(c.y) || near_face(c.z)) worker.border.push_back(c.record);
    }
    tile.border = worker.arena.keep(worker.border);
    tile.border_count = static_cast<std::uint32_t>(worker.border.size());
  }

 private:
  static bool near_face(float v) { return v < kBorder || v > DartGrid::kTile - kBorder; }

  Candidate place(std::uint32_t record, const Tile& tile) const {
    const Steps& at = tree_.records[record].at;
    return {static_cast<float>((at.x - tile.at.x * tile_steps_) * per_step_),
            static_cast<float>((at.y - tile.at.y * tile_steps_) * per_step_),
            static_cast<float>((at.z - tile.at.z * tile_steps_) * per_step_), record};
  }

  /// Gathers the records of the children. Wide tiles hold few candidates, so memory grows with their number.
  void collect(const Tile& tile, Worker& worker, const OpContext& ctx) const {
    std::uint32_t count = 0;
    for (std::uint64_t begin = tile.begin; begin < tile.end; begin += kPoll) {
      const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile.end, begin + kPoll));
      const std::size_t needed = count + (end - begin);
      if (worker.candidates.size() < needed)
        worker.candidates.resize(std::max(needed, 2 * std::size_t{count}));
      Candidate* out = worker.candidates.data();
      for_each_at_level(tree_.level.data(), static_cast<std::uint32_t>(begin), end,
                        static_cast<std::uint8_t>(level_ + 1),
                        [&](std::uint32_t record) { out[count++] = place(record, tile); });
      if (end != tile.end) ctx.checkpoint();
    }
    worker.candidate_count = count;
  }

  /// Loads the accepted points of adjacent tiles that were sampled before this one (those with a smaller colour).
  void load_surroundings(const Tile& tile, Worker& worker) const {
    for (int n = 0; n < 27; ++n) {
      const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1;
      // At the cube's faces the coordinate wraps around to one that no tile has.
      const Steps at{tile.at.x + static_cast<std::uint32_t>(dx), tile.at.y + static_cast<std::uint32_t>(dy),
                     tile.at.z + static_cast<std::uint32_t>(dz)};
      if (color_of(at) >= color_of(tile.at)) continue;
      const Tile* other = map.find(at);
      if (other == nullptr) continue;
      for (std::uint32_t i = 0; i < other->border_count; ++i) {
        const Candidate c = place(other->border[i], tile);
        if (within(c.x) && within(c.y) && within(c.z)) worker.grid.add(c.x, c.y, c.z);
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
  if (begin != end) tiles.push_back({begin, end, at, nullptr, 0});
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
