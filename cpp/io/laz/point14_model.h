#pragma once
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
  static Point14 load(const std::uint8_t* record) {
    Point14 point;
    std::memcpy(&point, record, kHead);
    std::memcpy(&point.gps_time, record + kHead, sizeof point.gps_time);
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
  std::uint32_t n = 0, r = 0;  ///< number of returns, return number
  std::uint32_t position = 0;  ///< 3 single, 1 first, 2 last, 0 between
  std::uint32_t width = 0;     ///< mean bits of the x and y corrections
  bool source_changed = false, time_changed = false, angle_changed = false;
};

/// The models of one scanner channel for every layer of the first 30 bytes, in both directions.
/// Source: LASzip 3 specification document, sections "Compression of ... layer"; where it differs from actual files
/// (contexts of the changed values, of intensities and of the scan angle include the change of time), files are
/// followed.
class Point14Channel {
 public:
  Point14 last{};
  bool used = false;

  void begin(const Point14& first);

  /// Context of the change symbol: the kind of return of the previous point, and its change of time.
  std::uint32_t change_context() const {
    return (last.return_number() == 1 ? 1U : 0U) | (last.return_number() >= last.return_count() ? 2U : 0U) |
           (time_changed_ ? 4U : 0U);
  }
  template <class Coder>
  std::uint32_t code_changes(Coder& coder, std::uint32_t changes) {
    return coder.symbol(changes_[change_context()], 128, changes);
  }
  /// Distance of the next channel from the current one: 1, 2 or 3.
  template <class Coder>
  std::uint32_t code_channel_step(Coder& coder, std::uint32_t step) {
    return coder.symbol(channel_step_, 3, step - 1) + 1;
  }

  /// Bits 0 to 5 of the change symbol for `real`.
  std::uint32_t changes(const Point14& real) const {
    const std::uint32_t step = (real.return_number() - last.return_number()) & 15U;
    return (step == 0    ? 0U
            : step == 1  ? 1U
            : step == 15 ? 2U
                         : 3U) |
           (real.return_count() != last.return_count() ? 4U : 0U) |
           (real.scan_angle != last.scan_angle ? 8U : 0U) | (real.gps_time != last.gps_time ? 16U : 0U) |
           (real.source != last.source ? 32U : 0U);
  }

  template <class Coder>
  PointContext code_xy(Coder& coder, std::uint32_t changes, const Point14& real) {
    PointContext now;
    now.source_changed = (changes & 32) != 0;
    now.time_changed = time_changed_ = (changes & 16) != 0;
    now.angle_changed = (changes & 8) != 0;
    const std::uint32_t last_n = last.return_count(), last_r = last.return_number();
    now.n = (changes & 4) != 0 ? coder.symbol(return_counts_[last_n], 16, real.return_count()) : last_n;
    now.r = code_return_number(coder, changes, last_r, real.return_number());
    last.returns = static_cast<std::uint8_t>(now.r | (now.n << 4));
    now.position = (now.r == 1 ? 1U : 0U) | (now.r >= now.n ? 2U : 0U);

    const std::uint32_t single = now.n == 1 ? 1 : 0;
    const std::uint32_t median =
        (std::uint32_t{kReturnMap16[now.n][now.r]} << 1) | (now.time_changed ? 1U : 0U);
    const std::int32_t dx = x_.code_signed(coder, x_median_[median].get(), minus(real.x, last.x), single);
    last.x = minus(last.x, minus(0, dx));
    x_median_[median].add(dx);
    const std::int32_t dy = y_.code_signed(coder, y_median_[median].get(), minus(real.y, last.y),
                                           single + width_context(x_.k(), 20));
    last.y = minus(last.y, minus(0, dy));
    y_median_[median].add(dy);
    now.width = (x_.k() + y_.k()) / 2;
    return now;
  }

  template <class Coder>
  void code_z(Coder& coder, const PointContext& now, const Point14& real) {
    std::int32_t& height = heights_[return_level(now.n, now.r)];
    last.z = height =
        z_.code_signed(coder, height, real.z, (now.n == 1 ? 1 : 0) + width_context(now.width, 18));
  }
  template <class Coder>
  void code_class(Coder& coder, const PointContext& now, const Point14& real) {
    const std::uint32_t context = ((last.classification & 31U) << 1) | (now.position == 3 ? 1U : 0U);
    last.classification = static_cast<std::uint8_t>(
        coder.symbol_like(classes_[context], 256, last.classification, real.classification));
  }
  template <class Coder>
  void code_flags(Coder& coder, const Point14& real) {
    const std::uint32_t six =
        coder.symbol_like(flags_[last.six_flags()], 64, last.six_flags(), real.six_flags());
    last.flags = static_cast<std::uint8_t>((last.flags & 0x30U) | (six & 15U) | (six << 2 & 0xC0U));
  }
  template <class Coder>
  void code_intensity(Coder& coder, const PointContext& now, const Point14& real) {
    std::uint16_t& before = intensities_[(now.position << 1) | (now.time_changed ? 1U : 0U)];
    before = static_cast<std::uint16_t>(intensity_.code(coder, before, real.intensity, now.position));
    last.intensity = before;
  }
  template <class Coder>
  void code_angle(Coder& coder, const PointContext& now, const Point14& real) {
    if (!now.angle_changed) return;
    last.scan_angle = static_cast<std::int16_t>(
        angle_.code(coder, static_cast<std::uint16_t>(last.scan_angle),
                    static_cast<std::uint16_t>(real.scan_angle), now.time_changed ? 1 : 0));
  }
  template <class Coder>
  void code_user(Coder& coder, const Point14& real) {
    last.user_data = static_cast<std::uint8_t>(
        coder.symbol_like(users_[last.user_data / 4], 256, last.user_data, real.user_data));
  }
  template <class Coder>
  void code_source(Coder& coder, const PointContext& now, const Point14& real) {
    if (now.source_changed)
      last.source = static_cast<std::uint16_t>(source_.code(coder, last.source, real.source));
  }
  template <class Coder>
  void code_gps(Coder& coder, const PointContext& now, const Point14& real) {
    if (now.time_changed) last.gps_time = gps_.code(coder, real.gps_time);
  }

 private:
  static std::int32_t minus(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
  }

  template <class Coder>
  std::uint32_t code_return_number(Coder& coder, std::uint32_t changes, std::uint32_t last_r,
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
  last = first;
  used = true;
  time_changed_ = false;
  for (int i = 0; i < 12; ++i) {
    x_median_[i].reset();
    y_median_[i].reset();
  }
  for (int i = 0; i < 8; ++i) {
    heights_[i] = first.z;
    intensities_[i] = first.intensity;
    changes_[i].reset();
  }
  channel_step_.reset();
  for (int i = 0; i < 16; ++i) {
    return_counts_[i].reset();
    return_numbers_[i].reset();
  }
  return_steps_.reset();
  x_.reset();
  y_.reset();
  z_.reset();
  for (int i = 0; i < 64; ++i) {
    classes_[i].reset();
    users_[i].reset();
    flags_[i].reset();
  }
  intensity_.reset();
  angle_.reset();
  source_.reset();
  gps_.reset(first.gps_time);
}

}  // namespace pc::io::laz
