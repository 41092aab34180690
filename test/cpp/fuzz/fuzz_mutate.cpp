#include "fuzz/fuzz_mutate.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/random.h"

namespace pc::fuzz {

namespace {

/// No input grows beyond this: the readers' limits are relative to the file size.
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t stream) : seed_(random_u64(seed, stream)) {}
  std::uint64_t next() { return random_u64(seed_, count_++); }
  /// In [0, n); 0 for n == 0.
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(next() % n); }
  /// A position, near the start half of the time: headers are where files break.
  std::size_t place(std::size_t size) {
    return next() % 2 == 0 ? below(std::min<std::size_t>(size, 512)) : below(size);
  }

 private:
  std::uint64_t seed_, count_ = 0;
};

constexpr std::uint64_t kTelling[] = {0,
                                      1,
                                      2,
                                      7,
                                      8,
                                      31,
                                      32,
                                      63,
                                      64,
                                      127,
                                      128,
                                      255,
                                      256,
                                      1000,
                                      4096,
                                      32767,
                                      32768,
                                      65534,
                                      65535,
                                      65536,
                                      0x7FFFFFFF,
                                      0x80000000,
                                      0xFFFFFFFE,
                                      0xFFFFFFFF,
                                      0x100000000,
                                      0x3FFFFFFFFFFFFFFF,
                                      0x7FF0000000000000,  // infinity as f64
                                      0x7FF8000000000001,  // NaN as f64
                                      0x7F800000,
                                      0x7FC00000,  // the same as f32
                                      0x7FEFFFFFFFFFFFFF,
                                      0x0010000000000000,
                                      0x7FFFFFFFFFFFFFFF,
                                      0x8000000000000000,
                                      0xFFFFFFFFFFFFFF00,
                                      0xFFFFFFFFFFFFFFFF};

void put_integer(Bytes& bytes, Dice& dice) {
  if (bytes.empty()) return;
  constexpr std::size_t kWidths[] = {1, 2, 4, 8};
  const std::size_t width = kWidths[dice.below(4)];
  std::size_t at = dice.place(bytes.size());
  if (dice.below(2) == 0) at = at / width * width;
  std::uint64_t value = kTelling[dice.below(std::size(kTelling))];
  if (dice.below(4) == 0) value = bytes.size() + dice.below(5) - 2;  // about the file's own size
  std::memcpy(bytes.data() + at, &value, std::min(width, bytes.size() - at));
}

void flip(Bytes& bytes, Dice& dice) {
  if (bytes.empty()) return;
  const std::size_t count = 1 + dice.below(8);
  for (std::size_t i = 0; i < count; ++i)
    bytes[dice.place(bytes.size())] ^= static_cast<std::uint8_t>(1U << dice.below(8));
}

void add_noise(Bytes& bytes, Dice& dice) {
  if (bytes.empty()) return;
  const std::size_t at = dice.place(bytes.size()), count = std::min(bytes.size() - at, 1 + dice.below(64));
  const bool constant = dice.below(3) == 0;
  const auto value = static_cast<std::uint8_t>(dice.next());
  for (std::size_t i = 0; i < count; ++i)
    bytes[at + i] = constant ? value : static_cast<std::uint8_t>(dice.next());
}

void insert(Bytes& bytes, std::size_t at, const Bytes& piece) {
  if (bytes.size() + piece.size() > kMaxBytes) return;
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(), piece.end());
}

Bytes piece_of(const Bytes& bytes, Dice& dice) {
  const std::size_t from = dice.place(bytes.size());
  const std::size_t longest = dice.below(8) == 0 ? 8192 : 200;
  const std::size_t count = std::min(bytes.size() - from, 1 + dice.below(longest));
  return Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(from),
               bytes.begin() + static_cast<std::ptrdiff_t>(from + count));
}

void move_piece(Bytes& bytes, const Bytes& other, Dice& dice) {
  if (bytes.empty() || other.empty()) return;
  const Bytes piece = piece_of(other, dice);
  const std::size_t at = dice.place(bytes.size());
  switch (dice.below(3)) {
    case 0:
      return insert(bytes, at, piece);
    case 1:
      std::copy_n(piece.begin(), std::min(piece.size(), bytes.size() - at),
                  bytes.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    default:
      for (std::size_t i = 0, times = 2 + dice.below(16); i < times; ++i) insert(bytes, at, piece);
  }
}

void remove_piece(Bytes& bytes, Dice& dice) {
  if (bytes.empty()) return;
  const std::size_t at = dice.place(bytes.size()), count = std::min(bytes.size() - at, 1 + dice.below(100));
  bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at),
              bytes.begin() + static_cast<std::ptrdiff_t>(at + count));
}

/// Makes a run of digits longer, negative, fractional or huge.
void blow_up_number(Bytes& bytes, Dice& dice) {
  if (bytes.empty()) return;
  const std::size_t start = dice.place(bytes.size());
  const auto is_digit = [](std::uint8_t c) { return c >= '0' && c <= '9'; };
  const auto found = std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(start), bytes.end(), is_digit);
  if (found == bytes.end()) return;
  static const char* const kPieces[] = {"9",          "99999999999", "18446744073709551615",
                                        "-",          "e308",        ".",
                                        "0x",         "nan",         "inf",
                                        "4294967296", "2147483648",  "\n",
                                        " ",          "\r\n",        "\t",
                                        ",",          ";",           "#",
                                        "\"",         "1e-320"};
  const std::string text =
      dice.below(12) == 0 ? std::string(1 + dice.below(3000), '7') : kPieces[dice.below(std::size(kPieces))];
  insert(bytes, static_cast<std::size_t>(found - bytes.begin()), Bytes(text.begin(), text.end()));
}

void mutate(Bytes& bytes, const std::vector<Bytes>& seeds, Dice& dice) {
  switch (dice.below(9)) {
    case 0:
      return flip(bytes, dice);
    case 1:
      return add_noise(bytes, dice);
    case 2:
    case 3:
      return put_integer(bytes, dice);
    case 4:
      return move_piece(bytes, Bytes(bytes), dice);
    case 5:
      return move_piece(bytes, seeds[dice.below(seeds.size())], dice);
    case 6:
      return remove_piece(bytes, dice);
    case 7:
      return blow_up_number(bytes, dice);
    default:
      bytes.resize(dice.below(bytes.size() + 1));
  }
}

}  // namespace

Bytes make_case(const std::vector<Bytes>& seeds, std::uint64_t seed, std::uint64_t index) {
  Dice dice(seed, index);
  if (index % 4 == 0) {
    std::uint64_t left = index / 4;
    for (const Bytes& bytes : seeds) {
      if (left < bytes.size()) return Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(left));
      left -= bytes.size();
    }
  }
  Bytes bytes = seeds[dice.below(seeds.size())];
  const std::size_t changes = 1 + dice.below(6);
  for (std::size_t i = 0; i < changes; ++i) mutate(bytes, seeds, dice);
  return bytes;
}

}  // namespace pc::fuzz
