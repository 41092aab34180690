#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/op_context.h"
#include "io/cloud_table.h"
#include "io/e57.h"
#include "io/e57_stream.h"

namespace pc::io::e57 {

/// The fields of a point that have a meaning of their own (ASTM E2807-11, table 14).
enum Role : std::uint8_t {
  kCartesianX,
  kCartesianY,
  kCartesianZ,
  kCartesianState,
  kRange,
  kAzimuth,
  kElevation,
  kSphericalState,
  kIntensity,
  kIntensityInvalid,
  kRed,
  kGreen,
  kBlue,
  kColorInvalid,
  kRow,
  kColumn,
  kReturnIndex,
  kReturnCount,
  kTime,
  kTimeInvalid,
  kRoleCount
};

inline constexpr std::size_t kNoField = std::numeric_limits<std::size_t>::max();

/// A field that is stored in a column of its own; kNoField for scans without it.
struct ExtraField {
  std::size_t field;
  std::size_t column;  ///< in CloudTable::columns
};

/// Rotation of a unit quaternion (w x y z) as three rows.
struct Rotation {
  Vec3d rows[3];
  explicit Rotation(const std::array<double, 4>& q) {
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    rows[0] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)};
    rows[1] = {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)};
    rows[2] = {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
  }
  Vec3d apply(const Vec3d& p) const {
    const auto dot = [&](const Vec3d& r) { return r.x * p.x + r.y * p.y + r.z * p.z; };
    return {dot(rows[0]), dot(rows[1]), dot(rows[2])};
  }
};

/// How the fields of a scan are stored.
struct ScanPlan {
  const E57Scan* scan;
  std::uint64_t first_row = 0;
  std::array<std::size_t, kRoleCount> field;  ///< index into scan->fields, or kNoField
  std::vector<ExtraField> extras;
  std::uint16_t scan_index = 0;

  bool has(Role role) const { return field[role] != kNoField; }
  bool cartesian() const { return has(kCartesianX); }
  bool spherical() const { return has(kRange); }
};

/// Roles of a scan's fields; incomplete coordinate or colour triples and flags of absent fields get none.
std::array<std::size_t, kRoleCount> roles_of(const E57Scan& scan);

/// The named columns; nullptr for columns that the table does not have.
struct OutputColumns {
  Vec3d* positions = nullptr;
  Rgb16* rgb = nullptr;
  std::uint16_t *intensity = nullptr, *scan_index = nullptr;
  std::int32_t *row = nullptr, *column = nullptr, *target_index = nullptr, *target_count = nullptr;
  std::uint8_t* is_miss = nullptr;
  double* timestamp = nullptr;
};

/// Properties of a scan's valid cells that scaling needs.
struct ChannelRange {
  double intensity_minimum = HUGE_VAL, intensity_maximum = -HUGE_VAL;
  std::array<double, 3> color_minimum{HUGE_VAL, HUGE_VAL, HUGE_VAL};  ///< red, green, blue
  std::array<double, 3> color_maximum{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  void add(const ChannelRange& other);
};

/// The declared limits that scaling uses; absent if the file declares none, an empty range, or one that the values
/// exceed.
struct ChannelLimits {
  std::optional<E57Limits> intensity;
  std::optional<std::array<E57Limits, 3>> color;
  bool intensity_exceeded = false, color_exceeded = false;
};
ChannelLimits usable_limits(const E57Scan& scan, const ChannelRange& range);

/// What was found in the points of a scan.
struct ScanTally {
  std::uint64_t misses = 0, unplaceable = 0, nonfinite = 0;
  std::uint64_t wide_indexes = 0;  ///< row or column indexes that 32 bits cannot hold
  std::array<std::int64_t, 2> row{INT64_MAX, INT64_MIN}, column{INT64_MAX, INT64_MIN};  ///< smallest, largest
  void add(const ScanTally& other);
};

/// First pass: the range of intensity and colour over a scan's valid cells.
ChannelRange measure_channels(const Pages& pages, const ScanPlan& plan, const PacketIndex& index,
                              OpContext& ctx);

/// Second pass: stores a scan's points from row plan.first_row on. Valid cells with coordinates that are not finite
/// become NaN.
ScanTally store_points(const Pages& pages, const ScanPlan& plan, const PacketIndex& index,
                       const ChannelRange& range, const PositionFrame& frame, const OutputColumns& columns,
                       std::vector<NamedColumn>& table, OpContext& ctx);

}  // namespace pc::io::e57
