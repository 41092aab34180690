#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "io/laz/gps_time_model.h"
#include "io/laz/integer_model.h"
#include "io/laz/point10_record.h"
#include "io/laz/prediction.h"

namespace pc::io::laz {

/// The first 30 bytes of records of formats 6 to 10; the first 22 are laid out as in the file, in which the time
/// follows at byte 22 (ASPRS LAS 1.4 R15, table 15).
struct Point14 {
  std::int32_t x, y, z;
  std::uint16_t intensity;
  std::uint8_t returns;  ///< 0-3 return number, 4-7 number of returns
  std::uint8_t
      flags;  ///< 0-3 classification flags, 4-5 scanner channel, 6 scan direction, 7 edge of flight line
  std::uint8_t classification;
  std::uint8_t user_data;
  std::int16_t scan_angle;
  std::uint16_t source;
  std::uint64_t gps_time;  ///< the bits of the double

  std::uint32_t return_number() const { return returns & 15U; }
  std::uint32_t return_count() const { return returns >> 4; }
  std::uint32_t channel() const { return flags >> 4 & 3U; }
  /// The six flags, without the scanner channel.
  std::uint32_t six_flags() const { return (flags & 15U) | (flags >> 2 & 0x30U); }

  static constexpr std::size_t kHead = 22;
  /// Field by field: a copy of 22 bytes is two overlapping ones, and the processor waits for both before it reads a field.
  static PC_INLINE Point14 load(const std::uint8_t* record) {
    Point14 point;
    const auto field = [&](auto& value, std::size_t at)
                           PC_INLINE_LAMBDA { std::memcpy(&value, record + at, sizeof value); };
    field(point.x, 0);
    field(point.y, 4);
    field(point.z, 8);
    field(point.intensity, 12);
    point.returns = record[14];
    point.flags = record[15];
    point.classification = record[16];
    point.user_data = record[17];
    field(point.scan_angle, 18);
    field(point.source, 20);
    field(point.gps_time, kHead);
    return point;
  }
  void store(std::uint8_t* record) const {
    std::memcpy(record, this, kHead);
    std::memcpy(record + kHead, &gps_time, sizeof gps_time);
  }
};
static_assert(offsetof(Point14, source) == 20);

/// Layers of a chunk in file order; the extra bytes follow, one layer each.
enum Layer : unsigned { kXy, kZ, kClass, kFlags, kIntensity, kAngle, kUser, kSource, kGps, kPointLayers };

/// Properties of a point that are known after its first layer, used as contexts by the others.
struct PointContext {
  std::uint8_t n = 0, r = 0;  ///< number of returns, return number
  std::uint8_t position = 0;  ///< 3 single, 1 first, 2 last, 0 between
  std::uint8_t width = 0;     ///< mean bits of the x and y corrections
  bool source_changed = false, time_changed = false, angle_changed = false;
  std::uint8_t channel = 0, before = 0;            ///< scanner channel of this point and of the previous one
  bool fresh = false;                              ///< the first point of its channel in this chunk
  std::uint8_t attached = 0, attached_before = 0;  ///< as above, for the bytes after the first 30
  bool attached_fresh = false;
};

/// The models of one scanner channel for every layer of the first 30 bytes, in both directions. The layers are coded
/// one after the other for a number of points: the first layer has its own last point (`ahead`).
/// Source: LASzip 3 specification document, sections "Compression of ... layer"; where it differs from actual files
/// (contexts of the changed values, of intensities and of the scan angle include the change of time), files are
/// followed.
class Point14Channel {
 public:
  Point14
      ahead{};  ///< last point of the first layer: x, y and returns, of an encoder also what keep_ahead() keeps
  Point14 last{};  ///< last point of the other layers
  bool used = false;

  /// Starts all layers after the point `first`.
  void begin(const Point14& first);
  /// Starts the first layer after the point `first`.
  void begin_xy(const Point14& first);
  /// Starts another layer after the point `first`.
  void begin_layer(Layer layer, const Point14& first);

  /// Context of the change symbol: the kind of return of the previous point, and its change of time.
  std::uint32_t change_context() const {
    return (ahead.return_number() == 1 ? 1U : 0U) |
           (ahead.return_number() >= ahead.return_count() ? 2U : 0U) | (time_changed_ ? 4U : 0U);
  }
  template <class Coder>
  PC_INLINE std::uint32_t code_changes(Coder& coder, std::uint32_t changes) {
    return coder.symbol(changes_[change_context()], 128, changes);
  }
  /// Distance of the next channel from the current one: 1, 2 or 3.
  template <class Coder>
  std::uint32_t code_channel_step(Coder& coder, std::uint32_t step) {
    return coder.symbol(channel_step_, 3, step - 1) + 1;
  }

  /// Bits 0 to 5 of the change symbol for `real`.
  std::uint32_t changes(const Point14& real) const {
    const std::uint32_t step = (real.return_number() - ahead.return_number()) & 15U;
    return (step == 0    ? 0U
            : step == 1  ? 1U
            : step == 15 ? 2U
                         : 3U) |
           (real.return_count() != ahead.return_count() ? 4U : 0U) |
           (real.scan_angle != ahead.scan_angle ? 8U : 0U) | (real.gps_time != ahead.gps_time ? 16U : 0U) |
           (real.source != ahead.source ? 32U : 0U);
  }

  /// Codes the returns and sets the contexts that the changes give.
  template <class Coder>
  PC_INLINE void code_returns(Coder& coder, std::uint32_t changes, const Point14& real, PointContext& now) {
    now.source_changed = (changes & 32) != 0;
    now.time_changed = time_changed_ = (changes & 16) != 0;
    now.angle_changed = (changes & 8) != 0;
    const std::uint32_t last_n = ahead.return_count(), last_r = ahead.return_number();
    const std::uint32_t n =
        (changes & 4) != 0 ? coder.symbol(return_counts_[last_n], 16, real.return_count()) : last_n;
    const std::uint32_t r = code_return_number(coder, changes, last_r, real.return_number());
    now.n = static_cast<std::uint8_t>(n);
    now.r = static_cast<std::uint8_t>(r);
    ahead.returns = static_cast<std::uint8_t>(r | (n << 4));
    now.position = static_cast<std::uint8_t>((r == 1 ? 1U : 0U) | (r >= n ? 2U : 0U));
  }
  /// Encoder: keeps the fields of the last point whose changes are coded and that are not set otherwise.
  PC_INLINE void keep_ahead(const Point14& real) {
    ahead.scan_angle = real.scan_angle;
    ahead.source = real.source;
    ahead.gps_time = real.gps_time;
  }
  /// The integers of x, y, z and the intensity: a call to code, and what to do with its value.
  template <class Coder>
  PC_INLINE auto call_x(Coder& coder, const PointContext& now, std::int32_t real) {
    return x_.call(coder, x_median_[median_context(now)].get(), minus(real, ahead.x), now.n == 1 ? 1 : 0);
  }
  PC_INLINE void take_x(const PointContext& now, std::uint32_t value) {
    const auto dx = static_cast<std::int32_t>(value);
    ahead.x = minus(ahead.x, minus(0, dx));
    x_median_[median_context(now)].add(dx);
  }
  template <class Coder>
  PC_INLINE auto call_y(Coder& coder, const PointContext& now, std::int32_t real) {
    return y_.call(coder, y_median_[median_context(now)].get(), minus(real, ahead.y),
                   (now.n == 1 ? 1 : 0) + width_context(x_.k(), 20));
  }
  PC_INLINE void take_y(PointContext& now, std::uint32_t value) {
    const auto dy = static_cast<std::int32_t>(value);
    ahead.y = minus(ahead.y, minus(0, dy));
    y_median_[median_context(now)].add(dy);
    now.width = static_cast<std::uint8_t>((x_.k() + y_.k()) / 2);
  }
  template <class Coder>
  PC_INLINE auto call_z(Coder& coder, const PointContext& now, std::int32_t real) {
    return z_.call(coder, heights_[return_level(now.n, now.r)], real,
                   (now.n == 1 ? 1 : 0) + width_context(now.width, 18));
  }
  PC_INLINE void take_z(const PointContext& now, std::uint32_t value) {
    last.z = heights_[return_level(now.n, now.r)] = static_cast<std::int32_t>(value);
  }
  template <class Coder>
  PC_INLINE auto call_intensity(Coder& coder, const PointContext& now, std::uint16_t real) {
    return intensity_.call(coder, intensities_[intensity_context(now)], real, now.position);
  }
  PC_INLINE void take_intensity(const PointContext& now, std::uint32_t value) {
    last.intensity = intensities_[intensity_context(now)] = static_cast<std::uint16_t>(value);
  }
  template <class Coder>
  PC_INLINE void code_class(Coder& coder, const PointContext& now, std::uint8_t real) {
    const std::uint32_t context = ((last.classification & 31U) << 1) | (now.position == 3 ? 1U : 0U);
    last.classification =
        static_cast<std::uint8_t>(coder.symbol_like(classes_[context], 256, last.classification, real));
  }
  /// The six flags; the channel in `last.flags` has no meaning here.
  template <class Coder>
  PC_INLINE void code_flags(Coder& coder, std::uint32_t real) {
    const std::uint32_t six = coder.symbol_like(flags_[last.six_flags()], 64, last.six_flags(), real);
    last.flags = static_cast<std::uint8_t>((six & 15U) | (six << 2 & 0xC0U));
  }
  template <class Coder>
  void code_angle(Coder& coder, const PointContext& now, std::int16_t real) {
    if (!now.angle_changed) return;
    last.scan_angle =
        static_cast<std::int16_t>(angle_.code(coder, static_cast<std::uint16_t>(last.scan_angle),
                                              static_cast<std::uint16_t>(real), now.time_changed ? 1 : 0));
  }
  template <class Coder>
  PC_INLINE void code_user(Coder& coder, std::uint8_t real) {
    last.user_data =
        static_cast<std::uint8_t>(coder.symbol_like(users_[last.user_data / 4], 256, last.user_data, real));
  }
  template <class Coder>
  void code_source(Coder& coder, const PointContext& now, std::uint16_t real) {
    if (now.source_changed) last.source = static_cast<std::uint16_t>(source_.code(coder, last.source, real));
  }
  template <class Coder>
  using GpsCall = GpsTimeModel<false>::Call<Coder>;
  template <class Coder>
  PC_INLINE GpsCall<Coder> call_gps(Coder& coder, std::uint64_t real) {
    return {&gps_, &coder, real};
  }
  template <class Coder>
  void code_gps(Coder& coder, const PointContext& now, std::uint64_t real) {
    if (now.time_changed) last.gps_time = gps_.code(coder, real);
  }

 private:
  static std::int32_t minus(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
  }

  static std::uint32_t median_context(const PointContext& now) {
    return (std::uint32_t{kReturnMap16[now.n][now.r]} << 1) | (now.time_changed ? 1U : 0U);
  }

  static std::uint32_t intensity_context(const PointContext& now) {
    return (std::uint32_t{now.position} << 1) | (now.time_changed ? 1U : 0U);
  }

  template <class Coder>
  PC_INLINE std::uint32_t code_return_number(Coder& coder, std::uint32_t changes, std::uint32_t last_r,
                                             std::uint32_t r) {
    switch (changes & 3) {
      case 0:
        return last_r;
      case 1:
        return (last_r + 1) & 15;
      case 2:
        return (last_r + 15) & 15;
      default:
        break;
    }
    if ((changes & 16) != 0) return coder.symbol(return_numbers_[last_r], 16, r);
    return (last_r + coder.symbol(return_steps_, 13, (r - last_r - 2) & 15) + 2) & 15;
  }

  bool time_changed_ = false;
  StreamingMedian5 x_median_[12], y_median_[12];
  std::int32_t heights_[8]{};
  std::uint16_t intensities_[8]{};
  SymbolModel<128> changes_[8];
  SymbolModel<3> channel_step_;
  SymbolModel<16> return_counts_[16], return_numbers_[16];
  SymbolModel<13> return_steps_;
  IntegerModel<32, 2> x_;
  IntegerModel<32, 22> y_;
  IntegerModel<32, 20> z_;
  SymbolModel<256> classes_[64], users_[64];
  SymbolModel<64> flags_[64];
  IntegerModel<16, 4> intensity_;
  IntegerModel<16, 2> angle_;
  IntegerModel<16, 1> source_;
  GpsTimeModel<false> gps_;
};

inline void Point14Channel::begin(const Point14& first) {
  begin_xy(first);
  for (unsigned layer = kZ; layer < kPointLayers; ++layer) begin_layer(static_cast<Layer>(layer), first);
}

inline void Point14Channel::begin_xy(const Point14& first) {
  ahead = first;
  used = true;
  time_changed_ = false;
  for (int i = 0; i < 12; ++i) {
    x_median_[i].reset();
    y_median_[i].reset();
  }
  for (auto& model : changes_) model.reset();
  channel_step_.reset();
  for (int i = 0; i < 16; ++i) {
    return_counts_[i].reset();
    return_numbers_[i].reset();
  }
  return_steps_.reset();
  x_.reset();
  y_.reset();
}

inline void Point14Channel::begin_layer(Layer layer, const Point14& first) {
  switch (layer) {
    case kZ:
      last.z = first.z;
      std::fill_n(heights_, 8, first.z);
      return z_.reset();
    case kClass:
      last.classification = first.classification;
      for (auto& model : classes_) model.reset();
      return;
    case kFlags:
      last.flags = first.flags;
      for (auto& model : flags_) model.reset();
      return;
    case kIntensity:
      last.intensity = first.intensity;
      std::fill_n(intensities_, 8, first.intensity);
      return intensity_.reset();
    case kAngle:
      last.scan_angle = first.scan_angle;
      return angle_.reset();
    case kUser:
      last.user_data = first.user_data;
      for (auto& model : users_) model.reset();
      return;
    case kSource:
      last.source = first.source;
      return source_.reset();
    case kGps:
      last.gps_time = first.gps_time;
      return gps_.reset(first.gps_time);
    case kXy:
    case kPointLayers:
      break;
  }
}

}  // namespace pc::io::laz
