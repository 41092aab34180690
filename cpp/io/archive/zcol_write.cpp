#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "core/deflate.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "io/archive/column_filter.h"
#include "io/archive/zcol.h"

namespace pc::io {

namespace {

constexpr int kLevel = 1;
constexpr std::size_t kStretches = 4, kStretchRows = 32768;
constexpr std::size_t kLength = 4;  ///< bytes of a block's length

/// Scratch of one thread.
struct Worker {
  Deflater deflater{kLevel};
  BulkVector<std::byte> filtered;
};

std::size_t compress_rows(Worker& worker, ColumnFilter filter, DType dtype, Span<const std::byte> rows,
                          Span<std::byte> out, const OpContext& ctx) {
  if (filter == ColumnFilter::kNone) return worker.deflater.compress(rows, out);
  worker.filtered.resize(rows.size);
  filter_rows(filter, dtype, rows, worker.filtered.data(), ctx);
  ctx.checkpoint();  // the deflation of a block is one step
  return worker.deflater.compress(worker.filtered.view(), out);
}

/// First rows of the stretches of a sample.
std::vector<std::size_t> stretches_of(std::size_t rows) {
  if (rows <= kStretches * kStretchRows) {
    std::vector<std::size_t> all;
    for (std::size_t first = 0; first < rows; first += kStretchRows) all.push_back(first);
    return all;
  }
  std::vector<std::size_t> spread(kStretches);
  for (std::size_t i = 0; i < kStretches; ++i) spread[i] = (rows - kStretchRows) / (kStretches - 1) * i;
  return spread;
}

std::vector<ColumnFilter> candidates(DType dtype) {
  if (value_size(dtype) == 1) return {ColumnFilter::kNone, ColumnFilter::kDeltaShuffle};
  return {ColumnFilter::kNone, ColumnFilter::kShuffle, ColumnFilter::kDeltaShuffle};
}

/// Packs the used parts of slots of `slot` bytes into one piece without gaps.
std::size_t close_gaps(std::byte* data, std::size_t slot, const std::vector<std::size_t>& used) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    std::memmove(data + end, data + i * slot, used[i]);
    end += used[i];
  }
  return end;
}

}  // namespace

FilterChoice choose_filter(const AnyColumn& column, OpContext& ctx) {
  const auto filters = candidates(column.dtype());
  const auto stretches = stretches_of(column.size());
  const std::size_t row = dtype_size(column.dtype());
  const std::size_t jobs = filters.size() * stretches.size();
  std::vector<std::size_t> sizes(jobs);
  std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, jobs, 1, [&](std::size_t begin, std::size_t end, int thread) {
    auto& worker = workers[static_cast<std::size_t>(thread)];
    if (!worker) worker = std::make_unique<Worker>();
    BulkVector<std::byte> out(Deflater::bound(kStretchRows * row));
    for (std::size_t job = begin; job < end; ++job) {
      const std::size_t first = stretches[job % stretches.size()];
      const std::size_t count = std::min(kStretchRows, column.size() - first);
      sizes[job] = compress_rows(*worker, filters[job / stretches.size()], column.dtype(),
                                 {column.data() + first * row, count * row}, out.view(), ctx);
    }
  });
  std::size_t best = 0, least = ~std::size_t{0};
  for (std::size_t i = 0; i < filters.size(); ++i) {
    std::size_t sum = 0;
    for (std::size_t j = 0; j < stretches.size(); ++j) sum += sizes[i * stretches.size() + j];
    if (sum >= least) continue;
    least = sum;
    best = i;
  }
  std::size_t raw = 0;
  for (const std::size_t first : stretches) raw += std::min(kStretchRows, column.size() - first) * row;
  return {filters[best], raw == 0 ? 0.0 : static_cast<double>(least) / static_cast<double>(raw)};
}

ZcolHeader zcol_header_of(const AnyColumn& column, ColumnFilter filter) {
  return {column.dtype(), column.size(), filter,
          std::max<std::uint64_t>(1, kZcolBlock / dtype_size(column.dtype()))};
}

Column<std::uint8_t> zcol_blocks(const AnyColumn& column, const ZcolHeader& header, std::uint64_t first,
                                 std::uint64_t count, OpContext& ctx) {
  require(header.dtype == column.dtype() && header.rows == column.size(),
          "the header is that of another column");
  require(first <= header.blocks() && count <= header.blocks() - first,
          "the column does not have these blocks");
  const std::size_t slot =
      kLength + Deflater::bound(static_cast<std::size_t>(header.block_rows * header.row_bytes()));
  Column<std::uint8_t> out(checked_bytes(static_cast<std::size_t>(count), slot));
  auto* const data = reinterpret_cast<std::byte*>(out.view().data);
  std::vector<std::size_t> used(static_cast<std::size_t>(count));
  std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, used.size(), 1, [&](std::size_t begin, std::size_t end, int thread) {
    auto& worker = workers[static_cast<std::size_t>(thread)];
    if (!worker) worker = std::make_unique<Worker>();
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t block = first + i;
      const auto at = static_cast<std::size_t>(block * header.block_rows * header.row_bytes());
      std::byte* const to = data + i * slot;
      const Span<const std::byte> rows{column.data() + at,
                                       static_cast<std::size_t>(header.block_bytes(block))};
      const std::size_t size =
          compress_rows(*worker, header.filter, header.dtype, rows, {to + kLength, slot - kLength}, ctx);
      const auto length = static_cast<std::uint32_t>(size);
      std::memcpy(to, &length, sizeof length);
      used[i] = kLength + size;
    }
  });
  out.shrink(close_gaps(data, slot, used));
  return out;
}

}  // namespace pc::io
