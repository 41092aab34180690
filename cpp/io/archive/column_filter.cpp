#include "io/archive/column_filter.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "core/error.h"

namespace pc::io {

namespace {

template <class Word>
Word load(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Values per turn: the input of a turn stays in the first cache while its planes are written.
constexpr std::size_t kTurn = 2048;
/// Values between two looks at a cancel, a multiple of kTurn.
constexpr std::size_t kPoll = 65536;

/// kWidth: values in a row; 0 = no differences.
template <class Word, std::size_t kWidth>
void shuffle(const std::byte* in, std::size_t values, std::byte* out, const OpContext& ctx) {
  for (std::size_t first = 0; first < values; first += kTurn) {
    if (first % kPoll == 0) ctx.checkpoint();
    const std::size_t last = std::min(values, first + kTurn);
    for (std::size_t plane = 0; plane < sizeof(Word); ++plane) {
      std::byte* const to = out + plane * values;
      for (std::size_t i = first; i < last; ++i) {
        Word word = load<Word>(in + i * sizeof(Word));
        if (kWidth != 0 && i >= kWidth)
          word = static_cast<Word>(word - load<Word>(in + (i - kWidth) * sizeof(Word)));
        to[i] = static_cast<std::byte>(word >> (8 * plane));
      }
    }
  }
}

template <class Word, std::size_t kWidth>
void unshuffle(const std::byte* in, std::size_t values, std::byte* out, const OpContext& ctx) {
  // Plane by plane: planes of a whole block are a power of two apart, so that all of them fall into one set of the cache.
  std::array<Word, kTurn> turn;
  for (std::size_t first = 0; first < values; first += kTurn) {
    if (first % kPoll == 0) ctx.checkpoint();
    const std::size_t count = std::min(kTurn, values - first);
    turn.fill(0);
    for (std::size_t plane = 0; plane < sizeof(Word); ++plane) {
      const std::byte* const from = in + plane * values + first;
      for (std::size_t i = 0; i < count; ++i)
        turn[i] =
            static_cast<Word>(turn[i] | static_cast<Word>(std::to_integer<Word>(from[i]) << (8 * plane)));
    }
    std::memcpy(out + first * sizeof(Word), turn.data(), count * sizeof(Word));
  }
  if (kWidth == 0) return;
  for (std::size_t first = kWidth; first < values; first += kPoll) {
    ctx.checkpoint();
    for (std::size_t i = first, last = std::min(values, first + kPoll); i < last; ++i) {
      const Word word = static_cast<Word>(load<Word>(out + i * sizeof(Word)) +
                                          load<Word>(out + (i - kWidth) * sizeof(Word)));
      std::memcpy(out + i * sizeof(Word), &word, sizeof word);
    }
  }
}

/// Calls visit.template operator()<Word, kWidth>() for the values and the differences of a filter.
template <class Visit>
void with_words(ColumnFilter filter, DType dtype, Visit&& visit) {
  const bool delta = filter == ColumnFilter::kDeltaShuffle;
  if (dtype == DType::kVec3d) {
    delta ? visit.template operator()<std::uint64_t, 3>() : visit.template operator()<std::uint64_t, 0>();
    return;
  }
  if (dtype == DType::kRgb16) {
    delta ? visit.template operator()<std::uint16_t, 3>() : visit.template operator()<std::uint16_t, 0>();
    return;
  }
  switch (dtype_size(dtype)) {
    case 1:
      return delta ? visit.template operator()<std::uint8_t, 1>()
                   : visit.template operator()<std::uint8_t, 0>();
    case 2:
      return delta ? visit.template operator()<std::uint16_t, 1>()
                   : visit.template operator()<std::uint16_t, 0>();
    case 4:
      return delta ? visit.template operator()<std::uint32_t, 1>()
                   : visit.template operator()<std::uint32_t, 0>();
    case 8:
      return delta ? visit.template operator()<std::uint64_t, 1>()
                   : visit.template operator()<std::uint64_t, 0>();
    default:
      throw Error(ErrorCode::kInternal, std::string("no filter for ") + dtype_name(dtype));
  }
}

}  // namespace

void filter_rows(ColumnFilter filter, DType dtype, Span<const std::byte> rows, std::byte* out,
                 const OpContext& ctx) {
  if (rows.empty()) return;
  if (filter == ColumnFilter::kNone) {
    std::memcpy(out, rows.data, rows.size);
    return;
  }
  with_words(filter, dtype, [&]<class Word, std::size_t kWidth>() {
    shuffle<Word, kWidth>(rows.data, rows.size / sizeof(Word), out, ctx);
  });
}

void unfilter_rows(ColumnFilter filter, DType dtype, Span<const std::byte> filtered, std::byte* out,
                   const OpContext& ctx) {
  if (filtered.empty()) return;
  if (filter == ColumnFilter::kNone) {
    std::memcpy(out, filtered.data, filtered.size);
    return;
  }
  with_words(filter, dtype, [&]<class Word, std::size_t kWidth>() {
    unshuffle<Word, kWidth>(filtered.data, filtered.size / sizeof(Word), out, ctx);
  });
}

}  // namespace pc::io
