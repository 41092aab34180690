#include "ops/misses/pulse_clock.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "core/random.h"

namespace pc {

namespace {

constexpr std::size_t kPoll = std::size_t{1} << 15;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kLeastPulses = 20;
constexpr std::size_t kMostSlopes = 2'000'000;            // a median of more would delay a cancel
constexpr double kSharp = 0.02, kMostScatter = 0.5;       // steps
constexpr std::int64_t kStretch = std::int64_t{1} << 22;  // pulses, with a return or without: 32 MB
constexpr std::int64_t kMostReturning = 20'000;
constexpr std::uint64_t kDraws = 1'000;
constexpr double kAsGood = 1.3;
constexpr std::int64_t kMostPerLine = std::int64_t{1} << 22;  // 100 MB

double median(std::vector<double> values) {
  if (values.empty()) return kNone;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// One of `stride` pulses at random: those an equal number apart could all have one place in their lines.
bool in_sample(std::size_t k, std::size_t stride) { return random_u64(1, k) % stride == 0; }

class Clock {
 public:
  Clock(const TimedReturns& returns, double theta_min, double theta_max, OpContext& ctx)
      : in_(returns), theta_min_(theta_min), theta_max_(theta_max), ctx_(ctx) {}

  ClockedRaster read() {
    require(in_.times_s.size == in_.positions.size, "one time per return is needed");
    require(is_finite(in_.origin) && is_finite(in_.up), "the origin and the axis of the scan must be finite");
    require(theta_min_ < theta_max_, "theta_min must be below theta_max");
    ctx_.begin_phase("Reading the pulse clock", 0);
    gather_pulses();
    find_period();
    find_lines();
    return cells();
  }

 private:
  struct Pulse {
    double time, zenith;
    std::int64_t number;
  };

  /// One pulse per time, in order; the first return tells its zenith.
  void gather_pulses() {
    BulkVector<std::uint64_t> keys(in_.times_s.size);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i % kPoll == 0) ctx_.checkpoint();
      require(std::isfinite(in_.times_s[i]), "a time stamp is not a finite number");
      keys[i] = ordered_bits(in_.times_s[i] + 0.0);
    }
    const BulkVector<std::uint32_t> order = radix_sort_order(keys.view(), 64, ctx_);
    pulse_of_.resize(keys.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k % kPoll == 0) ctx_.checkpoint();
      const std::uint32_t i = order[k];
      if (pulses_.empty() || pulses_.back().time != in_.times_s[i]) {
        const Vec3d v = in_.positions[i] - in_.origin;
        const Vec3d aside = cross(in_.up, v);
        pulses_.push_back({in_.times_s[i], std::atan2(std::sqrt(dot(aside, aside)), dot(in_.up, v)), 0});
      }
      pulse_of_[i] = static_cast<std::uint32_t>(pulses_.size() - 1);
    }
    require(pulses_.size() >= kLeastPulses, "too few distinct time stamps to find the pulse period");
  }

  double step(std::size_t k) const { return pulses_[k].time - pulses_[k - 1].time; }
  std::int64_t steps(std::size_t k) const {
    return static_cast<std::int64_t>(std::llround(step(k) / period_));
  }

  /// Mean length of a pulse in the differences of up to `most` periods.
  double mean_period(double most) const {
    double time = 0, count = 0;
    for (std::size_t k = 1; k < pulses_.size(); ++k) {
      if (k % kPoll == 0) ctx_.checkpoint();
      if (step(k) >= (most + 0.5) * period_) continue;
      time += step(k);
      count += std::max(1.0, std::round(step(k) / period_));
    }
    return count > 0 ? time / count : period_;
  }

  void find_period() {
    std::vector<double> differences;
    const std::size_t stride = std::max<std::size_t>(1, pulses_.size() / 200'000);
    for (std::size_t k = 1; k < pulses_.size(); k += stride) differences.push_back(step(k));
    const auto low = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 100);
    std::nth_element(differences.begin(), low, differences.end());
    period_ = *low;
    for (int round = 0; round < 8; ++round) period_ = mean_period(1);
    for (const double most : {4.0, 16.0, 64.0}) period_ = mean_period(most);
    number_pulses();
    period_ = static_cast<double>(pulses_.back().time - pulses_[0].time) /
              static_cast<double>(pulses_.back().number - pulses_[0].number);
    number_pulses();
  }

  void number_pulses() {
    require((pulses_.back().time - pulses_[0].time) / period_ < 1e15,
            "the time stamps span more pulses than can be counted");
    std::size_t irregular = 0;
    for (std::size_t k = 1; k < pulses_.size(); ++k) {
      if (k % kPoll == 0) ctx_.checkpoint();
      const std::int64_t count = std::max<std::int64_t>(1, steps(k));
      irregular += std::fabs(step(k) / period_ - static_cast<double>(count)) > 0.35 ? 1 : 0;
      pulses_[k].number = pulses_[k - 1].number + count;
    }
    require(10 * irregular < pulses_.size(), "the time stamps do not fit a constant pulse period");
  }

  /// Pulses per line, and the direction of the sweep.
  void find_lines() {
    std::vector<double> slopes;
    const std::size_t stride = std::max<std::size_t>(1, pulses_.size() / kMostSlopes);
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (std::size_t k = 1; k < pulses_.size(); ++k) {
      if (k % kPoll == 0) ctx_.checkpoint();
      least = std::min(least, pulses_[k].zenith);
      most = std::max(most, pulses_[k].zenith);
      const auto count = pulses_[k].number - pulses_[k - 1].number;
      if (count <= 4 && in_sample(k, stride))
        slopes.push_back((pulses_[k].zenith - pulses_[k - 1].zenith) / static_cast<double>(count));
    }
    slope_ = median(slopes);
    require(std::fabs(slope_) > 1e-9,
            "the zenith does not change from pulse to pulse: the scan has no lines in zenith");
    const double span = (most - least) / std::fabs(slope_);
    std::vector<double> lines, line;
    for (std::size_t k = 0; k < pulses_.size(); ++k) {
      if (k % kPoll == 0) ctx_.checkpoint();
      const Pulse& pulse = pulses_[k];
      const double phase = static_cast<double>(pulse.number) - pulse.zenith / slope_;
      if (!line.empty() && phase - line.back() > span / 2) {
        lines.push_back(median(line));
        line.clear();
      }
      line.push_back(phase);
    }
    lines.push_back(median(line));
    per_line_ = spaced(lines);
    const std::int64_t by_lines = per_line_;
    double scattered = by_lines >= 2 ? scatter() : HUGE_VAL;
    if (scattered > kSharp) {
      per_line_ = returning();
      const double returned = per_line_ >= 2 ? scatter() : HUGE_VAL;
      if (returned > kAsGood * scattered) per_line_ = by_lines;
      scattered = std::min(scattered, returned);
    }
    require(per_line_ >= 2, "the lines of the scan are not a whole number of pulses apart");
    require(scattered <= kMostScatter,
            "the lines of the scan do not repeat: half of the points are more than half a step in zenith "
            "from the "
            "others at their place of the line. Check the origin or the trajectory of the scan");
  }

  /// Pulses from line to line; 0 if that is no whole number.
  static std::int64_t spaced(const std::vector<double>& lines) {
    std::vector<double> differences, shares;
    for (std::size_t l = 1; l < lines.size(); ++l) differences.push_back(lines[l] - lines[l - 1]);
    require(differences.size() >= 2, "fewer than three lines were found in the scan");
    const double typical = median(differences);
    for (const double difference : differences)
      shares.push_back(difference / std::max(1.0, std::round(difference / typical)));
    const double per_line = median(shares);
    const auto whole = static_cast<std::int64_t>(std::llround(per_line));
    return whole >= 2 && whole < kMostPerLine && std::fabs(per_line - static_cast<double>(whole)) < 0.3
               ? whole
               : 0;
  }

  /// Median distance of a pulse in zenith from the others at its place of the line, in steps.
  double scatter() const {
    const std::vector<double> zenith = zenith_by_residue();
    std::vector<double> off;
    const std::size_t stride = std::max<std::size_t>(1, pulses_.size() / 200'000);
    for (std::size_t k = 0; k < pulses_.size(); k += stride) {
      const double middle = zenith[static_cast<std::size_t>(residue(pulses_[k], 0))];
      if (middle == middle) off.push_back(std::fabs(pulses_[k].zenith - middle) / std::fabs(slope_));
    }
    return median(off);
  }

  /// The least number of pulses after which the zenith comes back, within a long stretch of the scan; 0 if it does not. Points
  /// near a scanner whose ranges or places have noise scatter in zenith so much that lines run into each other.
  std::int64_t returning() const {
    const std::int64_t middle = pulses_[pulses_.size() / 2].number;
    const auto place_of = [&](std::int64_t number) {
      const auto found =
          std::lower_bound(pulses_.begin(), pulses_.end(), number,
                           [](const Pulse& pulse, std::int64_t wanted) { return pulse.number < wanted; });
      return static_cast<std::size_t>(found - pulses_.begin());
    };
    const std::size_t begin = place_of(middle - kStretch / 2), end = place_of(middle + kStretch / 2);
    const std::int64_t first = pulses_[begin].number, count = pulses_[end - 1].number - first + 1;
    std::vector<double> zenith(static_cast<std::size_t>(count), kNone);
    for (std::size_t k = begin; k < end; ++k)
      zenith[static_cast<std::size_t>(pulses_[k].number - first)] = pulses_[k].zenith;
    const std::int64_t longest = std::min(kMostReturning, count / 3);
    std::vector<double> change(static_cast<std::size_t>(longest + 1), kNone), changes;
    double least = HUGE_VAL;
    for (std::int64_t lag = 2; lag <= longest; ++lag) {
      ctx_.checkpoint();
      changes.clear();
      for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
        const Pulse& pulse = pulses_[begin + random_u64(2, draw) % (end - begin)];
        const std::int64_t after = pulse.number + lag - first;
        if (after >= count) continue;
        const double difference = zenith[static_cast<std::size_t>(after)] - pulse.zenith;
        if (difference == difference) changes.push_back(std::fabs(difference));
      }
      if (changes.size() < kLeastPulses) continue;
      change[static_cast<std::size_t>(lag)] = median(changes);
      least = std::min(least, change[static_cast<std::size_t>(lag)]);
    }
    if (!(least <= kMostScatter * std::fabs(slope_))) return 0;
    for (std::int64_t lag = 2; lag <= longest; ++lag)
      if (change[static_cast<std::size_t>(lag)] <= kAsGood * least) return lag;
    return 0;
  }

  std::int64_t residue(const Pulse& pulse, std::int64_t from) const {
    const std::int64_t r = (pulse.number - from) % per_line_;
    return r < 0 ? r + per_line_ : r;
  }

  /// Median zenith of the pulses at each place of a line; NaN without returns.
  std::vector<double> zenith_by_residue() const {
    require(per_line_ < kMostPerLine, "a line has too many pulses");
    std::vector<std::vector<double>> values(static_cast<std::size_t>(per_line_));
    const std::size_t stride = std::max<std::size_t>(1, pulses_.size() / 4'000'000);
    for (std::size_t k = 0; k < pulses_.size(); ++k) {
      if (k % kPoll == 0) ctx_.checkpoint();
      if (!in_sample(k, stride)) continue;
      values[static_cast<std::size_t>(residue(pulses_[k], 0))].push_back(pulses_[k].zenith);
    }
    std::vector<double> out;
    for (const std::vector<double>& of : values) out.push_back(median(of));
    return out;
  }

  /// The place of a line where it begins: behind the largest jump against the sweep.
  static std::size_t first_residue(const std::vector<double>& zenith, double slope) {
    std::size_t best = 0, last = zenith.size();
    for (std::size_t r = 0; r < zenith.size(); ++r)
      if (zenith[r] == zenith[r]) last = r;  // the one before residue 0, on the circle
    double jump = -std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < zenith.size(); ++r) {
      if (zenith[r] != zenith[r]) continue;
      const double back = (zenith[last] - zenith[r]) * (slope > 0 ? 1 : -1);
      if (back > jump) {
        jump = back;
        best = r;
      }
      last = r;
    }
    return best;
  }

  ClockedRaster cells() {
    const std::vector<double> zenith = zenith_by_residue();
    const std::size_t begin = first_residue(zenith, slope_), n = zenith.size();
    std::size_t used = 0;
    for (std::size_t r = 0; r < n; ++r)
      if (zenith[(begin + r) % n] == zenith[(begin + r) % n]) used = r + 1;
    const double first = zenith[begin], last = zenith[(begin + used - 1) % n], step = std::fabs(slope_);
    const auto rows_up_to = [&](double limit, double from, bool up) {
      return static_cast<std::size_t>(
          std::max(0.0, std::floor((up ? limit - from : from - limit) / step + 0.25)));
    };
    const bool up = slope_ > 0;
    const std::size_t after = std::min(n - used, rows_up_to(up ? theta_max_ : theta_min_, last, up));
    const std::size_t before =
        std::min(n - used - after, rows_up_to(up ? theta_min_ : theta_max_, first, !up));
    const std::int64_t from = static_cast<std::int64_t>(begin) - static_cast<std::int64_t>(before);
    std::int64_t first_line = std::numeric_limits<std::int64_t>::max(), last_line = 0;
    const auto line_of = [&](const Pulse& pulse) {
      return (pulse.number - from - residue(pulse, from)) / per_line_;
    };
    first_line = line_of(pulses_[0]), last_line = line_of(pulses_.back());
    ClockedRaster out{};
    out.rows = static_cast<std::uint32_t>(before + used + after);
    require(last_line - first_line + 1 < (std::int64_t{1} << 32) / out.rows,
            "the time stamps span 2^32 pulses or more");
    out.columns = static_cast<std::uint32_t>(last_line - first_line + 1);
    out.pulses_per_line = static_cast<std::uint32_t>(per_line_);
    out.period_s = period_;
    out.start_s = pulses_[0].time + period_ * static_cast<double>(from + first_line * per_line_);
    out.cells.resize(pulse_of_.size());
    for (std::size_t i = 0; i < pulse_of_.size(); ++i) {
      if (i % kPoll == 0) ctx_.checkpoint();
      const Pulse& pulse = pulses_[pulse_of_[i]];
      out.cells[i] = {static_cast<std::uint32_t>(residue(pulse, from)),
                      static_cast<std::uint32_t>(line_of(pulse) - first_line)};
    }
    return out;
  }

  const TimedReturns& in_;
  double theta_min_, theta_max_;
  OpContext& ctx_;
  BulkVector<std::uint32_t> pulse_of_;
  BulkVector<Pulse> pulses_;
  double period_ = 0, slope_ = 0;
  std::int64_t per_line_ = 0;
};

}  // namespace

ClockedRaster clocked_raster(const TimedReturns& returns, double theta_min_rad, double theta_max_rad,
                             OpContext& ctx) {
  return Clock(returns, theta_min_rad, theta_max_rad, ctx).read();
}

}  // namespace pc
