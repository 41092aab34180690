#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "io/laz/layered_codec.h"

namespace pc::io::laz {

/// Codes records of formats 6 to 10, the layers of a tile of records one after the other, so that the models of one
/// layer stay in the first cache.
///
/// A decoder takes two chunks at once: each symbol of a stream waits for the previous one, and the processor works on
/// the other chunk's symbol meanwhile. As it looks ahead over two or three symbols, the chunks take turns symbol by
/// symbol.
template <class Coder>
class LayerPasses {
 public:
  using Codec = LayeredCodec<Coder>;

  /// Consecutive records of a chunk.
  struct Tile {
    Codec* codec;
    std::uint8_t* records;
  };
  template <std::size_t kTiles>
  using Tiles = std::array<Tile, kTiles>;

  /// Codes `count` <= kTileRows records of each tile.
  template <std::size_t kTiles>
  static void code(const Tiles<kTiles>& tiles, std::size_t count) {
    code_first_layer(tiles, count);
    code_point_layers(tiles, count);
    const Codec& codec = *tiles[0].codec;
    if (codec.rgb_layer_ != 0) code_colors(tiles, count);
    if (codec.nir_layer_ != 0) code_nir(tiles, count);
    if (codec.wave_layer_ != 0) code_waves(tiles, count);
    for (std::size_t i = 0; i < codec.items_.extra_bytes; ++i) code_extra(tiles, i, count);
  }

 private:
  using Channel = typename Codec::Channel;

  /// A record of a tile while a layer of it is coded.
  struct Lane {
    Codec* codec;
    Coder* coder;
    PointContext* now;
    std::uint8_t* record;
  };

  /// Calls step(lanes) for the records of the tiles, one of each tile at a time; a tile whose layer is off is left out.
  template <std::size_t kTiles, class Step>
  static PC_INLINE void for_layer(const Tiles<kTiles>& tiles, std::size_t layer, std::size_t count,
                                  const Step& step) {
    if constexpr (kTiles > 1) {
      for (const Tile& tile : tiles) {
        if (tile.codec->on[layer] != 0) continue;
        for (const Tile& other : tiles) for_layer<1>({{other}}, layer, count, step);
        return;
      }
    } else if (tiles[0].codec->on[layer] == 0) {
      return;
    }
    const std::size_t stride = tiles[0].codec->items_.record_bytes;
    std::array<Lane, kTiles> lanes;
    for (std::size_t t = 0; t < kTiles; ++t) {
      Codec* codec = tiles[t].codec;
      lanes[t] = {codec, &codec->coders[layer], codec->contexts_.data(), tiles[t].records};
    }
    for (std::size_t i = 0; i < count; ++i) {
      step(lanes);
      PC_UNROLL for (std::size_t t = 0; t < kTiles; ++t) {
        ++lanes[t].now;
        lanes[t].record += stride;
      }
    }
  }

  /// The state of a lane's channel, started for the layer if this is its first point.
  template <Layer kLayer>
  static PC_INLINE Point14Channel& point_of(const Lane& lane) {
    Point14Channel& point = lane.codec->channels_[lane.now->channel]->point;
    if (lane.now->fresh) [[unlikely]]
      point.begin_layer(kLayer, lane.codec->channels_[lane.now->before]->point.last);
    return point;
  }

  /// Codes a layer of the first 30 bytes: step(point, coder, context, record).
  template <Layer kLayer, std::size_t kTiles, class Step>
  static PC_INLINE void for_points(const Tiles<kTiles>& tiles, std::size_t count, const Step& step) {
    for_layer(tiles, kLayer, count, [&](auto& lanes) PC_INLINE_LAMBDA {
      PC_UNROLL for (const Lane& lane : lanes)
          step(point_of<kLayer>(lane), *lane.coder, *lane.now, lane.record);
    });
  }

  /// Codes a layer of the first 30 bytes that has an integer of type T at `offset`: call(point, coder, context, real),
  /// then take(point, context, value).
  template <class T, Layer kLayer, std::size_t kTiles, class MakeCall, class Take>
  static PC_INLINE void for_integers(const Tiles<kTiles>& tiles, std::size_t offset, std::size_t count,
                                     T Point14::*field, const MakeCall& make_call, const Take& take) {
    std::uint8_t* changed = &tiles[0].codec->changed[kLayer];
    for_layer(tiles, kLayer, count, [&](auto& lanes) PC_INLINE_LAMBDA {
      std::array<Point14Channel*, std::tuple_size_v<std::remove_reference_t<decltype(lanes)>>> points;
      PC_UNROLL for (std::size_t t = 0; t < lanes.size(); ++t) {
        points[t] = &point_of<kLayer>(lanes[t]);
        if constexpr (!Coder::kDecodes)
          *changed |= load_record<T>(lanes[t].record + offset) != points[t]->last.*field;
      }
      code_integers(
          lanes,
          [&](std::size_t t) PC_INLINE_LAMBDA {
            const T real = Coder::kDecodes ? T{} : load_record<T>(lanes[t].record + offset);
            return make_call(*points[t], *lanes[t].coder, *lanes[t].now, real);
          },
          [&](std::size_t t, std::uint32_t value) PC_INLINE_LAMBDA {
            take(*points[t], *lanes[t].now, value);
            if constexpr (Coder::kDecodes)
              std::memcpy(lanes[t].record + offset, &(points[t]->last.*field), sizeof(T));
          });
    });
  }

  /// Codes the integers call(t) of the lanes t, then take(t, value).
  template <std::size_t kLanes, class MakeCall, class Take>
  static PC_INLINE void code_integers(const std::array<Lane, kLanes>&, const MakeCall& make_call,
                                      const Take& take) {
    std::array<decltype(make_call(0)), kLanes> calls;
    PC_UNROLL for (std::size_t t = 0; t < kLanes; ++t) calls[t] = make_call(t);
    std::remove_pointer_t<decltype(calls[0].model)>::code_all(calls);
    PC_UNROLL for (std::size_t t = 0; t < kLanes; ++t) take(t, calls[t].value);
  }

  /// Codes one field of a point: the value at `offset`, of the type of `last`. Notes whether it changed.
  template <class T, class Code>
  static PC_INLINE void code_field(std::uint8_t* record, const T& last, std::uint8_t& changed,
                                   const Code& code) {
    if constexpr (Coder::kDecodes) {
      code(T{});
      std::memcpy(record, &last, sizeof last);
    } else {
      const T real = load_record<T>(record);
      changed |= real != last;
      code(real);
    }
  }

  /// Changes, channel, returns, x and y.
  template <std::size_t kTiles>
  static void code_first_layer(const Tiles<kTiles>& tiles, std::size_t count) {
    for_layer(tiles, kXy, count, [](auto& lanes) PC_INLINE_LAMBDA {
      constexpr std::size_t kLanes = std::tuple_size_v<std::remove_reference_t<decltype(lanes)>>;
      std::array<Point14, kLanes> real{};
      std::array<Point14Channel*, kLanes> points;
      std::array<std::uint32_t, kLanes> changes;
      PC_UNROLL for (std::size_t t = 0; t < kLanes; ++t) {
        if constexpr (!Coder::kDecodes) real[t] = Point14::load(lanes[t].record);
        changes[t] = lanes[t].codec->code_changes(real[t]);
      }
      PC_UNROLL for (std::size_t t = 0; t < kLanes; ++t) points[t] =
          lanes[t].codec->code_head(changes[t], real[t], *lanes[t].now);
      code_integers(
          lanes,
          [&](std::size_t t)
              PC_INLINE_LAMBDA { return points[t]->call_x(*lanes[t].coder, *lanes[t].now, real[t].x); },
          [&](std::size_t t, std::uint32_t value)
              PC_INLINE_LAMBDA { points[t]->take_x(*lanes[t].now, value); });
      code_integers(
          lanes,
          [&](std::size_t t)
              PC_INLINE_LAMBDA { return points[t]->call_y(*lanes[t].coder, *lanes[t].now, real[t].y); },
          [&](std::size_t t, std::uint32_t value) PC_INLINE_LAMBDA {
            points[t]->take_y(*lanes[t].now, value);
            if constexpr (Coder::kDecodes) {
              lanes[t].codec->store_head(points[t]->ahead, lanes[t].record);
            } else {
              points[t]->keep_ahead(real[t]);
            }
          });
    });
  }

  template <Layer kLayer>
  static bool waits(const Tile& tile, std::size_t count) {
    if constexpr (Coder::kDecodes) {
      return false;
    } else {
      return tile.codec->template waits<kLayer>(tile.records, count);
    }
  }

  template <std::size_t kTiles>
  static void code_point_layers(const Tiles<kTiles>& tiles, std::size_t count) {
    std::uint8_t* changed = tiles[0].codec->changed.data();
    changed[kXy] = 1;
    for_integers<std::int32_t, kZ>(
        tiles, Codec::kZAt, count, &Point14::z,
        [](auto& point, Coder& coder, const PointContext& now, std::int32_t real)
            PC_INLINE_LAMBDA { return point.call_z(coder, now, real); },
        [](auto& point, const PointContext& now, std::uint32_t value)
            PC_INLINE_LAMBDA { point.take_z(now, value); });
    for_points<kClass>(
        tiles, count,
        [&](auto& point, Coder& coder, const PointContext& now, std::uint8_t* record) PC_INLINE_LAMBDA {
          code_field(record + Codec::kClassAt, point.last.classification, changed[kClass],
                     [&](std::uint8_t real) PC_INLINE_LAMBDA { point.code_class(coder, now, real); });
        });
    if (!waits<kFlags>(tiles[0], count))
      for_points<kFlags>(
          tiles, count,
          [&](auto& point, Coder& coder, const PointContext& now, std::uint8_t* record) PC_INLINE_LAMBDA {
            const std::uint32_t six =
                (record[Codec::kFlagsAt] & 15U) | (record[Codec::kFlagsAt] >> 2 & 0x30U);
            if constexpr (!Coder::kDecodes) changed[kFlags] |= six != point.last.six_flags();
            point.code_flags(coder, six);
            if constexpr (Coder::kDecodes)
              record[Codec::kFlagsAt] =
                  static_cast<std::uint8_t>((point.last.flags & 0xCFU) | (now.channel << 4));
          });
    for_integers<std::uint16_t, kIntensity>(
        tiles, Codec::kIntensityAt, count, &Point14::intensity,
        [](auto& point, Coder& coder, const PointContext& now, std::uint16_t real)
            PC_INLINE_LAMBDA { return point.call_intensity(coder, now, real); },
        [](auto& point, const PointContext& now, std::uint32_t value)
            PC_INLINE_LAMBDA { point.take_intensity(now, value); });
    for_points<kAngle>(
        tiles, count,
        [&](auto& point, Coder& coder, const PointContext& now, std::uint8_t* record) PC_INLINE_LAMBDA {
          code_field(record + Codec::kAngleAt, point.last.scan_angle, changed[kAngle],
                     [&](std::int16_t real) PC_INLINE_LAMBDA { point.code_angle(coder, now, real); });
        });
    if (!waits<kUser>(tiles[0], count))
      for_points<kUser>(
          tiles, count,
          [&](auto& point, Coder& coder, const PointContext&, std::uint8_t* record) PC_INLINE_LAMBDA {
            code_field(record + Codec::kUserAt, point.last.user_data, changed[kUser],
                       [&](std::uint8_t real) PC_INLINE_LAMBDA { point.code_user(coder, real); });
          });
    for_points<kSource>(
        tiles, count,
        [&](auto& point, Coder& coder, const PointContext& now, std::uint8_t* record) PC_INLINE_LAMBDA {
          code_field(record + Codec::kSourceAt, point.last.source, changed[kSource],
                     [&](std::uint16_t real) PC_INLINE_LAMBDA { point.code_source(coder, now, real); });
        });
    code_times(tiles, count);
  }

  template <std::size_t kTiles>
  static void code_times(const Tiles<kTiles>& tiles, std::size_t count) {
    std::uint8_t& changed = tiles[0].codec->changed[kGps];
    for_layer(tiles, kGps, count, [&](auto& lanes) PC_INLINE_LAMBDA {
      constexpr std::size_t kLanes = std::tuple_size_v<std::remove_reference_t<decltype(lanes)>>;
      std::array<Point14Channel*, kLanes> points;
      std::array<Point14Channel::GpsCall<Coder>, kLanes> calls;
      bool all = Coder::kDecodes;
      PC_UNROLL for (std::size_t t = 0; t < kLanes; ++t) {
        points[t] = &point_of<kGps>(lanes[t]);
        calls[t] = points[t]->call_gps(*lanes[t].coder, 0);
        all = all && lanes[t].now->time_changed;
      }
      if (all) {
        GpsTimeModel<false>::code_all(calls);
        PC_UNROLL for (std::size_t t = 0; t < kLanes; ++t) points[t]->last.gps_time = calls[t].time;
      }
      PC_UNROLL for (std::size_t t = 0; t < kLanes; ++t) {
        code_field(lanes[t].record + Point14::kHead, points[t]->last.gps_time, changed,
                   [&](std::uint64_t real) {
                     if (!all) points[t]->code_gps(*lanes[t].coder, *lanes[t].now, real);
                   });
      }
    });
  }

  /// Some bytes after the first 30 of a record, and the same bytes of the last point.
  struct Part {
    Codec* codec;
    Channel* channel;
    Coder* coder;
    std::uint8_t *last, *bytes;
  };

  /// As for_layer, for `bytes` bytes after the first 30: step(parts). Which is the last point depends on `version` (see
  /// find_attached).
  template <std::size_t kTiles, class Step>
  static PC_INLINE void for_attached(const Tiles<kTiles>& tiles, std::size_t layer, std::size_t at,
                                     std::size_t bytes, int version, std::size_t count, const Step& step) {
    for_layer(tiles, layer, count, [&](auto& lanes) PC_INLINE_LAMBDA {
      std::array<Part, std::tuple_size_v<std::remove_reference_t<decltype(lanes)>>> parts;
      PC_UNROLL for (std::size_t t = 0; t < parts.size(); ++t) {
        const Lane& lane = lanes[t];
        const PointContext& now = *lane.now;
        Channel& channel = *lane.codec->channels_[now.attached];
        Channel& before = *lane.codec->channels_[now.attached_before];
        if (now.attached_fresh) [[unlikely]] {
          std::memcpy(channel.last.data() + (at - Codec::kPointBytes),
                      before.last.data() + (at - Codec::kPointBytes), bytes);
          lane.codec->begin_attached(channel, layer);
        }
        std::uint8_t* last =
            (now.attached_fresh || version >= 4 ? channel : before).last.data() + (at - Codec::kPointBytes);
        parts[t] = {lane.codec, &channel, lane.coder, last, lane.record + at};
      }
      step(parts);
    });
  }

  template <std::size_t kTiles>
  static void code_colors(const Tiles<kTiles>& tiles, std::size_t count) {
    Codec& codec = *tiles[0].codec;
    for_attached(
        tiles, codec.rgb_layer_, codec.items_.rgb_at, sizeof(Rgb), codec.items_.rgb_version, count,
        [&](auto& parts) PC_INLINE_LAMBDA {
          std::array<RgbModel::Call<Coder>, std::tuple_size_v<std::remove_reference_t<decltype(parts)>>>
              calls;
          PC_UNROLL for (std::size_t t = 0; t < calls.size(); ++t) {
            const auto last = load_record<Rgb>(parts[t].last);
            const Rgb real = Coder::kDecodes ? Rgb{} : load_record<Rgb>(parts[t].bytes);
            if constexpr (!Coder::kDecodes)
              codec.changed[codec.rgb_layer_] |= std::memcmp(&last, &real, sizeof last) != 0;
            calls[t] = {&parts[t].channel->rgb, parts[t].coder, last, real};
          }
          RgbModel::code_all(calls);
          PC_UNROLL for (std::size_t t = 0; t < calls.size(); ++t) {
            const Rgb now = Coder::kDecodes ? calls[t].value : load_record<Rgb>(parts[t].bytes);
            std::memcpy(parts[t].last, &now, sizeof now);
            if constexpr (Coder::kDecodes) std::memcpy(parts[t].bytes, &now, sizeof now);
          }
        });
  }

  template <std::size_t kTiles>
  static void code_nir(const Tiles<kTiles>& tiles, std::size_t count) {
    Codec& codec = *tiles[0].codec;
    for_attached(tiles, codec.nir_layer_, codec.items_.nir_at, 2, codec.items_.rgb_version, count,
                 [&](auto& parts) PC_INLINE_LAMBDA {
                   for (const Part& part : parts) {
                     const auto last = load_record<std::uint16_t>(part.last);
                     const auto real =
                         Coder::kDecodes ? std::uint16_t{0} : load_record<std::uint16_t>(part.bytes);
                     if constexpr (!Coder::kDecodes) codec.changed[codec.nir_layer_] |= real != last;
                     const std::uint16_t now = part.channel->nir.code(*part.coder, last, real);
                     std::memcpy(part.last, &now, sizeof now);
                     if constexpr (Coder::kDecodes) std::memcpy(part.bytes, &now, sizeof now);
                   }
                 });
  }

  template <std::size_t kTiles>
  static void code_waves(const Tiles<kTiles>& tiles, std::size_t count) {
    Codec& codec = *tiles[0].codec;
    for_attached(tiles, codec.wave_layer_, codec.items_.wave_at, WavePacketModel::kBytes,
                 codec.items_.wave_version, count, [&](auto& parts) PC_INLINE_LAMBDA {
                   for (const Part& part : parts) {
                     if constexpr (!Coder::kDecodes) {
                       codec.changed[codec.wave_layer_] |=
                           std::memcmp(part.last, part.bytes, WavePacketModel::kBytes) != 0;
                     }
                     part.channel->wave->code(*part.coder, part.last, part.bytes);
                     std::memcpy(part.last, part.bytes, WavePacketModel::kBytes);
                   }
                 });
  }

  template <std::size_t kTiles>
  static void code_extra(const Tiles<kTiles>& tiles, std::size_t i, std::size_t count) {
    Codec& codec = *tiles[0].codec;
    const std::size_t layer = codec.extra_layer_ + i;
    for_attached(
        tiles, layer, codec.items_.extra_at + i, 1, codec.items_.extra_version, count,
        [&](auto& parts) PC_INLINE_LAMBDA {
          PC_UNROLL for (const Part& part : parts) {
            const auto step = static_cast<std::uint8_t>(Coder::kDecodes ? 0 : *part.bytes - *part.last);
            if constexpr (!Coder::kDecodes) codec.changed[layer] |= step != 0;
            *part.last =
                static_cast<std::uint8_t>(*part.last + part.coder->symbol(part.channel->extra[i], 256, step));
            if constexpr (Coder::kDecodes) *part.bytes = *part.last;
          }
        });
  }
};

}  // namespace pc::io::laz
