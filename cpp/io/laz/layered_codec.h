#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

template <class Coder>
class LayerPasses;

/// The state of a chunk of records of formats 6 to 10, each layer of which is a stream of its own; `Coder` is
/// RangeDecoder or RangeEncoder. LayerPasses codes its records.
///
/// A decoder skips the layers that are not `on`, and leaves their bytes in the records as they are. An encoder codes
/// all layers and notes which of them ever changed.
template <class Coder>
class LayeredCodec {
 public:
  static constexpr std::size_t kTileRows = 512;  ///< most records of one call

  explicit LayeredCodec(const LazItems& items)
      : coders(layer_count(items)),
        on(layer_count(items), 1),
        changed(layer_count(items), 0),
        items_(items),
        contexts_(kTileRows) {
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
    waiting_.fill(0);
    first_ = Point14::load(first);
    channel_ = attached_ = first_.channel();
    Channel& channel = at(channel_);
    channel.point.begin(first_);
    channel.attached_used = true;
    channel.last.assign(first + kPointBytes, first + items_.record_bytes);
    for (std::size_t layer = kPointLayers; layer < on.size(); ++layer) begin_attached(channel, layer);
  }

 private:
  friend class LayerPasses<Coder>;
  static constexpr std::size_t kPointBytes = Point14::kHead + 8;  ///< the bytes of the point layers
  /// Offsets in a record.
  enum Offset : std::size_t {
    kZAt = 8,
    kIntensityAt = 12,
    kFlagsAt = 15,
    kClassAt,
    kUserAt,
    kAngleAt,
    kSourceAt = 20
  };

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
      channel->last.resize(items_.record_bytes - kPointBytes);
      if (items_.wave_at != 0) channel->wave = std::make_unique<WavePacketModel>();
    }
    return *channel;
  }

  /// The symbol of what changed.
  PC_INLINE std::uint32_t code_changes(const Point14& real) {
    Point14Channel& point = channels_[channel_]->point;
    std::uint32_t changes = 0;
    if constexpr (!Coder::kDecodes) {
      const std::uint32_t wanted = real.channel();
      const bool known = channels_[wanted] != nullptr && channels_[wanted]->point.used;
      changes = (known ? channels_[wanted]->point : point).changes(real) | (wanted != channel_ ? 64U : 0U);
    }
    return point.code_changes(coders[kXy], changes);
  }

  /// Channel and returns of a point; sets its contexts. Returns the state of its channel.
  PC_INLINE Point14Channel* code_head(std::uint32_t changes, const Point14& real, PointContext& now) {
    Point14Channel* point = &channels_[channel_]->point;
    now.before = static_cast<std::uint8_t>(channel_);
    now.fresh = false;
    if ((changes & 64) != 0) [[unlikely]]
      point = switch_channel(*point, real.channel(), now);
    now.channel = static_cast<std::uint8_t>(channel_);
    if (items_.record_bytes > kPointBytes) find_attached(now);
    point->code_returns(coders[kXy], changes, real, now);
    return point;
  }

  PC_NOINLINE Point14Channel* switch_channel(Point14Channel& point, std::uint32_t wanted, PointContext& now) {
    channel_ = (channel_ + point.code_channel_step(coders[kXy], (wanted - channel_) & 3)) & 3;
    Point14Channel& other = at(channel_).point;
    now.fresh = !other.used;
    if (now.fresh) other.begin_xy(point.ahead);
    return &other;
  }

  /// The channel of the bytes after the first 30. Version 4 uses the models and the last point of the point's own
  /// channel. Version 3 uses those of channel 0 unless this very point changed the channel, and a point that returns to
  /// a known channel is still predicted from, and stored as, the last point of the channel left. Existing files require
  /// this.
  PC_INLINE void find_attached(PointContext& now) {
    now.attached_before = static_cast<std::uint8_t>(attached_);
    attached_ = items_.point_version >= 4 || now.channel != now.before ? channel_ : 0;
    now.attached = static_cast<std::uint8_t>(attached_);
    Channel& channel = at(attached_);
    now.attached_fresh = !channel.attached_used;
    channel.attached_used = true;
  }

  /// Stores what the first layer tells. The flags of the first point stay if their layer is off.
  PC_INLINE void store_head(const Point14& point, std::uint8_t* record) const {
    std::memcpy(record, &point, kZAt);
    record[kIntensityAt + 2] = point.returns;
    record[kFlagsAt] = static_cast<std::uint8_t>((first_.flags & 0xCFU) | (channel_ << 4));
  }

  /// Resets the models of a layer of the bytes after the first 30.
  void begin_attached(Channel& channel, std::size_t layer) {
    if (layer == rgb_layer_) return channel.rgb.reset();
    if (layer == nir_layer_) return channel.nir.reset();
    if (layer == wave_layer_) return channel.wave->reset();
    channel.extra[layer - extra_layer_].reset();
  }

  /// Encoder: true if flags or user data of these records need not be coded yet. The layer is left out of the chunk if it
  /// never changes; if it does, the records until then are coded first. They have one value and are of one channel.
  template <Layer kLayer>
  bool waits(const std::uint8_t* record, std::size_t count) {
    static_assert(kLayer == kFlags || kLayer == kUser);
    std::size_t& waiting = waiting_[kLayer == kUser ? 1 : 0];
    unsigned other = changed[kLayer];
    for (std::size_t i = 0; i < count; ++i, record += items_.record_bytes) {
      other |= record[kFlagsAt] ^ first_.flags;
      if (kLayer == kUser) other |= record[kUserAt] ^ first_.user_data;
    }
    if (other == 0) {
      waiting += count;
      return true;
    }
    Point14Channel& point = channels_[first_.channel()]->point;
    for (; waiting != 0; --waiting) {
      if (kLayer == kFlags) point.code_flags(coders[kLayer], first_.six_flags());
      if (kLayer == kUser) point.code_user(coders[kLayer], first_.user_data);
    }
    return false;
  }

  LazItems items_;
  Point14 first_{};
  std::vector<PointContext> contexts_;        ///< of the records of a tile
  std::uint32_t channel_ = 0, attached_ = 0;  ///< of the last point: for its first 30 bytes, for the rest
  std::size_t rgb_layer_ = 0, nir_layer_ = 0, wave_layer_ = 0, extra_layer_ = 0;
  std::array<std::unique_ptr<Channel>, 4> channels_;
  std::array<std::size_t, 2> waiting_{};  ///< encoder: records whose flags, user data are not coded yet
};

}  // namespace pc::io::laz
