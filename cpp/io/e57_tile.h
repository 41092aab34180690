#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "core/parallel.h"
#include "io/e57_scan.h"

namespace pc::io::e57 {

inline constexpr std::size_t kTile = 2048;  ///< all roles' values of a tile fit in the second-level cache

/// The values of one tile, by role; nullptr for absent roles.
class Tile {
 public:
  Tile(const std::vector<Role>& roles, std::size_t rows) : buffer_(roles.size() * rows) {
    for (std::size_t i = 0; i < roles.size(); ++i) values_[roles[i]] = buffer_.data() + i * rows;
  }
  double* values(Role role) { return values_[role]; }
  const double* operator[](Role role) const { return values_[role]; }
  bool is_set(Role flag, std::size_t i) const { return values_[flag] != nullptr && values_[flag][i] != 0; }
  /// 0 for a valid cell; cartesianInvalidState, or without that sphericalInvalidState.
  double state(std::size_t i) const {
    const double* const states =
        values_[kCartesianState] != nullptr ? values_[kCartesianState] : values_[kSphericalState];
    return states == nullptr ? 0 : states[i];
  }

 private:
  std::vector<double> buffer_;  // at most 320 KiB
  std::array<double*, kRoleCount> values_{};
};

/// Points of a block.
struct BlockRange {
  std::size_t begin, end;
};

/// Reader and tile of one thread, created with its first block.
struct TileWorker {
  std::unique_ptr<BlockReader> reader;
  std::unique_ptr<Tile> tile;
};

/// Reads a scan block by block on all threads. For each block, start() creates a result object, visit_tile(result,
/// tile, first point, count) gets each of its tiles, and finish(result, reader, block) ends it.
template <class Start, class VisitTile, class Finish>
void for_each_tile(const Pages& pages, const E57Scan& scan, const PacketIndex& index,
                   const std::vector<Role>& roles, const std::vector<std::size_t>& fields, OpContext& ctx,
                   Start&& start, VisitTile&& visit_tile, Finish&& finish) {
  std::vector<TileWorker> workers(static_cast<std::size_t>(ctx.threads()));
  const auto points = static_cast<std::size_t>(scan.point_count);
  parallel_for_worker(ctx, points, block_points(scan), [&](std::size_t begin, std::size_t end, int id) {
    TileWorker& worker = workers[static_cast<std::size_t>(id)];
    if (!worker.reader) {
      worker.reader = std::make_unique<BlockReader>(pages, scan, index, fields);
      worker.tile = std::make_unique<Tile>(roles, std::min(kTile, points));
    }
    worker.reader->load(begin, end - begin);
    auto result = start();
    for (std::size_t at = begin; at < end; at += kTile) {
      const std::size_t count = std::min(kTile, end - at);
      for (std::size_t slot = 0; slot < roles.size(); ++slot) {
        worker.reader->decode(slot, at - begin, count, worker.tile->values(roles[slot]));
      }
      visit_tile(result, *worker.tile, at, count);
    }
    finish(result, *worker.reader, BlockRange{begin, end});
  });
}

/// Fields of the given roles, in the same order.
std::vector<std::size_t> fields_of(const ScanPlan& plan, const std::vector<Role>& roles);

}  // namespace pc::io::e57
