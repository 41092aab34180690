#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/memory.h"
#include "ops/ray/scan_plan.h"

/// The rows of a synthetic scan, from blocks of pulses that end in any order.
namespace pc::scan_plan {

/// A row of the result, and what only some scans have of it.
struct Record {
  Vec3d position;
  std::uint32_t pulse;
  float intensity, distance;
  std::uint8_t organ, index, count, is_miss;
};
struct RecordExtra {
  float deviation;
  std::uint32_t ray_count;
  Rgb16 color;
};

/// The rows of a block of pulses.
struct RecordBlock {
  BulkVector<Record> records;
  BulkVector<RecordExtra> extras;  ///< one per record, or none

  void reserve(const Plan& plan, std::size_t rows) {
    records.reserve(rows);
    if (plan.has_extras) extras.reserve(rows);
  }
  void clear() {
    records.clear();
    extras.clear();
  }
  /// Rows of one pulse: its returns, or its miss if that is kept. `direction` is the recorded one.
  void add_return(const Plan& plan, std::uint64_t pulse, const PulseBeam& recorded, const PulseReturn& found,
                  std::size_t i, std::size_t count);
  void add_miss(const Plan& plan, std::uint64_t pulse, const PulseBeam& recorded);
};

/// Columns of a scan, filled block by block. If a pulse has at most one row, the rows of a block are put into the columns as
/// soon as all blocks before it are there; else at the end.
class ScanRows {
 public:
  ScanRows(const Plan& plan, std::size_t blocks);

  /// Takes the rows of a block and leaves an empty one. Thread-safe.
  void add(std::size_t block, RecordBlock& rows);
  /// After all blocks.
  SyntheticScan take(OpContext& ctx);

 private:
  struct Placed {
    std::size_t first_row;
    RecordBlock rows;
  };
  void allocate(std::size_t rows);
  /// The blocks that have a place now; to be called while locked.
  void place(std::vector<Placed>& now);
  void put(const Placed& block);
  void put_extras(const Placed& block);
  void fit(std::size_t rows);

  const Plan& plan_;
  const bool at_once_;
  std::mutex mutex_;
  std::vector<RecordBlock> waiting_;
  std::vector<std::uint8_t> is_there_;
  std::vector<RecordBlock> spare_;
  std::size_t next_ = 0, rows_ = 0;  ///< the first block without a place, and the rows before it
  std::uint64_t misses_ = 0;
  SyntheticScan out_{};
};

}  // namespace pc::scan_plan
