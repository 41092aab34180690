#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/platform.h"
#include "io/laz/range_model.h"

namespace pc::io::laz {

/// Bytes of a file range, read in pieces: the source of a stream whose end is unknown.
class FileBytes {
 public:
  FileBytes(const platform::File& file, std::uint64_t from, std::uint64_t end)
      : file_(file), at_(from), end_(end) {}
  /// Next piece into `out`; 0 at the end of the range or of the file.
  std::size_t read(std::uint8_t* out, std::size_t capacity) {
    const std::uint64_t left = end_ - at_;
    const std::size_t got =
        left == 0 ? 0 : file_.read_at(at_, out, static_cast<std::size_t>(left < capacity ? left : capacity));
    at_ += got;
    return got;
  }
  std::uint64_t at() const { return at_; }

 private:
  const platform::File& file_;
  std::uint64_t at_, end_;
};

/// Range decoder for bytes in memory, refilled from a FileBytes if one is given. Beyond the end it reads zeros and
/// counts them, so damaged data never causes reads out of bounds and callers can detect a stream that is too short.
/// Source: A. Said, HPL-2004-76, algorithms 21 to 25; the interval is rescaled byte by byte.
class RangeDecoder {
 public:
  static constexpr bool kDecodes = true;

  /// Starts a stream of `bytes` bytes; `refill` may be null. The first four bytes are read here.
  void start(const std::uint8_t* data, std::size_t bytes, FileBytes* refill = nullptr,
             std::uint8_t* buffer = nullptr, std::size_t capacity = 0) {
    set_piece(data, bytes);
    refill_ = refill;
    buffer_ = buffer;
    capacity_ = capacity;
    missing_ = 0;
    length_ = 0xFFFFFFFFU;
    value_ = 0;
    for (int i = 0; i < 4; ++i) value_ = (value_ << 8) | next_byte();
  }

  /// Number of zeros read beyond the end.
  std::uint64_t missing() const { return missing_; }
  /// Number of bytes of the current piece not read yet.
  std::size_t unread() const { return static_cast<std::size_t>(end_ - at_); }

  template <unsigned kSymbols>
  PC_INLINE std::uint32_t symbol(SymbolModel<kSymbols>& model, std::uint32_t size, std::uint32_t = 0) {
    if (model.until_update == 0) [[unlikely]]
      model.begin(size);
    const std::uint32_t found = model.find(value_ / (length_ >> kSymbolBits));
    take(model, found);
    return found;
  }

  /// As symbol(), for values that mostly repeat: one comparison tells whether it is `usual` again, and a correctly
  /// predicted branch lets the processor run ahead of the division.
  template <unsigned kSymbols>
  PC_INLINE std::uint32_t symbol_like(SymbolModel<kSymbols>& model, std::uint32_t size, std::uint32_t usual,
                                      std::uint32_t = 0) {
    if (model.until_update == 0) [[unlikely]]
      model.begin(size);
    const std::uint32_t unit = length_ >> kSymbolBits;
    const std::uint32_t from = model.start(usual) * unit;
    const std::uint32_t to = model.end(usual, unit, length_);
    if (value_ - from >= to - from) [[unlikely]]
      return symbol_again(model, size);
    take(model, usual);
    return usual;
  }

  PC_INLINE std::uint32_t bit(BitModel& model, std::uint32_t = 0) {
    if (model.until_update == 0) [[unlikely]]
      model.begin();
    const std::uint32_t split = model.zero_share * (length_ >> kBitBits);
    const bool one = value_ >= split;
    const std::uint32_t length = one ? length_ - split : split;
    model.zeros += one ? 0 : 1;
    rescale<kLeastSymbolBits>(value_ - (one ? split : 0), length);
    if (--model.until_update == 0) [[unlikely]]
      model.update();
    return one ? 1 : 0;
  }

  /// `count` (1 to 32) bits without a model.
  std::uint32_t bits(unsigned count, std::uint32_t = 0) {
    if (count > 19) {  // two steps keep the interval long enough
      const std::uint32_t low = raw(16);
      return (raw(count - 16) << 16) | low;
    }
    return raw(count);
  }
  /// `count` (0 to 32) bits without a model. No bits are no branch, but a step that changes nothing.
  PC_INLINE std::uint32_t bits_or_none(unsigned count) {
    if (count > 19) [[unlikely]]
      return bits(count);
    return raw(count);
  }
  std::uint32_t word(std::uint32_t = 0) {
    const std::uint32_t low = raw(16);
    return (raw(16) << 16) | low;
  }
  std::uint64_t double_word(std::uint64_t = 0) {
    const std::uint64_t low = word();
    return (static_cast<std::uint64_t>(word()) << 32) | low;
  }

 private:
  template <unsigned kSymbols>
  PC_INLINE void take(SymbolModel<kSymbols>& model, std::uint32_t found) {
    const std::uint32_t length = length_, unit = length >> kSymbolBits;
    const std::uint32_t from = model.start(found) * unit;
    const std::uint32_t to = model.end(found, unit, length);
    rescale<kLeastSymbolBits>(value_ - from, to - from);
    ++model.count[found];
    if (--model.until_update == 0) [[unlikely]]
      model.update();
  }

  template <unsigned kSymbols>
  PC_NOINLINE std::uint32_t symbol_again(SymbolModel<kSymbols>& model, std::uint32_t size) {
    return symbol(model, size);
  }

  PC_INLINE std::uint32_t raw(unsigned count) {
    const std::uint32_t length = length_ >> count;
    const std::uint32_t value = value_ / length;
    rescale<kLeastRawBits>(value_ - length * value, length);
    return value & ((1U << count) - 1U);  // larger only in a damaged stream
  }

  /// Stores the interval, scaled to at least kMinLength.
  template <unsigned kLeastBits>
  PC_INLINE void rescale(std::uint32_t value, std::uint32_t length) {
    const unsigned bits = rescale_bits<kLeastBits>(length);
    length_ = length << bits;
    if (reinterpret_cast<std::uintptr_t>(at_) > last_four_) [[unlikely]]
      return shift_at_end(value, bits);
    const std::uint32_t ahead =
        (std::uint32_t{at_[0]} << 24) | (std::uint32_t{at_[1]} << 16) | (std::uint32_t{at_[2]} << 8) | at_[3];
    value_ = static_cast<std::uint32_t>((((static_cast<std::uint64_t>(value) << 32) | ahead) << bits) >> 32);
    at_ += bits / 8;
  }

  PC_NOINLINE void shift_at_end(std::uint32_t value, unsigned bits) {
    for (unsigned i = 0; i < bits; i += 8) value = (value << 8) | next_byte();
    value_ = value;
  }

  void set_piece(const std::uint8_t* data, std::size_t bytes) {
    at_ = data;
    end_ = data + bytes;
    last_four_ = bytes < 4 ? 0 : reinterpret_cast<std::uintptr_t>(end_) - 4;
  }

  std::uint8_t next_byte() {
    if (at_ == end_) {
      const std::size_t got = refill_ == nullptr ? 0 : refill_->read(buffer_, capacity_);
      if (got == 0) {
        ++missing_;
        return 0;
      }
      set_piece(buffer_, got);
    }
    return *at_++;
  }

  std::uint32_t value_ = 0;
  std::uintptr_t last_four_ = 0;  ///< address of the last four bytes of the piece; 0 if it has fewer
  const std::uint8_t *at_ = nullptr, *end_ = nullptr;
  std::uint32_t length_ = 0xFFFFFFFFU;
  FileBytes* refill_ = nullptr;
  std::uint8_t* buffer_ = nullptr;
  std::size_t capacity_ = 0;
  std::uint64_t missing_ = 0;
};

}  // namespace pc::io::laz
