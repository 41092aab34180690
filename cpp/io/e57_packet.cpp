#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "io/e57_record.h"

namespace pc::io::e57 {

namespace {

static_assert(std::endian::native == std::endian::little, "E57 numbers are little endian");

constexpr std::size_t kMaxPacketBytes = 65536, kPacketHeaderBytes = 6;
constexpr std::uint8_t kDataPacket = 1;

std::size_t stream_bytes(std::size_t records, unsigned bits) { return (records * bits + 7) / 8; }

/// Packs values of a fixed number of bits, from the low bit up and without gaps (bitPackCodec).
class BitPacker {
 public:
  BitPacker(unsigned bits, char* out) : bits_(bits), out_(out) {}

  void put(std::uint64_t value) {
    if (bits_ == 0) return;
    word_ |= value << used_;
    if (used_ + bits_ < 64) {
      used_ += bits_;
      return;
    }
    std::memcpy(out_, &word_, sizeof word_);
    out_ += sizeof word_;
    word_ = used_ == 0 ? 0 : value >> (64 - used_);
    used_ = used_ + bits_ - 64;
  }
  char* end() {
    const std::size_t rest = (used_ + 7) / 8;
    std::memcpy(out_, &word_, rest);
    return out_ + rest;
  }

 private:
  unsigned bits_, used_ = 0;
  std::uint64_t word_ = 0;
  char* out_;
};

template <class Value>
char* put_integers(const E57Field& field, Span<const std::size_t> rows, char* out, Value&& value) {
  BitPacker packer(field.bits, out);
  for (const std::size_t row : rows) {
    packer.put(static_cast<std::uint64_t>(static_cast<std::int64_t>(value(row))) -
               static_cast<std::uint64_t>(field.minimum));
  }
  return packer.end();
}

template <class T, class Value>
char* put_reals(Span<const std::size_t> rows, char* out, Value&& value) {
  for (const std::size_t row : rows) {
    const auto real = static_cast<T>(value(row));
    std::memcpy(out, &real, sizeof real);
    out += sizeof real;
  }
  return out;
}

}  // namespace

PacketEncoder::PacketEncoder(const RecordSource& source, const WrittenFrame& frame,
                             std::vector<WrittenField> fields, std::uint64_t records)
    : source_(source), frame_(frame), fields_(std::move(fields)), records_(records) {
  if (fields_.size() > kE57MaxFields) {
    throw Error(ErrorCode::kInvalidArgument, "an E57 point can have 1024 fields here, not " +
                                                 std::to_string(fields_.size()) +
                                                 "; leave columns out, or choose laz or pcd");
  }
  // A packet ends with a whole byte of every stream, so that the pieces join without a shift.
  const bool bytes_only = std::all_of(fields_.begin(), fields_.end(),
                                      [](const WrittenField& f) { return f.field.bits % 8 == 0; });
  const std::size_t step = bytes_only ? 1 : 8;
  std::uint64_t bits = 0;
  for (const WrittenField& field : fields_) bits += field.field.bits;
  const std::size_t head = kPacketHeaderBytes + 2 * fields_.size() + 3;  // 3: padding
  const std::uint64_t room = head < kMaxPacketBytes ? (kMaxPacketBytes - head) * 8 : 0;
  packet_records_ = static_cast<std::size_t>(room / bits) / step * step;
  if (packet_records_ == 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "points of " + std::to_string(fields_.size()) + " fields and " + std::to_string((bits + 7) / 8) +
            " bytes do not fit the packets of an E57 file (64 KiB); leave columns out, or choose laz or pcd");
  }
}

std::size_t PacketEncoder::record_count(std::uint64_t packet) const {
  return static_cast<std::size_t>(std::min<std::uint64_t>(packet_records_, records_ - first_record(packet)));
}

std::size_t PacketEncoder::bytes_of(std::size_t records) const {
  std::size_t bytes = kPacketHeaderBytes + 2 * fields_.size();
  for (const WrittenField& field : fields_) bytes += stream_bytes(records, field.field.bits);
  return (bytes + 3) / 4 * 4;
}

void PacketEncoder::encode(Span<const std::size_t> rows, char* out) const {
  const std::size_t bytes = bytes_of(rows.size);
  const auto length = static_cast<std::uint16_t>(bytes - 1),
             streams = static_cast<std::uint16_t>(fields_.size());
  out[0] = static_cast<char>(kDataPacket);
  out[1] = 0;
  std::memcpy(out + 2, &length, sizeof length);
  std::memcpy(out + 4, &streams, sizeof streams);
  char* lengths = out + kPacketHeaderBytes;
  char* at = lengths + 2 * fields_.size();
  for (const WrittenField& field : fields_) {
    char* const end = encode_field(field, rows, at);
    const auto piece = static_cast<std::uint16_t>(end - at);
    std::memcpy(lengths, &piece, sizeof piece);
    lengths += sizeof piece;
    at = end;
  }
  std::memset(at, 0, static_cast<std::size_t>(out + bytes - at));
}

/// 0 = hit, 1 = a miss whose coordinates are its direction, 2 = a miss without one.
std::vector<std::uint8_t> miss_states(const RecordSource& source, const WrittenFrame& frame,
                                      Span<const std::size_t> rows) {
  std::vector<std::uint8_t> states(rows.size);
  visit_scalar(*source.is_miss, [&](auto values) {
    for (std::size_t i = 0; i < rows.size; ++i) {
      if (values[rows[i]] == 0) continue;
      const Vec3d p = frame.apply(source.view.positions[rows[i]]);
      states[i] = !is_finite(p) || p == Vec3d{0, 0, 0} ? 2 : 1;
    }
  });
  return states;
}

char* PacketEncoder::encode_field(const WrittenField& field, Span<const std::size_t> rows, char* out) const {
  const CloudView& view = source_.view;
  const auto axis = [&](auto pick) {
    const auto value = [&](std::size_t row) { return pick(frame_.apply(view.positions[row])); };
    return field.field.type == E57FieldType::kFloat32 ? put_reals<float>(rows, out, value)
                                                      : put_reals<double>(rows, out, value);
  };
  const auto origin = [&](auto pick) {
    return put_reals<double>(rows, out,
                             [&](std::size_t row) { return pick(view.beam_origins[row] + view.offset); });
  };
  const auto color = [&](auto pick) {
    return put_integers(field.field, rows, out,
                        [&](std::size_t row) { return pick(view.colors[row]) >> 8U; });
  };
  switch (field.source) {
    case Source::kX:
      return axis([](const Vec3d& p) { return p.x; });
    case Source::kY:
      return axis([](const Vec3d& p) { return p.y; });
    case Source::kZ:
      return axis([](const Vec3d& p) { return p.z; });
    case Source::kMissState: {
      const std::vector<std::uint8_t> states = miss_states(source_, frame_, rows);
      std::size_t i = 0;
      return put_integers(field.field, rows, out, [&](std::size_t) { return states[i++]; });
    }
    case Source::kRed:
      return color([](const Rgb16& c) { return c.r; });
    case Source::kGreen:
      return color([](const Rgb16& c) { return c.g; });
    case Source::kBlue:
      return color([](const Rgb16& c) { return c.b; });
    case Source::kIntensity:
      return put_integers(field.field, rows, out, [&](std::size_t row) { return view.intensity[row]; });
    case Source::kTime:
      return put_reals<double>(rows, out, [&](std::size_t row) {
        return std::isfinite(view.timestamps[row]) ? view.timestamps[row] : 0.0;
      });
    case Source::kTimeInvalid:
      return put_integers(field.field, rows, out,
                          [&](std::size_t row) { return std::isfinite(view.timestamps[row]) ? 0 : 1; });
    case Source::kOriginX:
      return origin([](const Vec3d& p) { return p.x; });
    case Source::kOriginY:
      return origin([](const Vec3d& p) { return p.y; });
    case Source::kOriginZ:
      return origin([](const Vec3d& p) { return p.z; });
    case Source::kScalar:
      break;
  }
  return visit_scalar(*field.scalar, [&](auto values) {
    const auto value = [&](std::size_t row) { return values[row]; };
    if (field.field.type == E57FieldType::kInteger) return put_integers(field.field, rows, out, value);
    return field.field.type == E57FieldType::kFloat32 ? put_reals<float>(rows, out, value)
                                                      : put_reals<double>(rows, out, value);
  });
}

}  // namespace pc::io::e57
