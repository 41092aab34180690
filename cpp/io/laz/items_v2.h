#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "io/laz/gps_time_model.h"
#include "io/laz/integer_model.h"
#include "io/laz/point10_record.h"
#include "io/laz/prediction.h"
#include "io/laz/rgb_model.h"

/// Items of version 2, in both directions: depending on the coder, `code` decodes to the record or encodes from it.
/// Source: LASzip 2 specification, "POINT10 / GPSTIME11 / RGB12 / BYTE version 2".
namespace pc::io::laz {

class Point10V2 {
 public:
  void begin(const std::uint8_t* first) {
    last_ = load_record<Point10>(first);
    last_.intensity = 0;
    for (int i = 0; i < 16; ++i) {
      x_median_[i].reset();
      y_median_[i].reset();
      intensities_[i] = 0;
    }
    std::fill_n(heights_, 8, 0);
    changed_.reset();
    x_.reset();
    y_.reset();
    z_.reset();
    intensity_.reset();
    source_.reset();
    for (auto& model : angles_) model.reset();
    for (int i = 0; i < 256; ++i) {
      returns_[i].reset();
      classes_[i].reset();
      users_[i].reset();
    }
  }

  template <class Coder>
  void code(Coder& coder, std::uint8_t* record) {
    const auto real = Coder::kDecodes ? Point10{} : load_record<Point10>(record);
    std::uint32_t changed = 0;
    if constexpr (!Coder::kDecodes) changed = changes(real);
    changed = coder.symbol(changed_, 64, changed);
    if ((changed & 32) != 0) last_.returns = byte(coder, returns_[last_.returns], real.returns);
    const std::uint32_t n = last_.return_count(), r = last_.return_number();
    const std::uint32_t map = kReturnMap8[n][r];
    if ((changed & 16) != 0) {
      intensities_[map] = static_cast<std::uint16_t>(
          intensity_.code(coder, intensities_[map], real.intensity, std::min(map, 3U)));
    }
    last_.intensity = intensities_[map];
    if ((changed & 15) != 0) code_rarely_changed(coder, changed, real);
    code_position(coder, n == 1 ? 1 : 0, map, return_level(n, r), real);
    if constexpr (Coder::kDecodes) std::memcpy(record, &last_, sizeof last_);
  }

 private:
  std::uint32_t changes(const Point10& real) const {
    const std::uint32_t map = kReturnMap8[real.return_count()][real.return_number()];
    return (real.returns != last_.returns ? 32U : 0U) | (real.intensity != intensities_[map] ? 16U : 0U) |
           (real.classification != last_.classification ? 8U : 0U) |
           (real.scan_angle != last_.scan_angle ? 4U : 0U) | (real.user_data != last_.user_data ? 2U : 0U) |
           (real.source != last_.source ? 1U : 0U);
  }

  template <class Coder>
  void code_rarely_changed(Coder& coder, std::uint32_t changed, const Point10& real) {
    if ((changed & 8) != 0)
      last_.classification = byte(coder, classes_[last_.classification], real.classification);
    if ((changed & 4) != 0) {
      const auto turn = static_cast<std::uint8_t>(real.scan_angle - last_.scan_angle);
      last_.scan_angle =
          static_cast<std::uint8_t>(last_.scan_angle + byte(coder, angles_[last_.returns >> 6 & 1], turn));
    }
    if ((changed & 2) != 0) last_.user_data = byte(coder, users_[last_.user_data], real.user_data);
    if ((changed & 1) != 0)
      last_.source = static_cast<std::uint16_t>(source_.code(coder, last_.source, real.source));
  }

  template <class Coder>
  void code_position(Coder& coder, std::uint32_t single, std::uint32_t map, std::uint32_t level,
                     const Point10& real) {
    const auto difference = [](std::int32_t a, std::int32_t b) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
    };
    const auto moved = [](std::int32_t a, std::int32_t by) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(by));
    };
    const std::int32_t dx = x_.code_signed(coder, x_median_[map].get(), difference(real.x, last_.x), single);
    last_.x = moved(last_.x, dx);
    x_median_[map].add(dx);
    const std::int32_t dy = y_.code_signed(coder, y_median_[map].get(), difference(real.y, last_.y),
                                           single + width_context(x_.k(), 20));
    last_.y = moved(last_.y, dy);
    y_median_[map].add(dy);
    const std::uint32_t k = (x_.k() + y_.k()) / 2;
    last_.z = heights_[level] = z_.code_signed(coder, heights_[level], real.z, single + width_context(k, 18));
  }

  template <class Coder>
  static std::uint8_t byte(Coder& coder, SymbolModel<256>& model, std::uint8_t real) {
    return static_cast<std::uint8_t>(coder.symbol(model, 256, real));
  }

  Point10 last_{};
  StreamingMedian5 x_median_[16], y_median_[16];
  std::int32_t heights_[8]{};
  std::uint16_t intensities_[16]{};
  SymbolModel<64> changed_;
  IntegerModel<32, 2> x_;
  IntegerModel<32, 22> y_;
  IntegerModel<32, 20> z_;
  IntegerModel<16, 4> intensity_;
  IntegerModel<16, 1> source_;
  SymbolModel<256> angles_[2], returns_[256], classes_[256], users_[256];
};

class GpsTimeV2 {
 public:
  void begin(const std::uint8_t* first) { model_.reset(load_record<std::uint64_t>(first)); }
  template <class Coder>
  void code(Coder& coder, std::uint8_t* record) {
    const std::uint64_t time = model_.code(coder, Coder::kDecodes ? 0 : load_record<std::uint64_t>(record));
    if constexpr (Coder::kDecodes) std::memcpy(record, &time, sizeof time);
  }

 private:
  GpsTimeModel<true> model_;
};

class RgbV2 {
 public:
  void begin(const std::uint8_t* first) {
    last_ = load_record<Rgb>(first);
    model_.reset();
  }
  template <class Coder>
  void code(Coder& coder, std::uint8_t* record) {
    last_ = model_.code(coder, last_, Coder::kDecodes ? Rgb{} : load_record<Rgb>(record));
    if constexpr (Coder::kDecodes) std::memcpy(record, &last_, sizeof last_);
  }

 private:
  Rgb last_{};
  RgbModel model_;
};

/// Extra bytes, each as the difference from the same byte of the previous point.
class BytesV2 {
 public:
  void begin(const std::uint8_t* first, std::size_t count) {
    last_.assign(first, first + count);
    if (models_.size() != count) models_ = std::vector<SymbolModel<256>>(count);
    for (auto& model : models_) model.reset();
  }
  template <class Coder>
  void code(Coder& coder, std::uint8_t* record) {
    for (std::size_t i = 0; i < last_.size(); ++i) {
      const auto step = static_cast<std::uint8_t>(record[i] - last_[i]);
      last_[i] = static_cast<std::uint8_t>(last_[i] + coder.symbol(models_[i], 256, step));
    }
    if constexpr (Coder::kDecodes) std::memcpy(record, last_.data(), last_.size());
  }

 private:
  std::vector<std::uint8_t> last_;
  std::vector<SymbolModel<256>> models_;
};

}  // namespace pc::io::laz
