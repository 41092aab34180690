#pragma once
#include <cstdint>
#include <memory>

#include "io/laz/items_v1.h"
#include "io/laz/items_v2.h"
#include "io/laz/laz_items.h"
#include "io/laz/wave_packet_model.h"

namespace pc::io::laz {

/// Codes records of formats 0 to 5 one after the other in a single stream.
class PointwiseCodec {
 public:
  explicit PointwiseCodec(const LazItems& items) : items_(items) {
    point_v1_.reset(items.point_version == 1 ? new Point10V1 : nullptr);
    point_v2_.reset(items.point_version == 2 ? new Point10V2 : nullptr);
  }

  /// Resets all state and starts after the record `first`, which is stored uncompressed.
  void begin(const std::uint8_t* first) {
    point_v1_ != nullptr ? point_v1_->begin(first) : point_v2_->begin(first);
    if (items_.gps_at != 0)
      items_.gps_version == 1 ? gps_v1_.begin(first + items_.gps_at) : gps_v2_.begin(first + items_.gps_at);
    if (items_.rgb_at != 0)
      items_.rgb_version == 1 ? rgb_v1_.begin(first + items_.rgb_at) : rgb_v2_.begin(first + items_.rgb_at);
    if (items_.wave_at != 0) {
      wave_.reset();
      std::memcpy(last_wave_, first + items_.wave_at, sizeof last_wave_);
    }
    if (items_.extra_at == 0) return;
    if (items_.extra_version == 1) {
      extra_v1_.begin(first + items_.extra_at, items_.extra_bytes);
    } else {
      extra_v2_.begin(first + items_.extra_at, items_.extra_bytes);
    }
  }

  void decode(RangeDecoder& in, std::uint8_t* record) {
    point_v1_ != nullptr ? point_v1_->decode(in, record) : point_v2_->code(in, record);
    if (items_.gps_at != 0)
      items_.gps_version == 1 ? gps_v1_.decode(in, record + items_.gps_at)
                              : gps_v2_.code(in, record + items_.gps_at);
    if (items_.rgb_at != 0)
      items_.rgb_version == 1 ? rgb_v1_.decode(in, record + items_.rgb_at)
                              : rgb_v2_.code(in, record + items_.rgb_at);
    decode_rest(in, record);
  }

  /// Decodes one record of each of two streams, symbol by symbol in turn where the items have version 2.
  static void decode_both(PointwiseCodec& a, RangeDecoder& in_a, std::uint8_t* record_a, PointwiseCodec& b,
                          RangeDecoder& in_b, std::uint8_t* record_b) {
    const LazItems& items = a.items_;
    if (items.point_version == 1 || items.gps_version == 1 || items.rgb_version == 1) {
      a.decode(in_a, record_a);
      return b.decode(in_b, record_b);
    }
    Point10V2::code_all(std::array<Point10V2::Call<RangeDecoder>, 2>{
        {{a.point_v2_.get(), &in_a, record_a}, {b.point_v2_.get(), &in_b, record_b}}});
    if (items.gps_at != 0) {
      GpsTimeV2::decode_both(a.gps_v2_, in_a, record_a + items.gps_at, b.gps_v2_, in_b,
                             record_b + items.gps_at);
    }
    if (items.rgb_at != 0) {
      RgbV2::decode_both(a.rgb_v2_, in_a, record_a + items.rgb_at, b.rgb_v2_, in_b, record_b + items.rgb_at);
    }
    a.decode_rest(in_a, record_a);
    b.decode_rest(in_b, record_b);
  }

  /// Items of version 2.
  template <class Encoder>
  void encode(Encoder& out, std::uint8_t* record) {
    point_v2_->code(out, record);
    if (items_.gps_at != 0) gps_v2_.code(out, record + items_.gps_at);
    if (items_.rgb_at != 0) rgb_v2_.code(out, record + items_.rgb_at);
    if (items_.wave_at != 0) {
      wave_.code(out, last_wave_, record + items_.wave_at);
      std::memcpy(last_wave_, record + items_.wave_at, sizeof last_wave_);
    }
    if (items_.extra_at != 0) extra_v2_.code(out, record + items_.extra_at);
  }

 private:
  /// Wave packet and extra bytes.
  void decode_rest(RangeDecoder& in, std::uint8_t* record) {
    if (items_.wave_at != 0) {
      wave_.code(in, last_wave_, record + items_.wave_at);
      std::memcpy(last_wave_, record + items_.wave_at, sizeof last_wave_);
    }
    if (items_.extra_at == 0) return;
    items_.extra_version == 1 ? extra_v1_.decode(in, record + items_.extra_at)
                              : extra_v2_.code(in, record + items_.extra_at);
  }

  LazItems items_;
  std::unique_ptr<Point10V1> point_v1_;  ///< 1 MiB each: only one version is allocated
  std::unique_ptr<Point10V2> point_v2_;
  GpsTimeV1 gps_v1_;
  GpsTimeV2 gps_v2_;
  RgbV1 rgb_v1_;
  RgbV2 rgb_v2_;
  WavePacketModel wave_;
  std::uint8_t last_wave_[WavePacketModel::kBytes]{};
  BytesV1 extra_v1_;
  BytesV2 extra_v2_;
};

}  // namespace pc::io::laz
