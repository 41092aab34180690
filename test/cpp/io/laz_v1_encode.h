#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "io/laz_builder.h"

/// Encodes items of version 1, which only software from before 2011 wrote: so that their decoder has something to read.
namespace pc::las_test {

/// One pointwise stream of formats 0 to 3 with extra bytes.
class V1Encoder {
 public:
  V1Encoder(const LasFile& file) : file_(file), extra_widths_(file.extra_bytes) {}

  Bytes encode() {
    const std::size_t stride = file_.record_bytes();
    Bytes out(file_.points.begin(), file_.points.begin() + static_cast<std::ptrdiff_t>(stride));
    std::memcpy(&time_, at(0) + 20, sizeof time_);
    coder_.start();
    for (std::uint64_t row = 1; row < file_.count; ++row) {
      const std::uint8_t *last = at(row - 1), *now = at(row);
      point(last, now);
      std::size_t next = 20;
      if (file_.format == 1 || file_.format == 3) {
        gps(now + next);
        next += 8;
      }
      if (file_.format >= 2) {
        rgb(last + next, now + next);
        next += 6;
      }
      for (std::size_t i = 0; i < file_.extra_bytes; ++i) {
        extra_.code_with(coder_, extra_widths_[i], last[next + i], now[next + i]);
      }
    }
    const auto coded = coder_.finish();
    out.insert(out.end(), coded.begin(), coded.end());
    return out;
  }

 private:
  using Byte = io::laz::SymbolModel<256>;
  const std::uint8_t* at(std::uint64_t row) const { return file_.points.data() + row * file_.record_bytes(); }
  template <class T>
  static T get(const std::uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  static std::int32_t difference(const std::uint8_t* now, const std::uint8_t* last) {
    return static_cast<std::int32_t>(get<std::uint32_t>(now) - get<std::uint32_t>(last));
  }
  static std::int32_t median(std::vector<std::int32_t> v) {
    std::sort(v.begin(), v.end());
    return v[1];
  }

  void point(const std::uint8_t* last, const std::uint8_t* now) {
    const std::int32_t dx = difference(now, last), dy = difference(now + 4, last + 4);
    x_.code_signed(coder_, median(dx_), dx);
    const std::uint32_t kx = x_.k();
    y_.code_signed(coder_, median(dy_), dy, std::min(kx, 19U));
    const std::uint32_t k = (kx + y_.k()) / 2;
    z_.code_signed(coder_, get<std::int32_t>(last + 8), get<std::int32_t>(now + 8), std::min(k, 19U));
    const auto intensity = get<std::uint16_t>(now + 12), source = get<std::uint16_t>(now + 18);
    const auto last_intensity = get<std::uint16_t>(last + 12), last_source = get<std::uint16_t>(last + 18);
    const std::uint32_t changed = (intensity != last_intensity ? 32U : 0U) |
                                  (now[14] != last[14] ? 16U : 0U) | (now[15] != last[15] ? 8U : 0U) |
                                  (now[16] != last[16] ? 4U : 0U) | (now[17] != last[17] ? 2U : 0U) |
                                  (source != last_source ? 1U : 0U);
    coder_.symbol(changed_, 64, changed);
    if ((changed & 32) != 0) intensity_.code(coder_, last_intensity, intensity);
    if ((changed & 16) != 0) coder_.symbol(bytes_[last[14]], 256, now[14]);
    if ((changed & 8) != 0) coder_.symbol(bytes_[256 + last[15]], 256, now[15]);
    if ((changed & 4) != 0) angle_.code(coder_, last[16], now[16], k < 3 ? 1 : 0);
    if ((changed & 2) != 0) coder_.symbol(bytes_[512 + last[17]], 256, now[17]);
    if ((changed & 1) != 0) source_.code(coder_, last_source, source);
    dx_[next_] = dx;
    dy_[next_] = dy;
    next_ = (next_ + 1) % 3;
  }

  void gps(const std::uint8_t* now) {
    const auto time = get<std::uint64_t>(now);
    const auto wide = static_cast<std::int64_t>(time - time_);
    const auto step = static_cast<std::int32_t>(wide);
    const bool fits = wide == step;
    if (step_ == 0) {
      coder_.symbol(still_, 3, wide == 0 ? 0 : fits ? 1 : 2);
      if (wide != 0 && fits) times_.code_signed(coder_, 0, step_ = step, 0);
    } else if (wide == 0) {
      coder_.symbol(factors_, 512, 511);
    } else if (fits) {
      gps_step(step);
    } else {
      coder_.symbol(factors_, 512, 510);
    }
    if (!fits) coder_.double_word(time);
    time_ = time;
  }

  void gps_step(std::int32_t step) {
    const double ratio = std::round(static_cast<double>(step) / step_);
    const auto factor = static_cast<std::uint32_t>(std::clamp(ratio, 0.0, 509.0));
    coder_.symbol(factors_, 512, factor);
    const auto predicted = static_cast<std::int32_t>(factor * static_cast<std::uint32_t>(step_));
    const std::uint32_t context = factor == 0 ? 2 : factor == 1 ? 1 : factor < 10 ? 3 : factor < 50 ? 4 : 5;
    times_.code_signed(coder_, factor == 0 ? step_ / 4 : predicted, step, context);
    if (factor == 1) {
      step_ = step;
      extremes_ = 0;
    } else if ((factor == 0 || factor == 509) && ++extremes_ == 4) {
      step_ = step;
      extremes_ = 0;
    }
  }

  void rgb(const std::uint8_t* last, const std::uint8_t* now) {
    std::uint32_t changed = 0;
    for (std::uint32_t i = 0; i < 6; ++i) changed |= (now[i] != last[i] ? 1U : 0U) << i;
    coder_.symbol(colors_changed_, 64, changed);
    for (std::uint32_t i = 0; i < 6; ++i) {
      if ((changed >> i & 1) != 0) colors_.code(coder_, last[i], now[i], i);
    }
  }

  const LasFile& file_;
  io::laz::RangeEncoder coder_;
  std::vector<std::int32_t> dx_ = {0, 0, 0}, dy_ = {0, 0, 0};
  std::size_t next_ = 0;
  std::uint64_t time_ = 0;
  std::int32_t step_ = 0, extremes_ = 0;
  io::laz::IntegerModel<32, 1> x_;
  io::laz::IntegerModel<32, 20> y_, z_;
  io::laz::IntegerModel<16, 1> intensity_, source_;
  io::laz::IntegerModel<8, 2> angle_;
  io::laz::IntegerModel<32, 6> times_;
  io::laz::IntegerModel<8, 6> colors_;
  io::laz::IntegerModel<8, 1> extra_;
  io::laz::SymbolModel<64> changed_, colors_changed_;
  io::laz::SymbolModel<512> factors_;
  io::laz::SymbolModel<3> still_;
  std::vector<Byte> bytes_ = std::vector<Byte>(768);
  std::vector<io::laz::SymbolModel<9>> extra_widths_;
};

/// `file` (formats 0 to 3) as LASzip 1 wrote it: one stream of items of version 1.
inline Bytes compress_v1(const LasFile& file) {
  LazOptions options;
  options.pointwise = true;
  LasFile whole = file;
  Record record = laszip_record(file, options);
  for (std::size_t at = 38; at < record.payload.size(); at += 6) put(record.payload, at, std::uint16_t{1});
  whole.vlrs.push_back(record);
  whole.points = std::make_unique<V1Encoder>(file)->encode();
  Bytes bytes = whole.build();
  bytes[104] |= 128;
  return bytes;
}

}  // namespace pc::las_test
