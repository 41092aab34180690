#include "io/ascii_plain_rows.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>

#include <array>
#include <bit>

#include "core/processor.h"
#include "io/decimal.h"
#if defined(_MSC_VER)
#define PC_AVX2
#define PC_AVX2_INLINE __forceinline
#else
#define PC_AVX2 __attribute__((target("avx2,bmi,bmi2")))
#define PC_AVX2_INLINE __attribute__((target("avx2,bmi,bmi2"), always_inline)) inline
#endif

namespace pc::io {

namespace {

constexpr unsigned kLongest = 16;  // characters of a number after its sign
constexpr unsigned kNoPoint = 16;  // in place of the number of decimals
constexpr std::uint64_t kTwo53 = std::uint64_t{1} << 53;

/// Byte i is i - 16: from byte `length` on, the place of each of the last `length` of 16 digits; negative before them.
constexpr std::array<std::int8_t, 32> make_places() {
  std::array<std::int8_t, 32> places{};
  for (int i = 0; i < 32; ++i) places[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i - 16);
  return places;
}
/// From byte `decimals` on: -1 for the digits before the point.
constexpr std::array<std::int8_t, 32> make_before_point() {
  std::array<std::int8_t, 32> steps{};
  for (std::size_t i = 0; i < 16; ++i) steps[i] = -1;
  return steps;
}
constexpr auto kPlaces = make_places();
constexpr auto kBeforePoint = make_before_point();

PC_AVX2_INLINE __m128i load16(const void* at) { return _mm_loadu_si128(static_cast<const __m128i*>(at)); }

/// Reads the number [first, stop), all its digits in one step: moves them to the end of a register, without the point,
/// and adds neighbours up to 2, 4 and 8 digits. False if it is not plain.
PC_AVX2_INLINE bool read_number(const char* first, const char* stop, __m128i point, Decimal& out) {
  const std::uint64_t negative = *first == '-' ? 1 : 0;
  first += negative;
  const auto length = static_cast<std::size_t>(stop - first);
  if (length - 1 >= kLongest) return false;
  const __m128i text = load16(first);
  const auto equal = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(text, point)));
  const unsigned points = _bzhi_u32(equal, static_cast<unsigned>(length));
  const unsigned decimals =
      points != 0 ? static_cast<unsigned>(length) - 1 - static_cast<unsigned>(std::countr_zero(points))
                  : kNoPoint;
  const __m128i from = _mm_add_epi8(load16(kPlaces.data() + length), load16(kBeforePoint.data() + decimals));
  const __m128i digits = _mm_shuffle_epi8(_mm_sub_epi8(text, _mm_set1_epi8('0')), from);
  const __m128i beyond = _mm_subs_epu8(digits, _mm_set1_epi8(9));
  const __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010a));
  const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x00010064));
  const __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x00012710));
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  const std::uint64_t mantissa = (both & 0xffffffffU) * 100'000'000 + (both >> 32);
  const bool no_digit = length == 1 && points != 0;
  if (_mm_testz_si128(beyond, beyond) == 0 || mantissa > kTwo53 || no_digit) return false;
  auto size = static_cast<double>(static_cast<std::int64_t>(mantissa));
  if (decimals != kNoPoint) size /= kExactPowersOfTen[decimals];
  out.value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) | negative << 63);
  out.mantissa = mantissa;
  out.exponent = decimals == kNoPoint ? 0 : -static_cast<int>(decimals);
  return true;
}

/// Finds the ends of the fields of a line, 64 bytes in one step.
template <bool kWhitespace>
class FieldEnds {
 public:
  PC_AVX2_INLINE FieldEnds(const char* line, char delimiter)
      : block_(line), delimiter_(_mm256_set1_epi8(delimiter)) {
    load();
  }

  /// The end of the next field: a delimiter, the first blank after it, or the end of the line.
  PC_AVX2_INLINE const char* next() {
    while (ends_ == 0) {
      block_ += 64;
      load();
    }
    const char* const end = block_ + std::countr_zero(ends_);
    ends_ = _blsr_u64(ends_);
    return end;
  }

 private:
  PC_AVX2_INLINE std::uint64_t found(const char* at) const {
    const __m256i text = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    __m256i hit =
        _mm256_or_si256(_mm256_cmpeq_epi8(text, delimiter_), _mm256_cmpeq_epi8(text, _mm256_set1_epi8('\n')));
    if constexpr (kWhitespace) hit = _mm256_or_si256(hit, _mm256_cmpeq_epi8(text, _mm256_set1_epi8('\t')));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(hit));
  }
  PC_AVX2_INLINE void load() {
    ends_ = found(block_) | found(block_ + 32) << 32;
    if constexpr (kWhitespace) {  // of a run of blanks the first
      const std::uint64_t last = ends_ >> 63;
      ends_ &= ~(ends_ << 1 | before_);
      before_ = last;
    }
  }

  const char* block_;
  __m256i delimiter_;
  std::uint64_t ends_ = 0, before_ = 0;
};

template <bool kWhitespace>
PC_AVX2_INLINE const char* skip_blanks(const char* p, char delimiter) {
  while (*p == ' ' || (*p == '\t' && (kWhitespace || delimiter != '\t'))) ++p;
  return p;
}

/// The start of the next line, or nullptr if this one is not plain.
template <bool kWhitespace>
PC_AVX2_INLINE const char* parse_row(const char* line, const PlainLayout& layout, __m128i point,
                                     PlainBatch& batch) {
  const char* first = skip_blanks<kWhitespace>(line, layout.delimiter);
  if (*first == '#' || *first == '/') return nullptr;  // perhaps a remark
  FieldEnds<kWhitespace> ends(first, layout.delimiter);
  const char* stop = first;
  for (std::uint32_t c = 0;;) {
    stop = ends.next();
    const std::int32_t target = c < layout.targets.size ? layout.targets[c] : -1;
    const bool last = ++c == layout.columns;
    if (target >= 0) {
      Decimal number;
      const char* const number_end = last && *stop == '\n' && stop[-1] == '\r' ? stop - 1 : stop;
      if (!read_number(first, number_end, point, number)) return nullptr;
      batch.values[static_cast<std::size_t>(target) * batch.capacity + batch.row] = number.value;
      if (target >= 3) note_digits(batch.stats[target - 3], number);
    } else if (*first == '"') {
      return nullptr;
    }
    if (last) break;
    if (*stop == '\n') return nullptr;
    first = skip_blanks<kWhitespace>(stop + 1, layout.delimiter);
    if (kWhitespace && (*first == '\n' || *first == '\r')) return nullptr;
  }
  if (kWhitespace) stop = skip_blanks<kWhitespace>(stop, layout.delimiter);
  if (*stop == '\r') ++stop;
  return *stop == '\n' ? stop + 1 : nullptr;
}

template <bool kWhitespace>
PC_AVX2 const char* parse_rows(const char* p, const char* end, const PlainLayout& layout, PlainBatch& batch) {
  const __m128i point = _mm_set1_epi8(layout.point);
  while (batch.row < batch.limit && p < end) {
    const char* const next = parse_row<kWhitespace>(p, layout, point, batch);
    if (next == nullptr) break;
    const double* const xyz = batch.values + batch.row;
    const Vec3d position = layout.frame.apply({xyz[0], xyz[batch.capacity], xyz[2 * batch.capacity]});
    if (!is_finite(position)) break;
    *batch.positions++ = position;
    ++batch.row;
    p = next;
  }
  return p;
}

}  // namespace

PlainRowParser plain_row_parser(TextDelimiter delimiter) {
  if (!has_avx2()) return nullptr;
  return delimiter == TextDelimiter::kWhitespace ? parse_rows<true> : parse_rows<false>;
}

}  // namespace pc::io

#else

namespace pc::io {
PlainRowParser plain_row_parser(TextDelimiter) { return nullptr; }
}  // namespace pc::io

#endif
