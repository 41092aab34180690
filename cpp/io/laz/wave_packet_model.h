#pragma once
#include <cstdint>
#include <cstring>

#include "io/laz/integer_model.h"

namespace pc::io::laz {

/// Wave packet fields, 29 bytes a point: index, offset, size, return point, x(t), y(t), z(t); decoding only.
/// Source: LASzip 2 specification, "WAVEPACKET13 version 1"; versions 3 and 4 (WAVEPACKET14) code the same way.
class WavePacketModel {
 public:
  static constexpr std::size_t kBytes = 29;

  void reset() {
    index_.reset();
    for (auto& model : offset_kinds_) model.reset();
    offsets_.reset();
    sizes_.reset();
    return_points_.reset();
    directions_.reset();
    kind_ = 0;
    step_ = 0;
  }

  /// Decodes the packet after `last` into `now`.
  template <class Decoder>
  void decode(Decoder& decoder, const std::uint8_t* last, std::uint8_t* now) {
    Fields fields;
    std::memcpy(&fields, last + 1, sizeof fields);
    const auto index = static_cast<std::uint8_t>(decoder.symbol(index_, 256));
    std::uint64_t offset = (std::uint64_t{fields.offset_high} << 32) | fields.offset_low;
    kind_ = decoder.symbol(offset_kinds_[kind_], 4);
    if (kind_ == 1) {
      offset += fields.size;
    } else if (kind_ == 2) {
      step_ = offsets_.code_signed(decoder, step_, 0);
      offset += static_cast<std::uint64_t>(static_cast<std::int64_t>(step_));
    } else if (kind_ == 3) {
      offset = decoder.double_word();
    }
    fields.offset_low = static_cast<std::uint32_t>(offset);
    fields.offset_high = static_cast<std::uint32_t>(offset >> 32);
    fields.size = sizes_.code(decoder, fields.size, 0);
    fields.return_point = return_points_.code(decoder, fields.return_point, 0);
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      fields.direction[axis] = directions_.code(decoder, fields.direction[axis], 0, axis);
    }
    now[0] = index;
    std::memcpy(now + 1, &fields, sizeof fields);
  }

 private:
  struct Fields {
    std::uint32_t offset_low, offset_high, size, return_point, direction[3];
  };
  static_assert(sizeof(Fields) == kBytes - 1);

  SymbolModel<256> index_;
  SymbolModel<4> offset_kinds_[4];
  IntegerModel<32, 1> offsets_, sizes_, return_points_;
  IntegerModel<32, 3> directions_;
  std::uint32_t kind_ = 0;
  std::int32_t step_ = 0;
};

}  // namespace pc::io::laz
