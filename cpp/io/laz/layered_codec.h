#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "io/laz/laz_items.h"
#include "io/laz/point14_model.h"
#include "io/laz/rgb_model.h"
#include "io/laz/wave_packet_model.h"

namespace pc::io::laz {

/// Number of layers of a chunk.
inline std::size_t layer_count(const LazItems& items) {
  return kPointLayers + (items.rgb_at != 0 ? 1 : 0) + (items.nir_at != 0 ? 1 : 0) +
         (items.wave_at != 0 ? 1 : 0) + items.extra_bytes;
}

/// Codes records of formats 6 to 10, each layer in its own stream; `Coder` is RangeDecoder or RangeEncoder.
///
/// A decoder skips the layers that are not `on`: their bytes are those of the chunk's first point. An encoder codes all
/// layers and notes which of them ever changed.
template <class Coder>
class LayeredCodec {
 public:
  explicit LayeredCodec(const LazItems& items)
      : coders(layer_count(items)), on(layer_count(items), 1), changed(layer_count(items), 0), items_(items) {
    std::size_t next = kPointLayers;
    if (items.rgb_at != 0) rgb_layer_ = next++;
    if (items.nir_at != 0) nir_layer_ = next++;
    if (items.wave_at != 0) wave_layer_ = next++;
    extra_layer_ = next;
  }

  std::vector<Coder> coders;          ///< of each layer
  std::vector<std::uint8_t> on;       ///< layers to code
  std::vector<std::uint8_t> changed;  ///< encoder: layers with a value that differs from the first

  /// Resets all state and starts after the record `first`, which is stored uncompressed.
  void begin(const std::uint8_t* first) {
    for (auto& channel : channels_) {
      if (channel != nullptr) channel->point.used = channel->attached_used = false;
    }
    std::fill(changed.begin(), changed.end(), std::uint8_t{0});
    const Point14 point = Point14::load(first);
    channel_ = attached_ = point.channel();
    Channel& channel = at(channel_);
    channel.point.begin(point);
    begin_attached(channel, first + Point14::kHead + 8);
  }

  void code(std::uint8_t* record) {
    Point14 real{};
    if constexpr (!Coder::kDecodes) real = Point14::load(record);
    const std::uint32_t before = channel_;
    const PointContext now = code_first_layer(real);
    Point14Channel& point = channels_[channel_]->point;
    if constexpr (!Coder::kDecodes) note_changes(point.last, real, now);
    if (on[kZ] != 0) point.code_z(coders[kZ], now, real);
    if (on[kClass] != 0) point.code_class(coders[kClass], now, real);
    if (on[kFlags] != 0) point.code_flags(coders[kFlags], real);
    if (on[kIntensity] != 0) point.code_intensity(coders[kIntensity], now, real);
    if (on[kAngle] != 0) point.code_angle(coders[kAngle], now, real);
    if (on[kUser] != 0) point.code_user(coders[kUser], real);
    if (on[kSource] != 0) point.code_source(coders[kSource], now, real);
    if (on[kGps] != 0) point.code_gps(coders[kGps], now, real);
    if constexpr (Coder::kDecodes) point.last.store(record);
    if (items_.record_bytes > Point14::kHead + 8)
      code_attached(channel_ != before, record + Point14::kHead + 8);
  }

 private:
  /// State of a scanner channel: its models and the bytes after the first 30 of its last point.
  struct Channel {
    Point14Channel point;
    RgbModel rgb;
    NirModel nir;
    std::unique_ptr<WavePacketModel> wave;
    std::vector<SymbolModel<256>> extra;
    std::vector<std::uint8_t> last;
    bool attached_used = false;
  };

  Channel& at(std::uint32_t index) {
    auto& channel = channels_[index];
    if (channel == nullptr) {
      channel = std::make_unique<Channel>();
      channel->extra = std::vector<SymbolModel<256>>(items_.extra_bytes);
      if (items_.wave_at != 0) channel->wave = std::make_unique<WavePacketModel>();
    }
    return *channel;
  }

  void begin_attached(Channel& channel, const std::uint8_t* bytes) {
    channel.attached_used = true;
    channel.last.assign(bytes, bytes + (items_.record_bytes - Point14::kHead - 8));
    channel.rgb.reset();
    channel.nir.reset();
    if (channel.wave != nullptr) channel.wave->reset();
    for (auto& model : channel.extra) model.reset();
  }

  /// Changes, channel, returns, x and y.
  PointContext code_first_layer(const Point14& real) {
    Coder& coder = coders[kXy];
    Point14Channel* point = &channels_[channel_]->point;
    std::uint32_t changes = 0;
    const std::uint32_t wanted = Coder::kDecodes ? 0 : real.channel();
    if constexpr (!Coder::kDecodes) {
      const bool known = channels_[wanted] != nullptr && channels_[wanted]->point.used;
      changes = (known ? channels_[wanted]->point : *point).changes(real) | (wanted != channel_ ? 64U : 0U);
    }
    changes = point->code_changes(coder, changes);
    if ((changes & 64) != 0) {
      const std::uint32_t next = (channel_ + point->code_channel_step(coder, (wanted - channel_) & 3)) & 3;
      Point14Channel& other = at(next).point;
      if (!other.used) other.begin(point->last);
      other.last.flags = static_cast<std::uint8_t>((other.last.flags & 0xCFU) | (next << 4));
      channel_ = next;
      point = &other;
    }
    return point->code_xy(coder, changes, real);
  }

  void note_changes(const Point14& last, const Point14& real, const PointContext& now) {
    changed[kXy] = 1;
    changed[kZ] |= real.z != last.z;
    changed[kClass] |= real.classification != last.classification;
    changed[kFlags] |= real.six_flags() != last.six_flags();
    changed[kIntensity] |= real.intensity != last.intensity;
    changed[kAngle] |= now.angle_changed;
    changed[kUser] |= real.user_data != last.user_data;
    changed[kSource] |= now.source_changed;
    changed[kGps] |= now.time_changed;
  }

  /// Codes the bytes after the first 30. Version 4 uses the models and the last point of the point's own channel.
  /// Version 3 uses those of channel 0 unless this very point changed the channel, and a point that returns to a known
  /// channel is still predicted from, and stored as, the last point of the channel left. Existing files require this.
  void code_attached(bool switched, std::uint8_t* bytes) {
    const std::uint32_t before = attached_;
    attached_ = items_.point_version >= 4 || switched ? channel_ : 0;
    Channel& channel = at(attached_);
    const bool fresh = !channel.attached_used;
    if (fresh) begin_attached(channel, channels_[before]->last.data());
    const auto last_of = [&](int version) {
      return (fresh || version >= 4 ? channel : *channels_[before]).last.data();
    };
    const std::size_t skip = Point14::kHead + 8;
    if (items_.rgb_at != 0) {
      code_colors(channel, last_of(items_.rgb_version), bytes, items_.rgb_at - skip);
    }
    if (items_.wave_at != 0) {
      const std::size_t at = items_.wave_at - skip;
      std::uint8_t* last = last_of(items_.wave_version) + at;
      if (on[wave_layer_] != 0) {
        if constexpr (!Coder::kDecodes) {
          changed[wave_layer_] |= std::memcmp(last, bytes + at, WavePacketModel::kBytes) != 0;
        }
        channel.wave->code(coders[wave_layer_], last, bytes + at);
        std::memcpy(last, bytes + at, WavePacketModel::kBytes);
      } else {
        std::memcpy(bytes + at, last, WavePacketModel::kBytes);
      }
    }
    if (items_.extra_at != 0) {
      code_extra(channel, last_of(items_.extra_version) + (items_.extra_at - skip),
                 bytes + (items_.extra_at - skip));
    }
  }

  void code_colors(Channel& channel, std::uint8_t* last_bytes, std::uint8_t* bytes, std::size_t at) {
    const auto last = load_record<Rgb>(last_bytes + at);
    Rgb now = last;
    if (on[rgb_layer_] != 0) {
      const Rgb real = Coder::kDecodes ? Rgb{} : load_record<Rgb>(bytes + at);
      now = channel.rgb.code(coders[rgb_layer_], last, real);
      if constexpr (!Coder::kDecodes) changed[rgb_layer_] |= std::memcmp(&last, &real, sizeof last) != 0;
      std::memcpy(last_bytes + at, &now, sizeof now);
    }
    std::memcpy(bytes + at, &now, sizeof now);
    if (nir_layer_ == 0) return;
    const std::size_t nir_at = at + sizeof now;
    const auto last_nir = load_record<std::uint16_t>(last_bytes + nir_at);
    std::uint16_t nir = last_nir;
    if (on[nir_layer_] != 0) {
      const std::uint16_t real =
          Coder::kDecodes ? std::uint16_t{0} : load_record<std::uint16_t>(bytes + nir_at);
      nir = channel.nir.code(coders[nir_layer_], last_nir, real);
      if constexpr (!Coder::kDecodes) changed[nir_layer_] |= real != last_nir;
      std::memcpy(last_bytes + nir_at, &nir, sizeof nir);
    }
    std::memcpy(bytes + nir_at, &nir, sizeof nir);
  }

  void code_extra(Channel& channel, std::uint8_t* last, std::uint8_t* bytes) {
    for (std::size_t i = 0; i < items_.extra_bytes; ++i) {
      if (on[extra_layer_ + i] != 0) {
        const auto step = static_cast<std::uint8_t>(Coder::kDecodes ? 0 : bytes[i] - last[i]);
        if constexpr (!Coder::kDecodes) changed[extra_layer_ + i] |= step != 0;
        last[i] =
            static_cast<std::uint8_t>(last[i] + coders[extra_layer_ + i].symbol(channel.extra[i], 256, step));
      }
      bytes[i] = last[i];
    }
  }

  LazItems items_;
  std::uint32_t channel_ = 0, attached_ = 0;  ///< of the last point: for its first 30 bytes, for the rest
  std::size_t rgb_layer_ = 0, nir_layer_ = 0, wave_layer_ = 0, extra_layer_ = 0;
  std::array<std::unique_ptr<Channel>, 4> channels_;
};

}  // namespace pc::io::laz
