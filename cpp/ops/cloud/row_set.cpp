#include "ops/cloud/row_set.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/dtype_fit.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

/// Number of rows and of run starts before each block of kGrain rows; the totals come last.
struct Starts {
  std::vector<std::uint64_t> rows, runs;
};

Starts count_blocks(Span<const std::uint8_t> mask, OpContext& ctx) {
  const std::size_t blocks = (mask.size + kGrain - 1) / kGrain;
  Starts starts{std::vector<std::uint64_t>(blocks + 1, 0), std::vector<std::uint64_t>(blocks + 1, 0)};
  parallel_for(ctx, mask.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint32_t rows = mask[begin] != 0 ? 1 : 0;
    std::uint32_t runs = mask[begin] != 0 && (begin == 0 || mask[begin - 1] == 0) ? 1 : 0;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const unsigned in = mask[i] != 0 ? 1 : 0, before = mask[i - 1] != 0 ? 1 : 0;
      rows += in;
      runs += in & (before ^ 1U);
    }
    starts.rows[begin / kGrain + 1] = rows;
    starts.runs[begin / kGrain + 1] = runs;
  });
  for (std::size_t b = 1; b <= blocks; ++b) {
    starts.rows[b] += starts.rows[b - 1];
    starts.runs[b] += starts.runs[b - 1];
  }
  return starts;
}

/// Calls at(i) for the non-zero entries; skips eight zeros at a time.
template <class At>
void each_set(Span<const std::uint8_t> mask, std::size_t begin, std::size_t end, const At& at) {
  for (std::size_t i = begin; i < end; ++i) {
    std::uint64_t word = 0;
    for (; i + 8 <= end; i += 8) {
      std::memcpy(&word, mask.data + i, 8);
      if (word != 0) break;
    }
    for (const std::size_t last = std::min(end, i + 8); i < last; ++i) {
      if (mask[i] != 0) at(i);
    }
    --i;
  }
}

template <class Index>
void fill_rows(Span<const std::uint8_t> mask, const Starts& starts, Span<Index> rows, OpContext& ctx) {
  parallel_for(ctx, mask.size, kGrain, [&](std::size_t begin, std::size_t end) {
    auto out = static_cast<std::size_t>(starts.rows[begin / kGrain]);
    each_set(mask, begin, end, [&](std::size_t i) { rows[out++] = static_cast<Index>(i); });
  });
}

/// Writes starts and ends separately: a run may end in a later block than it starts in.
template <class Index>
void fill_runs(Span<const std::uint8_t> mask, const Starts& starts, Span<Index> runs, OpContext& ctx) {
  parallel_for(ctx, mask.size, kGrain, [&](std::size_t begin, std::size_t end) {
    auto next = static_cast<std::size_t>(starts.runs[begin / kGrain]);
    each_set(mask, begin, end, [&](std::size_t i) {
      if (i == 0 || mask[i - 1] == 0) runs[2 * next++] = static_cast<Index>(i);
      if (i + 1 == mask.size || mask[i + 1] == 0) runs[2 * next - 1] = static_cast<Index>(i + 1);
    });
  });
  parallel_for(ctx, runs.size / 2, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t run = begin; run < end; ++run)
      runs[2 * run + 1] = static_cast<Index>(runs[2 * run + 1] - runs[2 * run]);
  });
}

void fill_bits(Span<const std::uint8_t> mask, Span<std::uint8_t> bits, OpContext& ctx) {
  parallel_for(ctx, mask.size, kGrain, [&](std::size_t begin, std::size_t end) {
    each_set(mask, begin, end,
             [&](std::size_t i) { bits[i / 8] |= static_cast<std::uint8_t>(1U << (i % 8)); });
  });
}

[[noreturn]] void refuse(const char* why) {
  throw Error(ErrorCode::kInvalidArgument, std::string("a set of rows ") + why);
}

}  // namespace

RowSet encode_rows(Span<const std::uint8_t> mask, OpContext& ctx) {
  ctx.begin_phase("Noting rows", 2 * mask.size);
  const Starts starts = count_blocks(mask, ctx);
  const std::uint64_t count = starts.rows.back(), runs = starts.runs.back();
  const DType index = row_index_dtype(mask.size);
  const std::uint64_t size = dtype_size(index), bits = (mask.size + 7) / 8;
  if (count * size <= std::min(2 * runs * size, bits)) {
    RowSet set{RowEncoding::kRows, AnyColumn(index, static_cast<std::size_t>(count)), count};
    if (index == DType::kU32)
      fill_rows(mask, starts, set.data.as_mutable<std::uint32_t>(), ctx);
    else
      fill_rows(mask, starts, set.data.as_mutable<std::uint64_t>(), ctx);
    return set;
  }
  if (2 * runs * size <= bits) {
    RowSet set{RowEncoding::kRuns, AnyColumn(index, static_cast<std::size_t>(2 * runs)), count};
    if (index == DType::kU32)
      fill_runs(mask, starts, set.data.as_mutable<std::uint32_t>(), ctx);
    else
      fill_runs(mask, starts, set.data.as_mutable<std::uint64_t>(), ctx);
    return set;
  }
  RowSet set{RowEncoding::kBits, AnyColumn(DType::kU8, static_cast<std::size_t>(bits)), count};
  fill_bits(mask, set.data.as_mutable<std::uint8_t>(), ctx);
  return set;
}

Column<std::uint8_t> union_rows(std::size_t row_count, Span<const std::uint8_t> base,
                                const std::vector<RowSetView>& sets, OpContext& ctx) {
  require(base.empty() || base.size == row_count, "the base mask must have one entry per row");
  ctx.begin_phase("Joining rows", row_count);
  Column<std::uint8_t> mask(row_count);
  const Span<std::uint8_t> out = mask.view();
  parallel_for(ctx, base.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = base[i] != 0 ? 1 : 0;
  });
  for (const RowSetView& set : sets)
    RowSetReader(set, row_count, ctx).for_each(ctx, [&](std::size_t row, std::size_t) { out[row] = 1; });
  return mask;
}

Column<std::int64_t> list_rows(std::size_t row_count, const RowSetView& set, OpContext& ctx) {
  const RowSetReader reader(set, row_count, ctx);
  Column<std::int64_t> rows(static_cast<std::size_t>(set.count));
  auto out = rows.view();
  reader.for_each(ctx,
                  [&](std::size_t row, std::size_t rank) { out[rank] = static_cast<std::int64_t>(row); });
  return rows;
}

RowSet row_set_of(std::size_t row_count, Span<const std::int64_t> rows, OpContext& ctx) {
  constexpr std::size_t kGrain = std::size_t{1} << 16;
  parallel_for(ctx, rows.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const bool inside = rows[i] >= 0 && static_cast<std::uint64_t>(rows[i]) < row_count;
      if (!inside || (i > 0 && rows[i] <= rows[i - 1]))
        throw Error(ErrorCode::kInvalidArgument, "the rows are not ascending, or not all in the cloud");
    }
  });
  Column<std::uint8_t> mask(row_count);
  auto marks = mask.view();
  parallel_for(ctx, rows.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) marks[static_cast<std::size_t>(rows[i])] = 1;
  });
  return encode_rows(mask.view(), ctx);
}

RowSetReader::RowSetReader(const RowSetView& set, std::size_t row_count, OpContext& ctx)
    : set_(set), row_count_(row_count) {
  const DType dtype = set.data->dtype();
  if (set.encoding == RowEncoding::kBits) {
    if (dtype != DType::kU8) refuse("as bits must be a column of u8");
    check_bits(ctx);
    return;
  }
  const bool rows = set.encoding == RowEncoding::kRows;
  if (dtype == DType::kU32) {
    const auto values = set.data->as<std::uint32_t>();
    rows ? check_rows(values, ctx) : check_runs(values, ctx);
  } else if (dtype == DType::kU64) {
    const auto values = set.data->as<std::uint64_t>();
    rows ? check_rows(values, ctx) : check_runs(values, ctx);
  } else {
    refuse("must be a column of u32 or u64");
  }
}

template <class Index>
void RowSetReader::check_rows(Span<const Index> rows, OpContext& ctx) const {
  if (rows.size != set_.count) refuse("has a count that differs from its number of rows");
  std::atomic<bool> good{true};
  parallel_for(ctx, rows.size, kGrain, [&](std::size_t begin, std::size_t end) {
    bool ascending = rows[end - 1] < row_count_;
    for (std::size_t i = std::max<std::size_t>(begin, 1); i < end; ++i) ascending &= rows[i - 1] < rows[i];
    if (!ascending) good = false;
  });
  if (!good) refuse("must ascend and stay below the number of rows");
}

template <class Index>
void RowSetReader::check_runs(Span<const Index> runs, OpContext& ctx) {
  if (runs.size % 2 != 0) refuse("as runs needs pairs of start and length");
  starts_.resize(runs.size / 2 + 1);
  std::uint64_t rank = 0, end = 0;
  for (std::size_t run = 0; run < runs.size / 2; ++run) {
    if (run % kGrain == 0) ctx.checkpoint();
    const std::uint64_t start = runs[2 * run], length = runs[2 * run + 1];
    if (start < end || length == 0 || start > row_count_ || length > row_count_ - start)
      refuse("as runs must ascend, be of length 1 at least and stay below the number of rows");
    end = start + length;
    starts_[run] = rank;
    rank += length;
  }
  starts_[runs.size / 2] = rank;
  if (rank != set_.count) refuse("has a count that differs from its number of rows");
}

void RowSetReader::check_bits(OpContext& ctx) {
  const Span<const std::uint8_t> bytes = set_.data->as<std::uint8_t>();
  if (bytes.size != (row_count_ + 7) / 8) refuse("as bits must have one bit per row");
  if (row_count_ % 8 != 0 && bytes[bytes.size - 1] >> (row_count_ % 8) != 0)
    refuse("must stay below the number of rows");
  starts_.resize((row_count_ + kGrain - 1) / kGrain + 1);
  parallel_for(ctx, row_count_, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t rows = 0;
    for (std::size_t byte = begin / 8; byte < (end + 7) / 8; ++byte)
      rows += static_cast<std::uint64_t>(std::popcount(bytes[byte]));
    starts_[begin / kGrain + 1] = rows;
  });
  for (std::size_t b = 1; b < starts_.size(); ++b) starts_[b] += starts_[b - 1];
  if (starts_[starts_.size() - 1] != set_.count) refuse("has a count that differs from its number of rows");
}

}  // namespace pc
