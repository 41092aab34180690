#include "ops/trees/stem_drift.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "core/linear_solve.h"
#include "core/nth_smallest.h"
#include "ops/trees/view_covariance.h"

namespace pc {

namespace {

constexpr double kKnotTime = 7.5;  // seconds between knots, if they are not too many
constexpr std::size_t kMostKnots = 200;
constexpr std::size_t kPerKnot = 3;  // x, y, turn
constexpr int kRounds = 6;
constexpr double kTukey = 4.685, kLeastScale = 1e-3;

/// The knots of all scans, one after the other.
class Knots {
 public:
  explicit Knots(const std::vector<std::vector<ViewPlace>>& stems) {
    std::map<double, std::pair<double, double>> times;
    for (const auto& places : stems)
      for (const ViewPlace& place : places) {
        const auto [at, is_new] = times.emplace(place.at.scan, std::pair{place.at.time_s, place.at.time_s});
        at->second.first = std::min(at->second.first, place.at.time_s);
        at->second.second = std::max(at->second.second, place.at.time_s);
      }
    double total = 0;
    for (const auto& [scan, range] : times) total += range.second - range.first;
    step_ = std::max(kKnotTime, total / static_cast<double>(kMostKnots));
    for (const auto& [scan, range] : times) {
      const auto count = static_cast<std::size_t>(std::ceil((range.second - range.first) / step_)) + 1;
      scans_[scan] = {size_, count, range.first};
      size_ += count;
    }
  }

  std::size_t size() const { return size_; }

  /// The two knots around a view, the second with that weight.
  struct Around {
    std::size_t first, second;
    double part;
  };
  Around around(const ViewStamp& at) const {
    const Scan& scan = scans_.at(at.scan);
    const double place = (at.time_s - scan.from) / step_;
    const auto first = std::min(scan.count - 1, static_cast<std::size_t>(std::max(0.0, place)));
    if (first + 1 >= scan.count) return {scan.first + first, scan.first + first, 0};
    return {scan.first + first, scan.first + first + 1, place - static_cast<double>(first)};
  }

  /// Calls visit(first knot, count) for each scan.
  template <class Visit>
  void for_each_scan(Visit&& visit) const {
    for (const auto& [number, scan] : scans_) visit(scan.first, scan.count);
  }

  /// values: x, y and turn of each knot.
  std::map<double, std::vector<StemDrift::Knot>> with(const std::vector<double>& values) const {
    std::map<double, std::vector<StemDrift::Knot>> out;
    for (const auto& [number, scan] : scans_)
      for (std::size_t i = 0; i < scan.count; ++i) {
        const double* at = &values[kPerKnot * (scan.first + i)];
        out[number].push_back({scan.from + step_ * static_cast<double>(i), {at[0], at[1]}, at[2]});
      }
    return out;
  }
  double step() const { return step_; }

 private:
  struct Scan {
    std::size_t first, count;
    double from;
  };
  std::map<double, Scan> scans_;
  std::size_t size_ = 0;
  double step_ = kKnotTime;
};

using Triple = std::array<double, 3>;

Triple times(const std::array<double, 9>& m, const Triple& v) {
  Triple out{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) out[i] += m[3 * i + j] * v[j];
  return out;
}

class Fit {
 public:
  Fit(const std::vector<std::vector<ViewPlace>>& stems, const ViewCovariance& covariance,
      const OpContext& ctx)
      : stems_(stems), covariance_(covariance), ctx_(ctx), knots_(stems), values_(kPerKnot * knots_.size()) {
    double count = 0, squares = 0;
    for (const auto& places : stems_) {
      weights_.emplace_back(places.size(), 1.0);
      stands_.push_back({0, 0, 0});
      middle_ = {middle_.x + places.front().center.x, middle_.y + places.front().center.y};
      count += 1;
    }
    middle_ = {middle_.x / count, middle_.y / count};
    for (const auto& places : stems_) {
      const Vec2d from = from_middle(places.front());
      squares += from.x * from.x + from.y * from.y;
    }
    reach_ = std::max(1.0, std::sqrt(squares / count));
  }

  DriftFit run() {
    double rest = 0, scale = 1;
    for (int round = 0; round < kRounds; ++round) {
      solve(scale * scale);
      std::tie(scale, rest) = reweigh();
    }
    center();
    double squares = 0, weight = 0;
    std::vector<double> noise;
    for (std::size_t i = 0; i < stems_.size(); ++i)
      for (std::size_t k = 0; k < stems_[i].size(); ++k) {
        noise.push_back(stems_[i][k].noise_m);
        const Vec2d offset = offset_of(stems_[i][k]);
        squares += weights_[i][k] * (offset.x * offset.x + offset.y * offset.y) / 2;
        weight += weights_[i][k];
      }
    std::vector<double> knots = values_;
    for (std::size_t i = 2; i < knots.size(); i += kPerKnot) knots[i] /= reach_;
    return {StemDrift(middle_, knots_.with(knots)), std::sqrt(squares / std::max(weight, 1e-300)), rest,
            nth_smallest(noise.data(), noise.size(), noise.size() / 2)};
  }

 private:
  /// Change of a place along x and y with a value.
  struct Effect {
    std::size_t value;
    double x, y;
  };

  Vec2d from_middle(const ViewPlace& place) const {
    return {place.center.x - middle_.x, place.center.y - middle_.y};
  }

  /// Those of the two knots around a place; turns are those times reach_.
  std::array<Effect, 2 * kPerKnot> effects_on(const ViewPlace& place) const {
    const Knots::Around around = knots_.around(place.at);
    const Vec2d from = from_middle(place);
    const double a = 1 - around.part, b = around.part, x = from.x / reach_, y = from.y / reach_;
    const std::size_t first = kPerKnot * around.first, second = kPerKnot * around.second;
    return {Effect{first, a, 0}, {first + 1, 0, a},  {first + 2, -a * y, a * x},
            {second, b, 0},      {second + 1, 0, b}, {second + 2, -b * y, b * x}};
  }

  Vec2d offset_of(const ViewPlace& place) const {
    Vec2d out{0, 0};
    for (const Effect& effect : effects_on(place))
      out = {out.x + effect.x * values_[effect.value], out.y + effect.y * values_[effect.value]};
    return out;
  }

  /// Values for the weights; error: how much larger squared errors are than the places say.
  void solve(double error) {
    const std::size_t n = values_.size();
    std::vector<double> matrix(n * n), right(n);
    for (std::size_t i = 0; i < stems_.size(); ++i) {
      ctx_.checkpoint();
      add_stem(i, matrix, right);
    }
    add_prior(error, matrix);
    auto found = solve_positive_definite({{matrix.data(), n * n}, n, n}, {right.data(), n});
    if (!found) return;
    values_ = std::move(*found);
    for (std::size_t i = 0; i < stems_.size(); ++i) set_stand(i);
  }

  /// Of a stem: precision and right side of its own place and radius, with the views where `moved` has them.
  struct Own {
    std::array<double, 9> precision{};
    Triple right{};
  };

  template <class Moved>
  Own own_of(std::size_t i, Moved&& moved) const {
    constexpr double kRadius = 0.05;  // metres by which it may differ from that of the circle
    Own own;
    own.precision[8] = 1 / (kRadius * kRadius);
    const Vec2d first = stems_[i].front().center;
    for (std::size_t k = 0; k < stems_[i].size(); ++k) {
      const ViewPlace& place = stems_[i][k];
      const double w = weights_[i][k];
      const Vec2d by = moved(place);
      const Triple at =
          times(place.precision, {place.center.x - first.x - by.x, place.center.y - first.y - by.y, 0});
      for (std::size_t j = 0; j < 9; ++j) own.precision[j] += w * place.precision[j];
      for (std::size_t j = 0; j < 3; ++j) own.right[j] += w * (place.slope[j] + at[j]);
    }
    return own;
  }

  static std::optional<Triple> solved(const std::array<double, 9>& matrix, const Triple& right) {
    const auto found = solve_positive_definite({{matrix.data(), 9}, 3, 3}, {right.data(), 3});
    if (!found) return std::nullopt;
    return Triple{(*found)[0], (*found)[1], (*found)[2]};
  }

  /// Where a stem stands, from its first place, and its radius, by the offsets.
  void set_stand(std::size_t i) {
    const Own own = own_of(i, [&](const ViewPlace& place) { return offset_of(place); });
    if (const auto found = solved(own.precision, own.right)) stands_[i] = *found;
  }

  /// Adds the places of a stem, whose own place and radius are eliminated.
  void add_stem(std::size_t i, std::vector<double>& matrix, std::vector<double>& right) const {
    const std::size_t n = values_.size();
    const auto& places = stems_[i];
    const Own own = own_of(i, [](const ViewPlace&) { return Vec2d{0, 0}; });
    const auto stand = solved(own.precision, own.right);
    if (!stand) return;
    const Vec2d first = places.front().center;
    std::map<std::size_t, Triple> coupling;  // of a value with the stem's own
    for (std::size_t k = 0; k < places.size(); ++k) {
      const ViewPlace& place = places[k];
      const double w = weights_[i][k];
      const Triple off = times(place.precision, {place.center.x - first.x - (*stand)[0],
                                                 place.center.y - first.y - (*stand)[1], -(*stand)[2]});
      const auto effects = effects_on(place);
      for (const Effect& a : effects) {
        right[a.value] += w * (a.x * (place.slope[0] + off[0]) + a.y * (place.slope[1] + off[1]));
        const Triple with = times(place.precision, {a.x, a.y, 0});
        Triple& sum = coupling[a.value];
        for (std::size_t j = 0; j < 3; ++j) sum[j] += w * with[j];
        for (const Effect& b : effects) matrix[n * a.value + b.value] += w * (b.x * with[0] + b.y * with[1]);
      }
    }
    for (const auto& [a, with] : coupling) {
      const auto half = solved(own.precision, with);
      if (!half) return;
      for (const auto& [b, other] : coupling)
        matrix[n * a + b] -= (*half)[0] * other[0] + (*half)[1] * other[1] + (*half)[2] * other[2];
    }
  }

  /// Precision of a process whose covariance falls exponentially, at even times (Rue & Held 2005, Gaussian Markov Random Fields,
  /// section 1.1).
  void add_prior(double error, std::vector<double>& matrix) const {
    const std::size_t n = values_.size();
    const double r = std::exp(-knots_.step() / covariance_.time_s);
    const double unit = error / (covariance_.spread_m * covariance_.spread_m);
    knots_.for_each_scan([&](std::size_t first, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t kind = 0; kind < kPerKnot; ++kind) {
          const std::size_t at = kPerKnot * (first + i) + kind;
          const double neighbors = (i > 0 ? 1 : 0) + (i + 1 < count ? 1 : 0);
          matrix[(n + 1) * at] += unit * (1 + neighbors * r * r / (1 - r * r));
          if (i == 0) continue;
          matrix[n * at + at - kPerKnot] -= unit * r / (1 - r * r);
          matrix[n * (at - kPerKnot) + at] -= unit * r / (1 - r * r);
        }
    });
  }

  /// Tukey's weights of the places; returns how much larger errors are than they say, and 1.48 times the median error along an axis.
  std::pair<double, double> reweigh() {
    constexpr double kMedianOfTwo = 1.1774;  // of the length of a vector of two normal deviates
    std::vector<std::vector<double>> rest(stems_.size());
    std::vector<double> sizes, lengths;
    for (std::size_t i = 0; i < stems_.size(); ++i) {
      const Vec2d first = stems_[i].front().center;
      for (const ViewPlace& place : stems_[i]) {
        const Vec2d offset = offset_of(place);
        const Triple& stand = stands_[i];
        const auto& p = place.precision;
        // The view's place for the stem's radius, less that where it should be.
        const double det = p[0] * p[4] - p[1] * p[3];
        const double gx = place.slope[0] - p[2] * stand[2], gy = place.slope[1] - p[5] * stand[2];
        const double x = place.center.x - first.x + (p[4] * gx - p[1] * gy) / det - stand[0] - offset.x;
        const double y = place.center.y - first.y + (p[0] * gy - p[3] * gx) / det - stand[1] - offset.y;
        rest[i].push_back(std::sqrt(std::max(0.0, p[0] * x * x + 2 * p[1] * x * y + p[4] * y * y)));
        sizes.push_back(rest[i].back());
        lengths.push_back(std::hypot(x, y));
      }
    }
    const double scale =
        std::max(kLeastScale, nth_smallest(sizes.data(), sizes.size(), sizes.size() / 2) / kMedianOfTwo);
    for (std::size_t i = 0; i < stems_.size(); ++i)
      for (std::size_t k = 0; k < stems_[i].size(); ++k) {
        const double u = rest[i][k] / (kTukey * scale);
        weights_[i][k] = u < 1 ? (1 - u * u) * (1 - u * u) : 0;
      }
    return {scale, nth_smallest(lengths.data(), lengths.size(), lengths.size() / 2) / kMedianOfTwo};
  }

  /// Takes the weighted mean of turns and offsets from all.
  void center() {
    const auto take_mean = [&](std::size_t kind, auto&& of) {
      double sum = 0, total = 0;
      for (std::size_t i = 0; i < stems_.size(); ++i)
        for (std::size_t k = 0; k < stems_[i].size(); ++k) {
          sum += weights_[i][k] * of(stems_[i][k]);
          total += weights_[i][k];
        }
      if (!(total > 0)) return;
      for (std::size_t i = kind; i < values_.size(); i += kPerKnot) values_[i] -= sum / total;
    };
    take_mean(2, [&](const ViewPlace& place) {
      const Knots::Around around = knots_.around(place.at);
      return (1 - around.part) * values_[kPerKnot * around.first + 2] +
             around.part * values_[kPerKnot * around.second + 2];
    });
    take_mean(0, [&](const ViewPlace& place) { return offset_of(place).x; });
    take_mean(1, [&](const ViewPlace& place) { return offset_of(place).y; });
  }

  const std::vector<std::vector<ViewPlace>>& stems_;
  ViewCovariance covariance_;
  const OpContext& ctx_;
  Knots knots_;
  Vec2d middle_{0, 0};
  double reach_ = 1;            ///< root mean square distance of the stems from their middle, metres
  std::vector<double> values_;  ///< x, y and turn times reach_ of each knot
  std::vector<std::vector<double>> weights_;
  std::vector<Triple> stands_;  ///< place from the first view's, and change of the radius
};

}  // namespace

Vec2d StemDrift::at(const ViewStamp& stamp, const Vec2d& point) const {
  const auto scan = stamp.is_known() ? scans_.find(stamp.scan) : scans_.end();
  if (scan == scans_.end()) return {0, 0};
  const std::vector<Knot>& knots = scan->second;
  const auto found = std::lower_bound(knots.begin(), knots.end(), stamp.time_s,
                                      [](const Knot& knot, double time) { return knot.time_s < time; });
  const auto after = found == knots.end() ? found - 1 : found,
             before = after == knots.begin() ? after : after - 1;
  const double step = after->time_s - before->time_s;
  const double b = step > 0 ? std::clamp((stamp.time_s - before->time_s) / step, 0.0, 1.0) : 0, a = 1 - b;
  const double turn = a * before->turn + b * after->turn;
  return {a * before->offset.x + b * after->offset.x - turn * (point.y - middle_.y),
          a * before->offset.y + b * after->offset.y + turn * (point.x - middle_.x)};
}

std::optional<DriftFit> fit_drift(const std::vector<std::vector<ViewPlace>>& stems, OpContext& ctx) {
  std::vector<std::vector<ViewPlace>> seen;
  std::set<double> scans;
  for (const auto& places : stems) {
    if (places.size() < 2) continue;
    seen.push_back(places);
    for (const ViewPlace& place : places) scans.insert(place.at.scan);
  }
  if (seen.size() < kFewestDriftStems || scans.size() > kMostDriftScans) return std::nullopt;
  const std::size_t step = seen.size() / (kMostDriftStems + 1) + 1;
  if (step > 1) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < seen.size(); i += step) std::swap(seen[kept++], seen[i]);
    seen.resize(kept);
  }
  return Fit(seen, view_covariance(seen, ctx), ctx).run();
}

}  // namespace pc
