#include "ops/ground/square_sample.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <optional>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr double kFarthest = 1e11;
constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::size_t kFewestOfSquare = 50, kMostSquares = std::size_t{1} << 18;
constexpr double kMostPoints = 2.5e6, kMostOfSquare = 2e5;

/// A square and the part of its points that is taken.
struct Choice {
  std::size_t place;
  double part;
};

std::vector<std::pair<Square, std::size_t>> by_chance(const SquareCounts& counts) {
  std::vector<std::pair<Square, std::size_t>> out;
  for (const auto& [square, count] : counts.counts())
    if (count >= kFewestOfSquare) out.emplace_back(square, count);
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    const std::size_t one = SquareHash{}(a.first), other = SquareHash{}(b.first);
    return one != other ? one < other : a.first < b.first;
  });
  return out;
}

class Sampler {
 public:
  Sampler(Span<const Vec3d> positions, Span<const std::uint8_t> skip, OpContext& ctx)
      : positions_(positions), skip_(skip), ctx_(ctx) {}

  SquareSample sample() {
    choose();
    std::vector<std::atomic<std::size_t>> taken(out_.squares.size());
    for_taken([&](std::size_t place, std::size_t) { taken[place].fetch_add(1, std::memory_order_relaxed); });
    for (std::size_t k = 0; k < taken.size(); ++k) {
      out_.first.push_back(out_.first.back() + taken[k]);
      taken[k] = out_.first[k];
    }
    out_.points.resize(out_.first.back());
    out_.rows.resize(out_.first.back());
    for_taken([&](std::size_t place, std::size_t i) {
      const std::size_t at = taken[place].fetch_add(1, std::memory_order_relaxed);
      out_.points[at] = positions_[i];
      out_.rows[at] = i;
    });
    return std::move(out_);
  }

 private:
  std::optional<Square> square_at(std::size_t i) const {
    if (!skip_.empty() && skip_[i] != 0) return std::nullopt;
    const Vec3d& p = positions_[i];
    for (const double v : {p.x, p.y, p.z})
      if (!(std::abs(v) <= kFarthest)) return std::nullopt;
    return Square{static_cast<std::int64_t>(std::floor(p.x / kSquareSide)),
                  static_cast<std::int64_t>(std::floor(p.y / kSquareSide))};
  }

  SquareCounts counts() const {
    std::vector<SquareCounts> counts(static_cast<std::size_t>(ctx_.threads()), SquareCounts(kMostSquares));
    parallel_for_worker(ctx_, positions_.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
      SquareCounts& own = counts[static_cast<std::size_t>(worker)];
      std::optional<Square> last;
      std::size_t* count = nullptr;
      for (std::size_t i = begin; i < end; ++i) {
        const auto square = square_at(i);
        if (!square) continue;
        if (square != last) count = own.find(*square);
        last = square;
        if (count) ++*count;
      }
    });
    for (std::size_t k = 1; k < counts.size(); ++k) counts[0].add(counts[k]);
    return std::move(counts[0]);
  }

  void choose() {
    double sum = 0;
    for (const auto& [square, count] : by_chance(counts())) {
      const auto n = static_cast<double>(count);
      if (sum + std::min(n, kMostOfSquare) > kMostPoints) break;
      sum += std::min(n, kMostOfSquare);
      choices_.emplace(square, Choice{out_.squares.size(), std::min(1.0, kMostOfSquare / n)});
      out_.squares.push_back(square);
    }
  }

  /// Calls body(place of the square, row), from several threads.
  template <class Body>
  void for_taken(Body&& body) {
    parallel_for(ctx_, positions_.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto square = square_at(i);
        if (!square) continue;
        const auto found = choices_.find(*square);
        if (found == choices_.end()) continue;
        if (found->second.part < 1 && chance_of(positions_[i]) >= found->second.part) continue;
        body(found->second.place, i);
      }
    });
  }

  Span<const Vec3d> positions_;
  Span<const std::uint8_t> skip_;
  OpContext& ctx_;
  std::unordered_map<Square, Choice, SquareHash> choices_;
  SquareSample out_;
};

}  // namespace

double chance_of(const Vec3d& p) {
  std::uint64_t h = 0;
  for (const double v : {p.x, p.y, p.z}) h = random_u64(h, std::bit_cast<std::uint64_t>(v));
  return random_unit(h, 0);
}

std::size_t* SquareCounts::find(const Square& square) {
  if (is_left_out(square)) return nullptr;
  const auto [found, is_new] = counts_.try_emplace(square, 0);
  if (!is_new || counts_.size() <= most_) return &found->second;
  halve();
  return is_left_out(square) ? nullptr : &counts_.at(square);
}

void SquareCounts::add(const SquareCounts& other) {
  while (halvings_ < other.halvings_) halve();
  for (const auto& [square, count] : other.counts_)
    if (std::size_t* own = find(square)) *own += count;
}

void SquareCounts::halve() {
  do {
    ++halvings_;
    std::erase_if(counts_, [&](const auto& one) { return is_left_out(one.first); });
  } while (counts_.size() > most_);
}

SquareSample square_sample(Span<const Vec3d> positions, Span<const std::uint8_t> skip, OpContext& ctx) {
  return Sampler(positions, skip, ctx).sample();
}

}  // namespace pc
