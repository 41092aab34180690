#include "ops/misses/clock_check.h"

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/memory.h"
#include "core/radix_sort.h"
#include "core/random.h"

namespace pc {

namespace {

constexpr std::size_t kPoll = std::size_t{1} << 15;
constexpr std::uint64_t kSample = 1'000'000;
constexpr std::size_t kMostReturns = 15;
constexpr double kMostSplitShare = 0.01;

class Check {
 public:
  Check(const TimedRows& rows, double most_angle, OpContext& ctx)
      : in_(rows), most_chord_(2 * std::sin(std::fmin(most_angle, 3) / 2)), ctx_(ctx) {}

  PulseClock run() {
    if (const PulseClock plain = look(); plain != PulseClock::kUsable) return plain;
    sample();
    return groups();
  }

 private:
  bool is_return(std::size_t i) const { return in_.skip.empty() || in_.skip[i] == 0; }

  PulseClock look() {
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (std::size_t i = 0; i < in_.times_s.size; ++i) {
      if (i % kPoll == 0) ctx_.checkpoint();
      if (!is_return(i)) continue;
      if (!std::isfinite(in_.times_s[i])) return PulseClock::kUntimed;
      least = std::fmin(least, in_.times_s[i]);
      most = std::fmax(most, in_.times_s[i]);
      ++count_;
    }
    return least < most ? PulseClock::kUsable : PulseClock::kConstant;
  }

  /// Rows of the times with the smallest hashes: all returns of such a time, or none.
  void sample() {
    const std::uint64_t limit = count_ <= kSample ? ~std::uint64_t{0} : ~std::uint64_t{0} / count_ * kSample;
    for (std::size_t i = 0; i < in_.times_s.size; ++i) {
      if (i % kPoll == 0) ctx_.checkpoint();
      if (!is_return(i)) continue;
      const std::uint64_t key = ordered_bits(in_.times_s[i] + 0.0);
      if (random_u64(1, key) > limit || rows_.size() >= 4 * kSample) continue;
      rows_.push_back(i);
      keys_.push_back(key);
    }
  }

  Vec3d direction(std::size_t i) const {
    const Vec3d v = in_.positions[i] - in_.origin;
    return v * (1 / std::sqrt(dot(v, v)));
  }

  PulseClock groups() {
    const BulkVector<std::uint32_t> order = radix_sort_order(keys_.view(), 64, ctx_);
    std::size_t groups = 0, large = 0, split = 0;
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      ctx_.checkpoint();
      const Vec3d first = direction(rows_[order[begin]]);
      bool apart = false;
      for (end = begin; end < order.size() && keys_[order[end]] == keys_[order[begin]]; ++end) {
        if (end % kPoll == kPoll - 1) ctx_.checkpoint();
        const Vec3d off = direction(rows_[order[end]]) - first;
        apart = apart || dot(off, off) > most_chord_ * most_chord_;
      }
      ++groups;
      large += end - begin > kMostReturns ? 1 : 0;
      split += apart ? 1 : 0;
    }
    const bool rounded =
        2 * large > groups || static_cast<double>(split) > kMostSplitShare * static_cast<double>(groups);
    return rounded ? PulseClock::kRounded : PulseClock::kUsable;
  }

  const TimedRows& in_;
  double most_chord_;
  OpContext& ctx_;
  std::uint64_t count_ = 0;
  BulkVector<std::uint64_t> rows_, keys_;
};

}  // namespace

PulseClock check_pulse_clock(const TimedRows& rows, double most_angle_rad, OpContext& ctx) {
  require(rows.times_s.size == rows.positions.size &&
              (rows.skip.empty() || rows.skip.size == rows.positions.size),
          "one time and one mask entry per point are needed");
  require(most_angle_rad > 0 && is_finite(rows.origin), "the angle must be positive, the origin finite");
  ctx.begin_phase("Checking the time stamps", 0);
  return Check(rows, most_angle_rad, ctx).run();
}

}  // namespace pc
