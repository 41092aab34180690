#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "io/laz/integer_model.h"
#include "io/laz/point10_record.h"
#include "io/laz/prediction.h"
#include "io/laz/range_decoder.h"
#include "io/laz/rgb_model.h"

/// Items of version 1, as written by LASzip 1.0 to 1.2: decoding only.
/// Source: LASzip 1 specification, "POINT10 / GPSTIME11 / RGB12 / BYTE version 1".
namespace pc::io::laz {

class Point10V1 {
 public:
  void begin(const std::uint8_t* first) {
    last_ = load_record<Point10>(first);
    std::fill_n(dx_, 3, 0);
    std::fill_n(dy_, 3, 0);
    next_ = 0;
    x_.reset();
    y_.reset();
    z_.reset();
    intensity_.reset();
    angle_.reset();
    source_.reset();
    changed_.reset();
    for (int i = 0; i < 256; ++i) {
      returns_[i].reset();
      classes_[i].reset();
      users_[i].reset();
    }
  }

  void decode(RangeDecoder& in, std::uint8_t* record) {
    const std::int32_t dx = x_.code_signed(in, middle(dx_), 0);
    const std::uint32_t kx = x_.k();
    const std::int32_t dy = y_.code_signed(in, middle(dy_), 0, std::min(kx, 19U));
    const std::uint32_t k = (kx + y_.k()) / 2;
    last_.x = static_cast<std::int32_t>(static_cast<std::uint32_t>(last_.x) + static_cast<std::uint32_t>(dx));
    last_.y = static_cast<std::int32_t>(static_cast<std::uint32_t>(last_.y) + static_cast<std::uint32_t>(dy));
    last_.z = z_.code_signed(in, last_.z, 0, std::min(k, 19U));
    const std::uint32_t changed = in.symbol(changed_, 64);
    if ((changed & 32) != 0)
      last_.intensity = static_cast<std::uint16_t>(intensity_.code(in, last_.intensity, 0));
    if ((changed & 16) != 0) last_.returns = byte(in, returns_[last_.returns]);
    if ((changed & 8) != 0) last_.classification = byte(in, classes_[last_.classification]);
    if ((changed & 4) != 0) {
      last_.scan_angle = static_cast<std::uint8_t>(angle_.code(in, last_.scan_angle, 0, k < 3 ? 1 : 0));
    }
    if ((changed & 2) != 0) last_.user_data = byte(in, users_[last_.user_data]);
    if ((changed & 1) != 0) last_.source = static_cast<std::uint16_t>(source_.code(in, last_.source, 0));
    dx_[next_] = dx;
    dy_[next_] = dy;
    next_ = next_ == 2 ? 0 : next_ + 1;
    std::memcpy(record, &last_, sizeof last_);
  }

 private:
  static std::int32_t middle(const std::int32_t* v) {
    return std::max(std::min(v[0], v[1]), std::min(std::max(v[0], v[1]), v[2]));
  }
  static std::uint8_t byte(RangeDecoder& in, SymbolModel<256>& model) {
    return static_cast<std::uint8_t>(in.symbol(model, 256));
  }

  Point10 last_{};
  std::int32_t dx_[3]{}, dy_[3]{};
  unsigned next_ = 0;
  IntegerModel<32, 1> x_;
  IntegerModel<32, 20> y_, z_;
  IntegerModel<16, 1> intensity_, source_;
  IntegerModel<8, 2> angle_;
  SymbolModel<64> changed_;
  SymbolModel<256> returns_[256], classes_[256], users_[256];
};

/// GPS times as multiples of one time step.
class GpsTimeV1 {
 public:
  void begin(const std::uint8_t* first) {
    time_ = load_record<std::uint64_t>(first);
    step_ = extremes_ = 0;
    factors_.reset();
    still_.reset();
    integers_.reset();
  }

  void decode(RangeDecoder& in, std::uint8_t* record) {
    if (step_ == 0) {
      const std::uint32_t kind = in.symbol(still_, 3);
      if (kind == 1) add(step_ = integers_.code_signed(in, 0, 0, 0));
      if (kind == 2) time_ = in.double_word();
    } else {
      const std::uint32_t factor = in.symbol(factors_, kFactors);
      if (factor < kFactors - 2) decode_step(in, static_cast<std::int32_t>(factor));
      if (factor == kFactors - 2) time_ = in.double_word();
    }
    std::memcpy(record, &time_, sizeof time_);
  }

 private:
  static constexpr std::int32_t kFactors = 512;  ///< the last two: time in full, time unchanged

  void decode_step(RangeDecoder& in, std::int32_t factor) {
    const std::uint32_t context = factor == 1 ? 1 : factor == 0 ? 2 : factor < 10 ? 3 : factor < 50 ? 4 : 5;
    const std::int32_t predicted = factor == 0
                                       ? step_ / 4
                                       : static_cast<std::int32_t>(static_cast<std::uint32_t>(factor) *
                                                                   static_cast<std::uint32_t>(step_));
    const std::int32_t difference = integers_.code_signed(in, predicted, 0, context);
    if (factor == 1) {
      step_ = difference;
      extremes_ = 0;
    } else if ((factor == 0 || factor == kFactors - 3) && ++extremes_ > 3) {
      step_ = difference;
      extremes_ = 0;
    }
    add(difference);
  }
  void add(std::int32_t difference) {
    time_ += static_cast<std::uint64_t>(static_cast<std::int64_t>(difference));
  }

  std::uint64_t time_ = 0;
  std::int32_t step_ = 0, extremes_ = 0;
  SymbolModel<kFactors> factors_;
  SymbolModel<3> still_;
  IntegerModel<32, 6> integers_;
};

class RgbV1 {
 public:
  void begin(const std::uint8_t* first) {
    std::memcpy(last_, first, sizeof last_);
    changed_.reset();
    bytes_.reset();
  }
  void decode(RangeDecoder& in, std::uint8_t* record) {
    const std::uint32_t changed = in.symbol(changed_, 64);
    for (std::uint32_t i = 0; i < 6; ++i) {
      if ((changed >> i & 1) != 0) last_[i] = static_cast<std::uint8_t>(bytes_.code(in, last_[i], 0, i));
    }
    std::memcpy(record, last_, sizeof last_);
  }

 private:
  std::uint8_t last_[6]{};
  SymbolModel<64> changed_;
  IntegerModel<8, 6> bytes_;
};

/// Extra bytes, each as the difference from the previous byte; one distribution of widths per byte, the rest shared.
class BytesV1 {
 public:
  void begin(const std::uint8_t* first, std::size_t count) {
    last_.assign(first, first + count);
    if (widths_.size() != count) widths_ = std::vector<IntegerModel<8, 1>::Width>(count);
    for (auto& width : widths_) width.reset();
    differences_.reset();
  }
  void decode(RangeDecoder& in, std::uint8_t* record) {
    for (std::size_t i = 0; i < last_.size(); ++i) {
      last_[i] = static_cast<std::uint8_t>(differences_.code_with(in, widths_[i], last_[i], 0));
    }
    std::memcpy(record, last_.data(), last_.size());
  }

 private:
  std::vector<std::uint8_t> last_;
  std::vector<IntegerModel<8, 1>::Width> widths_;
  IntegerModel<8, 1> differences_;
};

}  // namespace pc::io::laz
