#include "ops/ground/mirror_columns.h"

#include <algorithm>
#include <bit>

namespace pc {

namespace {

constexpr std::size_t kStrays = 20;     // points that may lie below all levels
constexpr std::uint32_t kApart = 3;     // levels: how far images begin from the mirror
constexpr std::uint32_t kFewest = 100;  // voxels below a mirror
constexpr double kMatched = 0.75, kBeyondChance = 0.2;
constexpr std::size_t kStride = 1103;  // from column to column: no common factor with their number
constexpr std::uint32_t kFewestOfSample = 32;
constexpr double kMatchedOfSample = 0.4;
constexpr std::size_t kBeside = 5;  // columns: 1 m
constexpr std::size_t kAround = 2;  // columns: 0.5 m with the column itself
constexpr double kLike = 0.02;
constexpr double kImages = 0.6;
constexpr std::uint32_t kRim = 5;  // levels

/// Bits of word `at` of a column shifted down by `shift` bits (up where negative); bits from outside are 0.
std::uint64_t shifted(const std::uint64_t* column, std::size_t words, std::size_t at, std::int64_t shift) {
  const std::int64_t first = static_cast<std::int64_t>(64 * at) + shift;
  const std::int64_t word = first >= 0 ? first / 64 : -((63 - first) / 64);
  const auto bit = static_cast<unsigned>(first - 64 * word);
  const auto count = static_cast<std::int64_t>(words);
  const std::uint64_t low = word >= 0 && word < count ? column[word] : 0;
  const std::uint64_t high = word + 1 >= 0 && word + 1 < count ? column[word + 1] : 0;
  return bit == 0 ? low : low >> bit | high << (64 - bit);
}

/// Bits of word `at` that belong to levels [from, to).
std::uint64_t window(std::size_t at, std::int64_t from, std::int64_t to) {
  const auto begin = static_cast<std::int64_t>(64 * at);
  const std::int64_t low = std::clamp<std::int64_t>(from - begin, 0, 64),
                     high = std::clamp<std::int64_t>(to - begin, 0, 64);
  const auto up_to = [](std::int64_t n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; };
  return up_to(high) & ~up_to(low);
}

std::uint64_t reversed(std::uint64_t bits) {
  const auto swap = [&](int by, std::uint64_t mask) { bits = (bits >> by & mask) | (bits & mask) << by; };
  swap(1, 0x5555555555555555U);
  swap(2, 0x3333333333333333U);
  swap(4, 0x0f0f0f0f0f0f0f0fU);
  swap(8, 0x00ff00ff00ff00ffU);
  swap(16, 0x0000ffff0000ffffU);
  return bits >> 32 | bits << 32;
}

}  // namespace

MirrorColumns::MirrorColumns(Span<const MirrorCode> points) {
  if (points.size <= kStrays) return;
  std::vector<std::uint32_t> levels(points.size);
  for (std::size_t i = 0; i < points.size; ++i) levels[i] = points[i] >> 12;
  const auto lowest = levels.begin() + kStrays;
  std::nth_element(levels.begin(), lowest, levels.end());
  base_ = *lowest;
  fill(points);
}

MirrorColumns::MirrorColumns(Span<const MirrorCode> points, std::uint32_t mirror)
    : base_(mirror - std::min(mirror, kLevels / 2)) {
  fill(points);
}

void MirrorColumns::fill(Span<const MirrorCode> points) {
  for (std::size_t i = 0; i < points.size; ++i) {
    const std::uint32_t level = points[i] >> 12;
    if (level >= base_ && level - base_ < kLevels) top_ = std::max(top_, level - base_);
  }
  words_ = top_ / 64 + 1;
  bits_.assign(kColumns * words_, 0);
  for (std::size_t i = 0; i < points.size; ++i) {
    const std::uint32_t level = points[i] >> 12, column = points[i] & 4095U;
    if (level < base_ || level - base_ >= kLevels) continue;
    bits_[column * words_ + (level - base_) / 64] |= std::uint64_t{1} << ((level - base_) % 64);
  }
  reversed_.resize(bits_.size());
  for (std::size_t k = 0; k < kColumns; ++k) {
    const std::size_t column = k * kStride % kColumns;
    const std::uint64_t* from = bits_.data() + column * words_;
    if (std::all_of(from, from + words_, [](std::uint64_t bits) { return bits == 0; })) continue;
    occupied_.push_back(static_cast<std::uint32_t>(column));
    for (std::size_t word = 0; word < words_; ++word)
      reversed_[column * words_ + words_ - 1 - word] =
          reversed(from[word] | shifted(from, words_, word, 1) | shifted(from, words_, word, -1));
  }
}

MirrorColumns::Shift MirrorColumns::shift_of(std::uint32_t level) const {
  // Level k has its image at 2 level - 1 - k, which is bit k + 64 words - 2 level of the reversed column.
  return {static_cast<std::int64_t>(64 * words_) - 2 * static_cast<std::int64_t>(level),
          2 * static_cast<std::int64_t>(level) - 1 - top_};
}

MirrorColumns::Counts MirrorColumns::match(std::size_t column, std::uint32_t level, std::uint32_t cut) const {
  const Shift shift = shift_of(level);
  Counts counts;
  for (std::size_t k = 0; 64 * k < cut; ++k) {
    const std::uint64_t low = bits_[column * words_ + k] & window(k, shift.lowest, cut);
    if (low == 0) continue;
    counts.low += static_cast<std::uint32_t>(std::popcount(low));
    counts.matched += static_cast<std::uint32_t>(std::popcount(low & image(column, k, shift)));
  }
  return counts;
}

std::uint64_t MirrorColumns::image(std::size_t column, std::size_t word, const Shift& shift) const {
  return shifted(reversed_.data() + column * words_, words_, word, shift.bits);
}

bool MirrorColumns::is_apart(std::size_t column, std::uint32_t level) const {
  return !has(column, level - 3) && !has(column, level - 2) && !has(column, level + 1) &&
         !has(column, level + 2);
}

bool MirrorColumns::may_mirror(std::uint32_t level) const {
  Counts sum;
  for (const std::uint32_t column : occupied_) {
    if (!is_apart(column, level)) continue;
    const Counts own = match(column, level, level - kApart);
    sum.low += own.low;
    sum.matched += own.matched;
    if (sum.low >= kFewestOfSample && sum.matched < kMatchedOfSample * sum.low) return false;
  }
  return sum.low >= kFewest && sum.matched >= kMatched * sum.low;
}

std::optional<MirrorVerdict> MirrorColumns::judge(std::uint32_t level) const {
  const Shift shift = shift_of(level);
  Counts here;
  std::array<Counts, 4> beside{};
  for (std::size_t j = 0; j < kSide; ++j) {
    for (std::size_t i = 0; i < kSide; ++i) {
      const std::size_t column = j * kSide + i;
      if (!is_apart(column, level)) continue;
      const std::array<std::optional<std::size_t>, 4> around{
          i >= kBeside ? std::optional{column - kBeside} : std::nullopt,
          i + kBeside < kSide ? std::optional{column + kBeside} : std::nullopt,
          j >= kBeside ? std::optional{column - kBeside * kSide} : std::nullopt,
          j + kBeside < kSide ? std::optional{column + kBeside * kSide} : std::nullopt};
      for (std::size_t k = 0; 64 * k < level - kApart; ++k) {
        const std::uint64_t low = bits_[column * words_ + k] & window(k, shift.lowest, level - kApart);
        if (low == 0) continue;
        const std::uint64_t matched = low & image(column, k, shift);
        std::array<std::uint64_t, 4> others{};
        std::uint64_t everywhere = matched;
        for (std::size_t n = 0; n < 4; ++n) {
          if (!around[n]) continue;
          others[n] = low & image(*around[n], k, shift);
          everywhere &= others[n];
        }
        const auto count = [&](std::uint64_t bits) {
          return static_cast<std::uint32_t>(std::popcount(bits & ~everywhere));
        };
        here.low += count(low);
        here.matched += count(matched);
        for (std::size_t n = 0; n < 4; ++n) {
          if (!around[n]) continue;
          beside[n].low += count(low);
          beside[n].matched += count(others[n]);
        }
      }
    }
  }
  if (here.low < kFewest || here.matched < kMatched * here.low) return std::nullopt;
  MirrorVerdict verdict{.level = level,
                        .voxels = here.low,
                        .matched = here.matched / static_cast<double>(here.low),
                        .chance = 0};
  for (const Counts& one : beside)
    if (one.low > 0) verdict.chance = std::max(verdict.chance, static_cast<double>(one.matched) / one.low);
  if (verdict.matched - verdict.chance < kBeyondChance) return std::nullopt;
  return verdict;
}

void MirrorColumns::look_for_rim(MirrorVerdict& verdict) const {
  const std::uint32_t level = verdict.level;
  const Shift shift = shift_of(level);
  for (std::size_t column = 0; column < kColumns; ++column) {
    for (std::size_t k = 0; k < words_; ++k) {
      const std::uint64_t images = image(column, k, shift) & window(k, 0, level);
      const std::uint64_t left = bits_[column * words_ + k] & ~images;
      if (left == 0) continue;
      const auto lowest =
          static_cast<std::uint32_t>(64 * k) + static_cast<std::uint32_t>(std::countr_zero(left));
      verdict.sunk += lowest + kApart < level;
      verdict.rim += lowest + 1 >= level && lowest < level + kRim;
      break;
    }
  }
}

std::optional<MirrorVerdict> MirrorColumns::verdict() const {
  std::vector<MirrorVerdict> found;
  std::size_t best = 0;
  const auto lead = [](const MirrorVerdict& one) { return one.matched - one.chance; };
  for (std::uint32_t level = kApart + 1; level + kApart < top_; ++level) {
    if (!may_mirror(level)) continue;
    const auto one = judge(level);
    if (!one) continue;
    found.push_back(*one);
    if (lead(*one) > lead(found[best])) best = found.size() - 1;
  }
  if (found.empty()) return std::nullopt;
  // As a voxel may be one level off, up to three levels match alike: the mirror is the middle one.
  std::size_t from = best, to = best;
  const auto is_like = [&](std::size_t k) { return found[k].matched >= found[best].matched - kLike; };
  while (from > 0 && found[from - 1].level + 1 == found[from].level && is_like(from - 1)) --from;
  while (to + 1 < found.size() && found[to].level + 1 == found[to + 1].level && is_like(to + 1)) ++to;
  MirrorVerdict verdict = found[(from + to) / 2];
  look_for_rim(verdict);
  return verdict;
}

MirrorColumns::Counts MirrorColumns::lower(std::uint32_t level) const {
  Counts sum;
  if (level < 2 || level > top_) return sum;
  for (std::size_t column = 0; column < kColumns; ++column) {
    const Counts own = match(column, level, level - 1);
    sum.low += own.low;
    sum.matched += own.matched;
  }
  return sum;
}

std::vector<std::uint64_t> MirrorColumns::images(std::uint32_t level) const {
  if (level <= kApart || level + kApart > top_) return {};
  const std::uint32_t cut = level - 1;
  std::vector<Counts> counts(kColumns);
  for (std::size_t column = 0; column < kColumns; ++column)
    if (is_apart(column, level)) counts[column] = match(column, level, cut);
  std::vector<std::uint64_t> out;
  for (std::size_t j = 0; j < kSide; ++j) {
    for (std::size_t i = 0; i < kSide; ++i) {
      const std::size_t column = j * kSide + i;
      if (counts[column].low == 0) continue;
      Counts sum;
      for (std::size_t y = j - std::min(j, kAround); y <= std::min(kSide - 1, j + kAround); ++y) {
        for (std::size_t x = i - std::min(i, kAround); x <= std::min(kSide - 1, i + kAround); ++x) {
          sum.low += counts[y * kSide + x].low;
          sum.matched += counts[y * kSide + x].matched;
        }
      }
      if (sum.matched < kImages * sum.low) continue;
      out.resize(kColumns * words_);
      for (std::size_t k = 0; k < words_; ++k)
        out[column * words_ + k] = bits_[column * words_ + k] & window(k, 0, cut);
    }
  }
  return out;
}

}  // namespace pc
