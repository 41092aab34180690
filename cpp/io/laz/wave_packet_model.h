#pragma once
#include <cstdint>
#include <cstring>

#include "io/laz/integer_model.h"

namespace pc::io::laz {

/// Wave packet fields, 29 bytes a point: index, offset, size, return point, x(t), y(t), z(t).
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

  /// Decodes the packet after `last` to `now`, or encodes `now` relative to it.
  template <class Coder>
  void code(Coder& coder, const std::uint8_t* last_bytes, std::uint8_t* now_bytes) {
    Fields fields = load(last_bytes);
    const Fields real = Coder::kDecodes ? Fields{} : load(now_bytes);
    now_bytes[0] = static_cast<std::uint8_t>(coder.symbol(index_, 256, now_bytes[0]));
    std::uint64_t offset = fields.offset();
    kind_ = coder.symbol(offset_kinds_[kind_], 4, kind_of(real, fields));
    if (kind_ == 1) {
      offset += fields.size;
    } else if (kind_ == 2) {
      step_ = offsets_.code_signed(coder, step_, static_cast<std::int32_t>(real.offset() - offset));
      offset += static_cast<std::uint64_t>(static_cast<std::int64_t>(step_));
    } else if (kind_ == 3) {
      offset = coder.double_word(real.offset());
    }
    fields.offset_low = static_cast<std::uint32_t>(offset);
    fields.offset_high = static_cast<std::uint32_t>(offset >> 32);
    fields.size = sizes_.code(coder, fields.size, real.size);
    fields.return_point = return_points_.code(coder, fields.return_point, real.return_point);
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      fields.direction[axis] = directions_.code(coder, fields.direction[axis], real.direction[axis], axis);
    }
    std::memcpy(now_bytes + 1, &fields, sizeof fields);
  }

 private:
  struct Fields {
    std::uint32_t offset_low, offset_high, size, return_point, direction[3];
    std::uint64_t offset() const { return (std::uint64_t{offset_high} << 32) | offset_low; }
  };
  static_assert(sizeof(Fields) == kBytes - 1);

  static Fields load(const std::uint8_t* bytes) {
    Fields fields;
    std::memcpy(&fields, bytes + 1, sizeof fields);
    return fields;
  }
  /// How an offset follows from the previous one: same, after its packet, a step of 32 bits, in full.
  static std::uint32_t kind_of(const Fields& real, const Fields& last) {
    const auto step = static_cast<std::int64_t>(real.offset() - last.offset());
    return step == 0 ? 0 : step == last.size ? 1 : step == static_cast<std::int32_t>(step) ? 2 : 3;
  }

  SymbolModel<256> index_;
  SymbolModel<4> offset_kinds_[4];
  IntegerModel<32, 1> offsets_, sizes_, return_points_;
  IntegerModel<32, 3> directions_;
  std::uint32_t kind_ = 0;
  std::int32_t step_ = 0;
};

}  // namespace pc::io::laz
