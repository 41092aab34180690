#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "io/e57_scan.h"
#include "io/e57_tile.h"

namespace pc::io::e57 {

namespace {

Vec3d from_angles(double azimuth, double elevation) {
  const double level = std::cos(elevation);
  return {level * std::cos(azimuth), level * std::sin(azimuth), std::sin(elevation)};
}

/// Unit vector of a miss in the scanner frame; false if the cell has no direction.
bool miss_direction(const Tile& tile, std::size_t i, Vec3d& out) {
  const double *azimuth = tile[kAzimuth], *elevation = tile[kElevation];
  if (azimuth != nullptr && std::isfinite(azimuth[i]) && std::isfinite(elevation[i])) {
    // In state 2 the angles are meaningless; writers then store zeros.
    if (tile.state(i) == 1 || azimuth[i] != 0 || elevation[i] != 0) {
      out = from_angles(azimuth[i], elevation[i]);
      return true;
    }
  }
  if (tile[kCartesianX] == nullptr) return false;
  const Vec3d p{tile[kCartesianX][i], tile[kCartesianY][i], tile[kCartesianZ][i]};
  const double largest = std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  if (!is_finite(p) || !(largest > 0)) return false;
  const Vec3d scaled{p.x / largest, p.y / largest, p.z / largest};  // squares neither overflow nor vanish
  const double length = std::sqrt(squared_distance(scaled, {0, 0, 0}));
  out = {scaled.x / length, scaled.y / length, scaled.z / length};
  return true;
}

/// Scales channel values of one scan: see read_e57.
class ChannelScale {
 public:
  ChannelScale(const E57Scan& scan, const ChannelRange& range) {
    const ChannelLimits limits = usable_limits(scan, range);
    for (std::size_t c = 0; c < 3; ++c) {
      if (!limits.color) continue;
      color_low_[c] = (*limits.color)[c].minimum;
      color_factor_[c] = 255;
      color_span_[c] = (*limits.color)[c].maximum - color_low_[c];
    }
    if (!limits.color) {
      const double top = *std::max_element(range.color_maximum.begin(), range.color_maximum.end());
      color_factor_.fill(top > 255 || (top > 0 && top <= 1) ? 255 / top : 1);
    }
    const double low = limits.intensity ? limits.intensity->minimum : range.intensity_minimum;
    const double high = limits.intensity ? limits.intensity->maximum : range.intensity_maximum;
    half_ = !std::isfinite(high - low) ? 0.5 : 1;
    low_ = low * half_;
    const double span = high * half_ - low_;
    span_ = span > 0 ? span : 0;
  }
  std::uint16_t color(std::size_t channel, double value) const {
    const double scaled = (value - color_low_[channel]) * color_factor_[channel] / color_span_[channel];
    if (!(scaled > 0)) return 0;
    return static_cast<std::uint16_t>(static_cast<int>(std::min(std::floor(scaled + 0.5), 255.0)) << 8);
  }
  std::uint16_t intensity(double value) const {
    if (!std::isfinite(value) || span_ == 0) return 0;
    const double unit = std::clamp((value * half_ - low_) / span_, 0.0, 1.0);
    return static_cast<std::uint16_t>(std::floor(unit * 65535 + 0.5));
  }

 private:
  std::array<double, 3> color_low_{0, 0, 0}, color_factor_{1, 1, 1}, color_span_{1, 1, 1};
  double half_, low_, span_;
};

/// Stores the tiles of one scan. Shared by the workers; calls write disjoint rows.
class TileWriter {
 public:
  TileWriter(const ScanPlan& plan, const ChannelRange& range, const PositionFrame& frame,
             const OutputColumns& out)
      : plan_(plan), scale_(*plan.scan, range), frame_(frame), out_(out), rotation_(plan.scan->rotation) {
    origin_ = frame.apply(plan.scan->translation);
  }

  void write(const Tile& tile, std::size_t row, std::size_t count, ScanTally& tally) const {
    write_positions(tile, row, count, tally);
    write_channels(tile, row, count);
    write_raster(tile, row, count, tally);
    write_returns(tile, row, count);
  }

 private:
  void write_positions(const Tile& tile, std::size_t row, std::size_t count, ScanTally& tally) const {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < count; ++i) {
      Vec3d& to = out_.positions[row + i];
      const bool miss = tile.state(i) != 0;
      if (out_.is_miss != nullptr) out_.is_miss[row + i] = miss ? 1 : 0;
      if (miss) {
        Vec3d direction;
        const bool placed = miss_direction(tile, i, direction);
        to = placed ? origin_ + rotation_.apply(direction) * kE57MissDistanceM : origin_;
        ++tally.misses;
        tally.unplaceable += placed ? 0 : 1;
      } else {
        const Vec3d p = plan_.cartesian()
                            ? Vec3d{tile[kCartesianX][i], tile[kCartesianY][i], tile[kCartesianZ][i]}
                            : from_angles(tile[kAzimuth][i], tile[kElevation][i]) * tile[kRange][i];
        to = frame_.apply(rotation_.apply(p) + plan_.scan->translation);
      }
      if (is_finite(to)) continue;
      to = {kNan, kNan, kNan};
      ++tally.nonfinite;
    }
  }

  void write_channels(const Tile& tile, std::size_t row, std::size_t count) const {
    if (out_.rgb != nullptr && tile[kRed] != nullptr) {
      for (std::size_t i = 0; i < count; ++i) {
        const bool valid = tile.state(i) == 0 && !tile.is_set(kColorInvalid, i);
        out_.rgb[row + i] = valid ? Rgb16{scale_.color(0, tile[kRed][i]), scale_.color(1, tile[kGreen][i]),
                                          scale_.color(2, tile[kBlue][i])}
                                  : Rgb16{0, 0, 0};
      }
    }
    if (out_.intensity != nullptr && tile[kIntensity] != nullptr) {
      for (std::size_t i = 0; i < count; ++i) {
        const bool valid = tile.state(i) == 0 && !tile.is_set(kIntensityInvalid, i);
        out_.intensity[row + i] = valid ? scale_.intensity(tile[kIntensity][i]) : std::uint16_t{0};
      }
    }
    if (out_.timestamp == nullptr) return;
    for (std::size_t i = 0; i < count; ++i) {
      const bool valid = tile[kTime] != nullptr && !tile.is_set(kTimeInvalid, i);
      out_.timestamp[row + i] = valid ? tile[kTime][i] : std::numeric_limits<double>::quiet_NaN();
    }
  }

  void write_index(const double* values, std::int32_t* to, std::size_t count,
                   std::array<std::int64_t, 2>& reach, std::uint64_t& wide) const {
    for (std::size_t i = 0; i < count; ++i) {
      const double value = values == nullptr ? -1 : std::nearbyint(values[i]);
      const bool fits = value >= -2147483648.0 && value <= 2147483647.0;  // false for NaN
      to[i] = fits ? static_cast<std::int32_t>(value) : -1;
      if (values == nullptr) continue;
      wide += fits ? 0 : 1;
      if (!fits) continue;
      reach[0] = std::min<std::int64_t>(reach[0], to[i]);
      reach[1] = std::max<std::int64_t>(reach[1], to[i]);
    }
  }

  void write_raster(const Tile& tile, std::size_t row, std::size_t count, ScanTally& tally) const {
    if (out_.row != nullptr) write_index(tile[kRow], out_.row + row, count, tally.row, tally.wide_indexes);
    if (out_.column != nullptr) {
      write_index(tile[kColumn], out_.column + row, count, tally.column, tally.wide_indexes);
    }
    if (out_.scan_index != nullptr) std::fill_n(out_.scan_index + row, count, plan_.scan_index);
  }

  static void write_return(const double* values, std::int32_t otherwise, std::int32_t* to,
                           std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const double value = values == nullptr ? otherwise : std::nearbyint(values[i]);
      const bool fits = value >= -2147483648.0 && value <= 2147483647.0;
      to[i] = fits ? static_cast<std::int32_t>(value) : otherwise;
    }
  }
  void write_returns(const Tile& tile, std::size_t row, std::size_t count) const {
    if (out_.target_index != nullptr) write_return(tile[kReturnIndex], 0, out_.target_index + row, count);
    if (out_.target_count != nullptr) write_return(tile[kReturnCount], 1, out_.target_count + row, count);
  }

  const ScanPlan& plan_;
  ChannelScale scale_;
  const PositionFrame& frame_;
  const OutputColumns& out_;
  Rotation rotation_;
  Vec3d origin_{0, 0, 0};
};

/// Stores a block's values of the reader's field `slot`, or NaN for kNoField.
void store_extra(const BlockReader& reader, std::size_t slot, std::size_t count, std::size_t row,
                 AnyColumn& column) {
  const auto integers = [&](auto sample) {
    using T = decltype(sample);
    reader.decode_integers(slot, 0, count, column.as_mutable<T>().data + row);
  };
  switch (column.dtype()) {
    case DType::kU8:
      return integers(std::uint8_t{});
    case DType::kI8:
      return integers(std::int8_t{});
    case DType::kU16:
      return integers(std::uint16_t{});
    case DType::kI16:
      return integers(std::int16_t{});
    case DType::kU32:
      return integers(std::uint32_t{});
    case DType::kI32:
      return integers(std::int32_t{});
    case DType::kI64:
      return integers(std::int64_t{});
    case DType::kF32: {
      float* const to = column.as_mutable<float>().data + row;
      if (slot != kNoField) return reader.decode_floats(slot, 0, count, to);
      std::fill_n(to, count, std::numeric_limits<float>::quiet_NaN());
      return;
    }
    case DType::kF64: {
      double* const to = column.as_mutable<double>().data + row;
      if (slot != kNoField) return reader.decode(slot, 0, count, to);
      std::fill_n(to, count, std::numeric_limits<double>::quiet_NaN());
      return;
    }
    default:
      break;
  }
  throw Error(ErrorCode::kInternal, "an E57 field cannot become this type of column");
}

}  // namespace

ScanTally store_points(const Pages& pages, const ScanPlan& plan, const PacketIndex& index,
                       const ChannelRange& range, const PositionFrame& frame, const OutputColumns& columns,
                       std::vector<NamedColumn>& table, OpContext& ctx) {
  std::vector<Role> roles;
  for (std::size_t r = 0; r < kRoleCount; ++r) {
    if (plan.has(static_cast<Role>(r))) roles.push_back(static_cast<Role>(r));
  }
  std::vector<std::size_t> fields = fields_of(plan, roles);
  for (const ExtraField& extra : plan.extras) {
    if (extra.field != kNoField) fields.push_back(extra.field);
  }
  const TileWriter writer(plan, range, frame, columns);
  const auto first_row = static_cast<std::size_t>(plan.first_row);
  ScanTally tally;
  std::mutex mutex;
  ctx.begin_phase("Reading points", plan.scan->point_count);
  for_each_tile(
      pages, *plan.scan, index, roles, fields, ctx, [] { return ScanTally(); },
      [&](ScanTally& block, const Tile& tile, std::size_t at, std::size_t count) {
        writer.write(tile, first_row + at, count, block);
      },
      [&](const ScanTally& block, const BlockReader& reader, const BlockRange& range_of_block) {
        std::size_t slot = roles.size();
        const std::size_t count = range_of_block.end - range_of_block.begin;
        for (const ExtraField& extra : plan.extras) {
          const bool present = extra.field != kNoField;
          store_extra(reader, present ? slot : kNoField, count, first_row + range_of_block.begin,
                      table[extra.column].values);
          slot += present ? 1 : 0;
        }
        const std::lock_guard<std::mutex> lock(mutex);
        tally.add(block);
      });
  return tally;
}

}  // namespace pc::io::e57
