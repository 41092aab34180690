#include "ops/trees/layer_motion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/linear_solve.h"
#include "ops/trees/binomial_tail.h"

namespace pc {

namespace {

constexpr double kAgreeM = 0.004, kAgreePart = 0.1;
constexpr double kLeastBetween = 3;  // metres
constexpr double kMostTurn = 3 * std::numbers::pi / 180;
constexpr std::size_t kMostTried = 1000, kMostPairs = 4000, kFewest = 4;
constexpr double kSure = -3;     // decimal logarithm
constexpr double kAsLong = 0.5;  // of any layers: as far apart as these, at most
constexpr int kRefined = 3;

double length(const Vec2d& v) { return std::hypot(v.x, v.y); }
Vec2d times(double f, const Vec2d& v) { return {f * v.x, f * v.y}; }
Vec2d less(const Vec2d& a, const Vec2d& b) { return {a.x - b.x, a.y - b.y}; }
double agreement(const Vec2d& expected) { return std::max(kAgreeM, kAgreePart * length(expected)); }

class Motions {
 public:
  Motions(Span<const PlacedLayers> stems, OpContext& ctx) : stems_(stems), ctx_(ctx) {
    for (const PlacedLayers& stem : stems) middle_ = {middle_.x + stem.at.x, middle_.y + stem.at.y};
    middle_ = times(1 / static_cast<double>(stems.size), middle_);
    for (std::size_t i = 0; i < stems.size; i += stems.size / (kMostTried + 1) + 1) few_.push_back(stems[i]);
  }

  std::optional<LayerMotion> run() {
    for (const PlacedLayers& stem : few_) try_motion({middle_, stem.apart, 0, 0, 0}, 1);
    // Pairs that step through all of them evenly.
    const std::size_t n = few_.size(), step = n * (n - 1) / 2 / kMostPairs + 1;
    std::size_t number = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (number++ % step == 0) try_pair(few_[i], few_[j]);
    best_.stems = 0;  // of all
    for (int round = 0; round < kRefined; ++round) refine();
    if (best_.stems < kFewest || chance() > kSure) return std::nullopt;
    best_.of = static_cast<std::uint32_t>(stems_.size);
    if (best_.apart.x < 0 || (best_.apart.x == 0 && best_.apart.y < 0)) {
      best_.apart = times(-1, best_.apart);
      best_.turn = -best_.turn;
    }
    return best_;
  }

 private:
  /// What is left of a stem's layers, the way round that fits better.
  static Vec2d rest(const LayerMotion& motion, const PlacedLayers& stem) {
    const Vec2d expected = motion.at(stem.at);
    const Vec2d one = less(stem.apart, expected), other = less(times(-1, stem.apart), expected);
    return length(one) <= length(other) ? one : other;
  }
  static bool agrees(const LayerMotion& motion, const PlacedLayers& stem) {
    return length(rest(motion, stem)) <= agreement(motion.at(stem.at));
  }

  void try_motion(LayerMotion motion, std::size_t defining) {
    ctx_.checkpoint();
    ++tried_;
    for (const PlacedLayers& stem : few_) motion.stems += agrees(motion, stem) ? 1 : 0;
    // A turn must explain more than the two stems that define it.
    if (motion.stems <= best_.stems + (defining - 1) - (defining_ - 1)) return;
    best_ = motion;
    defining_ = defining;
  }

  void try_pair(const PlacedLayers& a, const PlacedLayers& b) {
    const Vec2d between = less(b.at, a.at);
    const double square = between.x * between.x + between.y * between.y;
    if (square < kLeastBetween * kLeastBetween) return;
    for (const double side : {1.0, -1.0}) {
      const Vec2d change = less(times(side, b.apart), a.apart);
      const double turn = (between.x * change.y - between.y * change.x) / square;
      if (std::abs(turn) > kMostTurn) continue;
      const LayerMotion at_a{a.at, a.apart, turn, 0, 0};
      try_motion({middle_, at_a.at(middle_), turn, 0, 0}, 2);
    }
  }

  /// Least squares of the stems that agree, about their middle.
  void refine() {
    std::vector<PlacedLayers> on;
    for (const PlacedLayers& stem : stems_) {
      if (!agrees(best_, stem)) continue;
      const Vec2d expected = best_.at(stem.at), off = rest(best_, stem);
      on.push_back({stem.at, {expected.x + off.x, expected.y + off.y}});
    }
    if (on.empty()) return;
    const auto n = static_cast<double>(on.size());
    Vec2d middle{0, 0}, apart{0, 0};
    for (const PlacedLayers& stem : on) {
      middle = {middle.x + stem.at.x / n, middle.y + stem.at.y / n};
      apart = {apart.x + stem.apart.x / n, apart.y + stem.apart.y / n};
    }
    double turned = 0, square = 0;
    for (const PlacedLayers& stem : on) {
      const Vec2d from = less(stem.at, middle);
      turned += from.x * stem.apart.y - from.y * stem.apart.x;
      square += from.x * from.x + from.y * from.y;
    }
    const double turn = defining_ == 2 && square > 0 ? turned / square : 0;
    LayerMotion next{middle, apart, turn, 0, 0};
    for (const PlacedLayers& stem : stems_) next.stems += agrees(next, stem) ? 1 : 0;
    if (next.stems >= best_.stems) best_ = next;
  }

  /// Decimal logarithm of the number of lists in which chance makes as many agree.
  double chance() const {
    double p = 0;
    std::size_t on = 0;
    for (const PlacedLayers& stem : stems_) {
      if (!agrees(best_, stem)) continue;
      const Vec2d expected = best_.at(stem.at);
      const double ratio = std::min(1.0, agreement(expected) / length(expected));
      p += kAsLong * 2 * std::asin(ratio) / std::numbers::pi;
      ++on;
    }
    p = std::min(1.0, p / static_cast<double>(on));
    const auto left = static_cast<double>(stems_.size - defining_);
    return log_binomial_tail(left, static_cast<double>(on - defining_), p) +
           std::log10(static_cast<double>(tried_));
  }

  Span<const PlacedLayers> stems_;
  OpContext& ctx_;
  std::vector<PlacedLayers> few_;  ///< an even choice
  Vec2d middle_{0, 0};
  LayerMotion best_{};
  std::size_t defining_ = 1, tried_ = 0;
};

}  // namespace

std::optional<LayerMotion> layer_motion(Span<const PlacedLayers> stems, OpContext& ctx) {
  if (stems.size < kFewest) return std::nullopt;
  return Motions(stems, ctx).run();
}

}  // namespace pc
