#include "ops/denoise/voxel_count.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "core/gpu_run.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/denoise/noise_labels.h"
#include "ops/denoise/voxel_count_kernel.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = 65'536;        // rows
constexpr std::size_t kSharePoints = 16'384;  // points of a share whose cells fit in a near cache
constexpr int kMaxShareBits = 10;             // streams that a scatter can write at the same time
constexpr std::size_t kPollEvery = 65'536;    // points of a share between two cancel checks
constexpr std::size_t kMedianSamples = 1023;

using voxel_count_kernel::Cells;
using voxel_count_kernel::kMix;
using voxel_count_kernel::kNoCell;
using voxel_count_kernel::OwnMemory;
using voxel_count_kernel::Table;

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Cells cells_of(Span<const Vec3d> xyz, const VoxelCountParams& params, const Vec3d& anchor) {
  Cells cells{anchor, params.voxel_m, {}};
  std::array<std::vector<double>, 3> sample;
  const std::size_t step = std::max<std::size_t>(1, xyz.size / kMedianSamples);
  for (std::size_t i = 0; i < xyz.size; i += step) {
    const Vec3d cell = cells.of(xyz[i]);
    if (!is_finite(cell)) continue;
    sample[0].push_back(cell.x);
    sample[1].push_back(cell.y);
    sample[2].push_back(cell.z);
  }
  cells.middle = {median(sample[0]), median(sample[1]), median(sample[2])};
  return cells;
}

/// A growing hash table of cells and their counts.
class CellTable {
 public:
  void clear() {
    if (keys_.empty()) resize(4096);
    std::fill(keys_.begin(), keys_.end(), kNoCell);
    used_ = 0;
  }
  void add(std::uint64_t key) {
    if (!voxel_count_kernel::count_key<OwnMemory>(key, table_)) return;
    if (2 * ++used_ > keys_.size()) grow();
  }
  const Table& table() const { return table_; }

 private:
  void resize(std::size_t slots) {
    keys_ = BulkVector<std::uint64_t>(slots);
    counts_ = BulkVector<std::uint32_t>(slots);
    std::fill(keys_.begin(), keys_.end(), kNoCell);
    table_ = {keys_.data(), counts_.data(), slots - 1};
  }
  void grow() {
    const BulkVector<std::uint64_t> keys = std::move(keys_);
    const BulkVector<std::uint32_t> counts = std::move(counts_);
    resize(2 * keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == kNoCell) continue;
      const std::uint64_t slot = table_.slot_of(keys[i]);
      keys_[slot] = keys[i];
      counts_[slot] = counts[i];
    }
  }
  BulkVector<std::uint64_t> keys_;
  BulkVector<std::uint32_t> counts_;
  Table table_{nullptr, nullptr, 0};
  std::size_t used_ = 0;
};

/// Points distributed into shares by a hash of their cells: all points of a cell are in one share.
struct Shares {
  int bits;
  BulkVector<std::uint64_t> keys;
  BulkVector<std::uint32_t> rows;
  std::vector<std::uint64_t> first;  ///< (2^bits + 1) index where each share begins
  std::vector<std::uint32_t> far;    ///< finite rows outside the window, ascending
  std::uint64_t finite_count = 0;

  std::size_t of(std::uint64_t key) const { return bits == 0 ? 0 : (key * kMix) >> (64 - bits); }
};

Shares deal(Span<const Vec3d> xyz, const Cells& cells, OpContext& ctx) {
  Shares shares{};
  while (shares.bits < kMaxShareBits && xyz.size >> shares.bits > kSharePoints) ++shares.bits;
  const std::size_t count = std::size_t{1} << shares.bits, blocks = (xyz.size + kBlock - 1) / kBlock;
  std::vector<std::uint64_t> starts(blocks * count, 0);
  std::vector<std::vector<std::uint32_t>> far(blocks);
  parallel_for(ctx, xyz.size, kBlock, [&](std::size_t begin, std::size_t end) {
    std::uint64_t* histogram = starts.data() + begin / kBlock * count;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t key = cells.key(xyz[i]);
      if (key != kNoCell)
        ++histogram[shares.of(key)];
      else if (is_finite(xyz[i]))
        far[begin / kBlock].push_back(static_cast<std::uint32_t>(i));
    }
  });
  shares.first.resize(count + 1);
  std::uint64_t next = 0;
  for (std::size_t share = 0; share < count; ++share) {
    shares.first[share] = next;
    for (std::size_t block = 0; block < blocks; ++block) {
      next += std::exchange(starts[block * count + share], next);
    }
  }
  shares.first[count] = next;
  shares.keys = BulkVector<std::uint64_t>(next);
  shares.rows = BulkVector<std::uint32_t>(next);
  parallel_for(ctx, xyz.size, kBlock, [&](std::size_t begin, std::size_t end) {
    std::uint64_t* to = starts.data() + begin / kBlock * count;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t key = cells.key(xyz[i]);
      if (key == kNoCell) continue;
      const std::uint64_t at = to[shares.of(key)]++;
      shares.keys[at] = key;
      shares.rows[at] = static_cast<std::uint32_t>(i);
    }
  });
  for (const auto& rows : far) shares.far.insert(shares.far.end(), rows.begin(), rows.end());
  shares.finite_count = next + shares.far.size();
  return shares;
}

void classify_share(const Shares& shares, std::size_t share, std::uint32_t min_points, CellTable& table,
                    Span<std::uint8_t> labels, OpContext& ctx) {
  table.clear();
  for (std::uint64_t i = shares.first[share]; i < shares.first[share + 1]; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    table.add(shares.keys[i]);
  }
  for (std::uint64_t i = shares.first[share]; i < shares.first[share + 1]; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    labels[shares.rows[i]] = voxel_count_kernel::label_of(shares.keys[i], table.table(), min_points);
  }
}

/// The rows without a label so far.
struct Rest {
  std::vector<std::uint32_t> far;  ///< finite rows outside the window, ascending
  std::uint64_t finite_count;
};

/// Labels the points of all cells in the window.
Rest classify_near(Span<const Vec3d> xyz, const Cells& cells, std::uint32_t min_points,
                   Span<std::uint8_t> labels, OpContext& ctx) {
  Shares shares = deal(xyz, cells, ctx);
  std::vector<CellTable> tables(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, shares.first.size() - 1, 1, [&](std::size_t share, std::size_t, int worker) {
    classify_share(shares, share, min_points, tables[static_cast<std::size_t>(worker)], labels, ctx);
  });
  return {std::move(shares.far), shares.finite_count};
}

/// The rows that pc_cuda left undecided: all rows outside the window, of which the finite ones are far.
Rest left_by_gpu(Span<const Vec3d> xyz, Span<std::uint8_t> labels, OpContext& ctx) {
  Rest rest{{}, 0};
  for (std::size_t i = 0; i < xyz.size; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    const bool finite = is_finite(xyz[i]);
    rest.finite_count += finite ? 1 : 0;
    if (labels[i] != voxel_count_kernel::kUndecided) continue;
    labels[i] = kNoise;
    if (finite) rest.far.push_back(static_cast<std::uint32_t>(i));
  }
  return rest;
}

/// Labels the points of the cells outside the window, by sorting.
void classify_far(const std::vector<std::uint32_t>& rows, Span<const Vec3d> xyz, const Cells& cells,
                  std::uint32_t min_points, Span<std::uint8_t> labels, OpContext& ctx) {
  struct Far {
    Vec3d cell;
    std::uint32_t row;
  };
  BulkVector<Far> points(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    points[i] = {cells.of(xyz[rows[i]]), rows[i]};
  }
  std::size_t compared = 0;
  std::sort(points.begin(), points.end(), [&](const Far& a, const Far& b) {
    if (++compared % kPollEvery == 0) ctx.checkpoint();
    return std::tie(a.cell.x, a.cell.y, a.cell.z) < std::tie(b.cell.x, b.cell.y, b.cell.z);
  });
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    while (end < points.size() && points[end].cell == points[begin].cell) ++end;
    if (end - begin < min_points) continue;
    for (std::size_t i = begin; i < end; ++i) labels[points[i].row] = kClean;
  }
}

}  // namespace

Vec3d least_corner(HitPoints points, OpContext& ctx) {
  const auto xyz = points.xyz();
  std::vector<Box3d> boxes((xyz.size + kBlock - 1) / kBlock);
  parallel_for(ctx, xyz.size, kBlock, [&](std::size_t begin, std::size_t end) {
    Box3d box;
    for (std::size_t i = begin; i < end; ++i) {
      if (is_finite(xyz[i])) box.add(xyz[i]);
    }
    boxes[begin / kBlock] = box;
  });
  Box3d all;
  for (const Box3d& box : boxes) all.add(box);
  return all.empty() ? Vec3d{0, 0, 0} : all.min;
}

NoiseResult voxel_count(HitPoints points, const VoxelCountParams& params, OpContext& ctx) {
  if (!(std::isfinite(params.voxel_m) && params.voxel_m > 0)) {
    throw Error(ErrorCode::kInvalidArgument,
                "voxel " + std::to_string(params.voxel_m) + " must be finite and above 0");
  }
  require(!params.anchor || is_finite(*params.anchor), "anchor must be finite");
  require(points.size() <= std::numeric_limits<std::uint32_t>::max(),
          "voxel_count takes fewer than 2^32 points");
  ctx.begin_phase("Counting points of voxels", 3 * points.size());
  NoiseResult result = all_noise(points, ctx);
  const Cells cells =
      cells_of(points.xyz(), params, params.anchor ? *params.anchor : least_corner(points, ctx));
  const auto labels = result.noise_class.view();
  const voxel_count_kernel::HostPass pass{points.xyz().data, points.size(), cells, params.min_points,
                                          labels.data};
  const bool done =
      !points.xyz().empty() &&
      GpuRun(ctx, "Denoise", result.warnings).run([&](const auto& table, const auto& control, auto& error) {
        return table.voxel_count(&pass, &control, &error);
      });
  const Rest rest = done ? left_by_gpu(points.xyz(), labels, ctx)
                         : classify_near(points.xyz(), cells, params.min_points, labels, ctx);
  classify_far(rest.far, points.xyz(), cells, params.min_points, labels, ctx);
  count_noise(result, rest.finite_count, ctx);
  return result;
}

}  // namespace pc
