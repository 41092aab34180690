#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/parallel.h"

namespace pc {

/// Bits of a skip mask entry; 0 = the row is a hit that is not deleted.
constexpr std::uint8_t kSkipMiss = 1;
constexpr std::uint8_t kSkipDeleted = 2;

struct HitMask {
  Column<std::uint8_t> skip;    ///< (n) kSkipMiss | kSkipDeleted
  std::uint64_t hit_count;      ///< rows with skip 0
  std::uint64_t miss_count;     ///< misses, deleted or not
  std::uint64_t deleted_count;  ///< deleted rows, misses or not
};

/// Finds the rows that most ops must not use.
///
/// row_count  n
/// is_miss    (n) any scalar type, or nullptr = no misses. A row is a miss if its value != 0. A NaN is therefore a
///            miss: excluding a hit loses one point, including a miss spoils every extent.
/// deleted    (n) non-zero = deleted, or empty = none.
/// Cost       One streaming pass. Cancel within 50 ms.
/// Errors     kInvalidArgument for lengths that differ or an is_miss of triples.
/// Source     contract sessions section 0: hit = is_miss == 0, miss = is_miss != 0.
HitMask hit_mask(std::size_t row_count, const AnyColumn* is_miss, Span<const std::uint8_t> deleted,
                 OpContext& ctx);

/// The positions of the rows that a mask keeps, and the row of each. If all rows are kept nothing is copied: the
/// selection then refers to the given positions, which must outlive it.
class HitSelection {
 public:
  HitPoints points() const { return HitPoints::assume_hits(xyz_); }
  std::size_t size() const { return xyz_.size; }
  /// True if every row was kept: row(i) == i.
  bool all_rows() const { return all_rows_; }
  /// Row of hit i in the cloud.
  std::uint64_t row(std::size_t i) const {
    return all_rows_ ? i
           : wide_   ? source_index_.as<std::uint64_t>()[i]
                     : source_index_.as<std::uint32_t>()[i];
  }
  /// (size()) rows ascending, u32, or u64 for clouds of 2^32 rows and more; empty if all_rows().
  const AnyColumn& source_index() const { return source_index_; }

 private:
  friend HitSelection select_hits(Span<const Vec3d>, Span<const std::uint8_t>, OpContext&);
  Span<const Vec3d> xyz_;
  Column<Vec3d> gathered_;
  AnyColumn source_index_{DType::kU32, 0};
  bool all_rows_ = true;
  bool wide_ = false;
};

/// Gathers the positions that `skip` keeps, in row order.
///
/// positions  (n) metres
/// skip     (n) non-zero = leave out, or empty = keep all
/// Cost     Two streaming passes; 28 bytes per hit (32 from 2^32 rows) unless all are kept. Cancel within 50 ms.
/// Errors   kInvalidArgument if skip has another length.
HitSelection select_hits(Span<const Vec3d> positions, Span<const std::uint8_t> skip, OpContext& ctx);

/// Scatters values of hits to their rows: to[row(i)] = from[i]; other rows keep their values. Cancel within 50 ms.
template <class T>
void scatter_to_rows(const HitSelection& hits, Span<const T> from, Span<T> to, OpContext& ctx) {
  require(from.size == hits.size(), "one value per hit is needed");
  parallel_for(ctx, from.size, std::size_t{1} << 18, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) to[static_cast<std::size_t>(hits.row(i))] = from[i];
  });
}

/// The values of hits in a column of all rows: result[i] = rows[row(i)]. Cancel within 50 ms.
template <class T>
Column<T> hit_values(const HitSelection& hits, Span<const T> rows, OpContext& ctx) {
  Column<T> values(hits.size());
  const Span<T> to = values.view();
  parallel_for(ctx, hits.size(), std::size_t{1} << 18, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) to[i] = rows[static_cast<std::size_t>(hits.row(i))];
  });
  return values;
}

/// Values of hits as a column of all `row_count` rows of their cloud; other rows get `other`. Cancel within 50 ms.
template <class T>
Column<T> on_all_rows(const HitSelection& hits, Column<T>&& values, std::size_t row_count, T other,
                      OpContext& ctx) {
  if (hits.all_rows()) return std::move(values);
  Column<T> rows(row_count);
  const Span<T> to = rows.view();
  parallel_for(ctx, row_count, std::size_t{1} << 18,
               [&](std::size_t begin, std::size_t end) { std::fill(to.data + begin, to.data + end, other); });
  scatter_to_rows<T>(hits, values.view(), to, ctx);
  return rows;
}

}  // namespace pc
