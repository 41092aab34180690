#include "io/e57_scan.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "io/e57_tile.h"

namespace pc::io::e57 {

namespace {

constexpr const char* kRoleNames[kRoleCount] = {
    "cartesianX",     "cartesianY",         "cartesianZ",         "cartesianInvalidState",
    "sphericalRange", "sphericalAzimuth",   "sphericalElevation", "sphericalInvalidState",
    "intensity",      "isIntensityInvalid", "colorRed",           "colorGreen",
    "colorBlue",      "isColorInvalid",     "rowIndex",           "columnIndex",
    "returnIndex",    "returnCount",        "timeStamp",          "isTimeStampInvalid"};

/// Of the span of declared limits: values may exceed them by this much.
constexpr double kLimitSlack = 1e-6;

std::vector<Role> present_roles(const ScanPlan& plan, std::initializer_list<Role> wanted) {
  std::vector<Role> roles;
  for (const Role role : wanted) {
    if (plan.has(role)) roles.push_back(role);
  }
  return roles;
}

ChannelRange measure_tile(const Tile& tile, std::size_t count) {
  ChannelRange range;
  for (std::size_t i = 0; i < count; ++i) {
    if (tile.state(i) != 0) continue;
    if (tile[kIntensity] != nullptr && !tile.is_set(kIntensityInvalid, i) &&
        std::isfinite(tile[kIntensity][i])) {
      range.intensity_minimum = std::min(range.intensity_minimum, tile[kIntensity][i]);
      range.intensity_maximum = std::max(range.intensity_maximum, tile[kIntensity][i]);
    }
    if (tile[kRed] == nullptr || tile.is_set(kColorInvalid, i)) continue;
    for (std::size_t c = 0; c < 3; ++c) {
      const double value = tile[static_cast<Role>(kRed + c)][i];
      if (!std::isfinite(value)) continue;
      range.color_minimum[c] = std::min(range.color_minimum[c], value);
      range.color_maximum[c] = std::max(range.color_maximum[c], value);
    }
  }
  return range;
}

}  // namespace

std::vector<std::size_t> fields_of(const ScanPlan& plan, const std::vector<Role>& roles) {
  std::vector<std::size_t> fields;
  for (const Role role : roles) fields.push_back(plan.field[role]);
  return fields;
}

std::array<std::size_t, kRoleCount> roles_of(const E57Scan& scan) {
  std::array<std::size_t, kRoleCount> roles;
  roles.fill(kNoField);
  for (std::size_t f = 0; f < scan.fields.size(); ++f) {
    if (scan.fields[f].type == E57FieldType::kString) continue;
    for (std::size_t r = 0; r < kRoleCount; ++r) {
      if (scan.fields[f].name == kRoleNames[r]) roles[r] = f;
    }
  }
  const auto whole = [&](std::initializer_list<Role> parts) {
    if (std::all_of(parts.begin(), parts.end(), [&](Role part) { return roles[part] != kNoField; })) return;
    for (const Role part : parts) roles[part] = kNoField;
  };
  whole({kCartesianX, kCartesianY, kCartesianZ});
  whole({kRed, kGreen, kBlue});
  whole({kAzimuth, kElevation});  // a direction is complete without a range
  if (roles[kAzimuth] == kNoField) roles[kRange] = kNoField;
  if (roles[kIntensity] == kNoField) roles[kIntensityInvalid] = kNoField;
  if (roles[kRed] == kNoField) roles[kColorInvalid] = kNoField;
  if (roles[kTime] == kNoField) roles[kTimeInvalid] = kNoField;
  return roles;
}

void ChannelRange::add(const ChannelRange& other) {
  intensity_minimum = std::min(intensity_minimum, other.intensity_minimum);
  intensity_maximum = std::max(intensity_maximum, other.intensity_maximum);
  for (std::size_t c = 0; c < 3; ++c) {
    color_minimum[c] = std::min(color_minimum[c], other.color_minimum[c]);
    color_maximum[c] = std::max(color_maximum[c], other.color_maximum[c]);
  }
}

ChannelLimits usable_limits(const E57Scan& scan, const ChannelRange& range) {
  const auto spans = [](const E57Limits& limits) { return limits.maximum > limits.minimum; };
  // Limits written as decimal text and values stored as float32 differ by rounding.
  const auto holds = [](const E57Limits& limits, double minimum, double maximum) {
    const double slack = kLimitSlack * (limits.maximum - limits.minimum);
    return minimum >= limits.minimum - slack && maximum <= limits.maximum + slack;
  };
  ChannelLimits usable;
  if (scan.intensity_limits && spans(*scan.intensity_limits)) {
    usable.intensity_exceeded =
        !holds(*scan.intensity_limits, range.intensity_minimum, range.intensity_maximum);
    if (!usable.intensity_exceeded) usable.intensity = scan.intensity_limits;
  }
  if (scan.color_limits && std::all_of(scan.color_limits->begin(), scan.color_limits->end(), spans)) {
    for (std::size_t c = 0; c < 3; ++c) {
      usable.color_exceeded = usable.color_exceeded ||
                              !holds((*scan.color_limits)[c], range.color_minimum[c], range.color_maximum[c]);
    }
    if (!usable.color_exceeded) usable.color = scan.color_limits;
  }
  return usable;
}

void ScanTally::add(const ScanTally& other) {
  misses += other.misses;
  unplaceable += other.unplaceable;
  nonfinite += other.nonfinite;
  wide_indexes += other.wide_indexes;
  row = {std::min(row[0], other.row[0]), std::max(row[1], other.row[1])};
  column = {std::min(column[0], other.column[0]), std::max(column[1], other.column[1])};
}

ChannelRange measure_channels(const Pages& pages, const ScanPlan& plan, const PacketIndex& index,
                              OpContext& ctx) {
  ChannelRange range;
  if (!plan.has(kIntensity) && !plan.has(kRed)) return range;
  const std::vector<Role> roles = present_roles(plan, {kIntensity, kIntensityInvalid, kRed, kGreen, kBlue,
                                                       kColorInvalid, kCartesianState, kSphericalState});
  std::mutex mutex;
  ctx.begin_phase("Measuring intensity and colour", plan.scan->point_count);
  for_each_tile(
      pages, *plan.scan, index, roles, fields_of(plan, roles), ctx, [] { return ChannelRange(); },
      [](ChannelRange& block, const Tile& tile, std::size_t, std::size_t count) {
        block.add(measure_tile(tile, count));
      },
      [&](const ChannelRange& block, const BlockReader&, const BlockRange&) {
        const std::lock_guard<std::mutex> lock(mutex);
        range.add(block);
      });
  return range;
}

}  // namespace pc::io::e57
