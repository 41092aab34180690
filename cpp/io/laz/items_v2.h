#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "io/laz/gps_time_model.h"
#include "io/laz/integer_model.h"
#include "io/laz/point10_record.h"
#include "io/laz/prediction.h"
#include "io/laz/range_decoder.h"
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
  struct Call {
    Point10V2* model;
    Coder* coder;
    std::uint8_t* record;
  };

  template <class Coder>
  void code(Coder& coder, std::uint8_t* record) {
    code_all(std::array<Call<Coder>, 1>{{{this, &coder, record}}});
  }

  /// Codes one record of each of several streams, decoding symbol by symbol in turn (see IntegerModel::code_all).
  template <class Coder, std::size_t kCalls>
  static PC_INLINE void code_all(const std::array<Call<Coder>, kCalls>& calls) {
    std::array<Point10, kCalls> real{};
    std::array<std::uint32_t, kCalls> changed{};
    std::array<Context, kCalls> now;
    PC_UNROLL for (std::size_t i = 0; i < kCalls; ++i) {
      Point10V2& model = *calls[i].model;
      if constexpr (!Coder::kDecodes) {
        real[i] = load_record<Point10>(calls[i].record);
        changed[i] = model.changes(real[i]);
      }
      changed[i] = calls[i].coder->symbol(model.changed_, 64, changed[i]);
    }
    bool all = true;
    PC_UNROLL for (std::size_t i = 0; i < kCalls; ++i) {
      now[i] = calls[i].model->code_returns(*calls[i].coder, changed[i], real[i]);
      all = all && (changed[i] & 16) != 0;
    }
    if (all) {
      code_integers(
          calls,
          [&](std::size_t i)
              PC_INLINE_LAMBDA { return calls[i].model->call_intensity(*calls[i].coder, now[i], real[i]); },
          [&](std::size_t i, std::uint32_t value) PC_INLINE_LAMBDA {
            calls[i].model->intensities_[now[i].map] = static_cast<std::uint16_t>(value);
          });
    } else {
      for (std::size_t i = 0; i < kCalls; ++i)
        if ((changed[i] & 16) != 0) calls[i].model->code_intensity(*calls[i].coder, now[i], real[i]);
    }
    PC_UNROLL for (std::size_t i = 0; i < kCalls; ++i) {
      calls[i].model->last_.intensity = calls[i].model->intensities_[now[i].map];
      if ((changed[i] & 15) != 0) calls[i].model->code_rarely_changed(*calls[i].coder, changed[i], real[i]);
    }
    code_positions(calls, now, real);
  }

 private:
  /// Contexts that the returns of a point give.
  struct Context {
    std::uint32_t single, map, level;
  };

  template <class Coder, std::size_t kCalls, class MakeCall, class Take>
  static PC_INLINE void code_integers(const std::array<Call<Coder>, kCalls>&, const MakeCall& make_call,
                                      const Take& take) {
    std::array<decltype(make_call(0)), kCalls> integers;
    PC_UNROLL for (std::size_t i = 0; i < kCalls; ++i) integers[i] = make_call(i);
    std::remove_pointer_t<decltype(integers[0].model)>::code_all(integers);
    PC_UNROLL for (std::size_t i = 0; i < kCalls; ++i) take(i, integers[i].value);
  }

  template <class Coder, std::size_t kCalls>
  static PC_INLINE void code_positions(const std::array<Call<Coder>, kCalls>& calls,
                                       const std::array<Context, kCalls>& now,
                                       const std::array<Point10, kCalls>& real) {
    const auto minus = [](std::int32_t a, std::int32_t b) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
    };
    code_integers(
        calls,
        [&](std::size_t i) PC_INLINE_LAMBDA {
          Point10V2& model = *calls[i].model;
          return model.x_.call(*calls[i].coder, model.x_median_[now[i].map].get(),
                               minus(real[i].x, model.last_.x), now[i].single);
        },
        [&](std::size_t i, std::uint32_t value) PC_INLINE_LAMBDA {
          const auto dx = static_cast<std::int32_t>(value);
          calls[i].model->last_.x = minus(calls[i].model->last_.x, minus(0, dx));
          calls[i].model->x_median_[now[i].map].add(dx);
        });
    code_integers(
        calls,
        [&](std::size_t i) PC_INLINE_LAMBDA {
          Point10V2& model = *calls[i].model;
          return model.y_.call(*calls[i].coder, model.y_median_[now[i].map].get(),
                               minus(real[i].y, model.last_.y),
                               now[i].single + width_context(model.x_.k(), 20));
        },
        [&](std::size_t i, std::uint32_t value) PC_INLINE_LAMBDA {
          const auto dy = static_cast<std::int32_t>(value);
          calls[i].model->last_.y = minus(calls[i].model->last_.y, minus(0, dy));
          calls[i].model->y_median_[now[i].map].add(dy);
        });
    code_integers(
        calls,
        [&](std::size_t i) PC_INLINE_LAMBDA {
          Point10V2& model = *calls[i].model;
          return model.z_.call(*calls[i].coder, model.heights_[now[i].level], real[i].z,
                               now[i].single + width_context((model.x_.k() + model.y_.k()) / 2, 18));
        },
        [&](std::size_t i, std::uint32_t value) PC_INLINE_LAMBDA {
          Point10V2& model = *calls[i].model;
          model.last_.z = model.heights_[now[i].level] = static_cast<std::int32_t>(value);
          if constexpr (Coder::kDecodes) std::memcpy(calls[i].record, &model.last_, sizeof model.last_);
        });
  }

  template <class Coder>
  PC_INLINE Context code_returns(Coder& coder, std::uint32_t changed, const Point10& real) {
    if ((changed & 32) != 0) last_.returns = byte(coder, returns_[last_.returns], real.returns);
    const std::uint32_t n = last_.return_count(), r = last_.return_number();
    return {n == 1 ? 1U : 0U, kReturnMap8[n][r], return_level(n, r)};
  }
  template <class Coder>
  PC_INLINE auto call_intensity(Coder& coder, const Context& now, const Point10& real) {
    return intensity_.call(coder, intensities_[now.map], real.intensity, std::min(now.map, 3U));
  }
  template <class Coder>
  void code_intensity(Coder& coder, const Context& now, const Point10& real) {
    auto call = call_intensity(coder, now, real);
    intensity_.code_call(call);
    intensities_[now.map] = static_cast<std::uint16_t>(call.value);
  }

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
  static PC_INLINE void decode_both(GpsTimeV2& a, RangeDecoder& in_a, std::uint8_t* record_a, GpsTimeV2& b,
                                    RangeDecoder& in_b, std::uint8_t* record_b) {
    std::array<GpsTimeModel<true>::Call<RangeDecoder>, 2> calls{
        {{&a.model_, &in_a, 0}, {&b.model_, &in_b, 0}}};
    GpsTimeModel<true>::code_all(calls);
    std::memcpy(record_a, &calls[0].time, sizeof calls[0].time);
    std::memcpy(record_b, &calls[1].time, sizeof calls[1].time);
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
  static PC_INLINE void decode_both(RgbV2& a, RangeDecoder& in_a, std::uint8_t* record_a, RgbV2& b,
                                    RangeDecoder& in_b, std::uint8_t* record_b) {
    std::array<RgbModel::Call<RangeDecoder>, 2> calls{
        {{&a.model_, &in_a, a.last_, {}}, {&b.model_, &in_b, b.last_, {}}}};
    RgbModel::code_all(calls);
    a.last_ = calls[0].value;
    b.last_ = calls[1].value;
    std::memcpy(record_a, &a.last_, sizeof a.last_);
    std::memcpy(record_b, &b.last_, sizeof b.last_);
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
