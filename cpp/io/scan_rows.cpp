#include "io/scan_rows.h"

#include <algorithm>

namespace pc::io {

const AnyColumn* find_scalar(const CloudView& view, const char* slug) {
  for (const ScalarView& scalar : view.scalars) {
    if (scalar.slug == slug) return scalar.values;
  }
  return nullptr;
}

void Indexes::read(std::size_t begin, std::size_t end, std::vector<std::int64_t>& out) const {
  if (column_ == nullptr) return;
  out.resize(end - begin);
  visit_scalar(*column_, [&](auto values) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto value = static_cast<double>(values[i]);
      out[i - begin] = value >= 0 && value < 4294967296.0 ? static_cast<std::int64_t>(value) : -1;
    }
  });
}

ScanRowTable::ScanRowTable(const CloudView& view, std::size_t block_rows, OpContext& ctx)
    : row_count_(view.positions.size), selection_(view, block_rows, ctx) {
  const AnyColumn* column = find_scalar(view, "scan_index");
  if (column == nullptr) {
    scans_.push_back({std::nullopt, 0, selection_.selected_count()});
  } else {
    sort_by_scan(*column, ctx);
  }
}

/// Counting sort: the last bucket holds the rows without a valid number.
void ScanRowTable::sort_by_scan(const AnyColumn& column, OpContext& ctx) {
  const Indexes numbers(&column);
  std::vector<std::int64_t> block_numbers;
  const std::size_t block_rows = selection_.block_rows();
  const auto for_each_row = [&](auto&& visit) {
    for (std::size_t begin = 0; begin < row_count_; begin += block_rows) {
      ctx.checkpoint();
      const std::size_t end = std::min(row_count_, begin + block_rows);
      numbers.read(begin, end, block_numbers);
      selection_.for_each(begin, end, [&](std::size_t row) {
        const std::int64_t number = block_numbers[row - begin];
        const bool valid = number >= 0 && number < static_cast<std::int64_t>(kMaxScans);
        visit(row, valid ? static_cast<std::size_t>(number) : kMaxScans);
      });
      ctx.advance(end - begin);
    }
  };
  ctx.begin_phase("Telling the scans apart", 2 * row_count_);
  std::vector<std::uint64_t> next(kMaxScans + 2);
  for_each_row([&](std::size_t, std::size_t bucket) { ++next[bucket + 1]; });
  for (std::size_t bucket = 0; bucket <= kMaxScans; ++bucket) {
    const std::uint64_t count = next[bucket + 1];
    next[bucket + 1] += next[bucket];
    if (count == 0) continue;
    const auto number =
        bucket == kMaxScans ? std::nullopt : std::optional<std::uint32_t>(static_cast<std::uint32_t>(bucket));
    scans_.push_back({number, next[bucket], count});
  }
  order_.resize(static_cast<std::size_t>(selection_.selected_count()));
  for_each_row([&](std::size_t row, std::size_t bucket) { order_[next[bucket]++] = row; });
}

/// The last block of the selection with at most `ordinal` selected rows before it.
std::size_t ScanRowTable::block_of(std::uint64_t ordinal) const {
  std::size_t low = 0, high = (row_count_ + selection_.block_rows() - 1) / selection_.block_rows();
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (selection_.selected_before(middle) <= ordinal ? low : high) = middle;
  }
  return low;
}

void ScanRowTable::rows(std::uint64_t first, std::size_t count, std::vector<std::size_t>& out) const {
  out.clear();
  if (!order_.empty()) {
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(first);
    out.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    return;
  }
  const std::size_t block_rows = selection_.block_rows();
  std::size_t block = block_of(first);
  std::uint64_t ordinal = selection_.selected_before(block);
  for (; out.size() < count; ++block) {
    const std::size_t begin = block * block_rows, end = std::min(row_count_, begin + block_rows);
    selection_.for_each(begin, end, [&](std::size_t row) {
      if (ordinal++ >= first && out.size() < count) out.push_back(row);
    });
  }
}

}  // namespace pc::io
