#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "core/column.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Returns of one pulse at most; more rows with one time are different pulses.
constexpr std::size_t kMostReturns = 64;

/// Rows grouped to pulses.
class PulseGroups {
 public:
  /// Every row is a pulse.
  explicit PulseGroups(std::size_t rows) : pulses_(rows) {}
  PulseGroups(BulkVector<std::uint32_t> order, BulkVector<std::uint32_t> starts, std::size_t pulses)
      : order_(std::move(order)), starts_(std::move(starts)), pulses_(pulses) {}

  std::size_t size() const { return pulses_; }
  std::size_t begin(std::size_t pulse) const { return starts_.empty() ? pulse : starts_[pulse]; }
  std::size_t end(std::size_t pulse) const { return starts_.empty() ? pulse + 1 : starts_[pulse + 1]; }
  /// Row of a place between begin() and end().
  std::size_t row(std::size_t place) const { return order_.empty() ? place : order_[place]; }

 private:
  BulkVector<std::uint32_t> order_;   // empty: rows are in order of time
  BulkVector<std::uint32_t> starts_;  // (pulses + 1), or empty: every row is a pulse
  std::size_t pulses_;
};

struct GroupedPulses {
  PulseGroups groups;
  bool times_repeat;  ///< different pulses share their time, so every row is a pulse
};

/// The number of the place that each row was seen from, (rows); empty if all were seen from one, or from more than 256: the
/// scanner moved then. Places are numbered by their first row; different bits are different places, but -0 is 0.
///
/// origins  (rows) beam origins; of another length: empty
/// Cost     One pass; 2 bytes per row. Cancel within 50 ms.
std::vector<std::uint16_t> still_places(Span<const Vec3d> origins, std::size_t rows, OpContext& ctx);

/// Groups rows with equal time to pulses.
///
/// timestamps    (n) seconds, any order; a row whose time is not finite is a pulse of its own
/// target_index  (n) number of the return in its pulse, any scalar type
/// origins       (n) beam origins, or one for all. Scans of several places may have pulses of one time: with up to 256 places,
///               rows of different places are different pulses. With more, the scanner moved.
/// Order    By time, then by row. A group in which a target_index occurs twice, or of more than kMostReturns rows, is
///          no pulse: its rows stay single. If more than 1 % of the rows are in such groups, the times are rounded and
///          no row is grouped.
/// Cost     One radix sort unless the times ascend; 8 bytes per row, 16 more to sort. Cancel within 50 ms.
/// Errors   kInvalidArgument: lengths differ. kUnsupported: 2^32 - 1 rows or more.
/// Source   Contract lad 3.1; the share of 1 % is a choice: duplicates in real files are rarer, rounded stamps repeat
///          for most pulses.
GroupedPulses pulse_groups(Span<const double> timestamps, const AnyColumn& target_index,
                           Span<const Vec3d> origins, OpContext& ctx);

}  // namespace pc
