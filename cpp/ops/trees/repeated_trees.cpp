#include "ops/trees/repeated_trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "ops/trees/binomial_tail.h"
#include "spatial/space_cells.h"

namespace pc {

namespace {

constexpr double kMostReach = 5, kFewestReach = 0.3, kLeast = 0.05;  // metres between a stem and its repeat
constexpr double kEqualM = 0.003, kEqualPart = 0.1, kEqualMost = 0.005;
constexpr double kOverlap = 0.9;  // of the mean diameter
constexpr double kGather = 0.08, kGatherPart = 0.035, kGatherMost = 0.4, kGatherReach = 20;
constexpr double kTurnedBack = 0.8;  // the same pair the other way round is twice as far off
constexpr std::array kResiduals{0.3, 0.15, 0.1};
constexpr double kMostTurn = 3 * std::numbers::pi / 180;
constexpr double kAtPlace = 0.1, kAtPlacePart = 0.4, kSamePlace = 0.03;
constexpr std::size_t kFewest = 6, kFewestGathered = 5, kMostPairs = 200'000, kMostVisited = 30'000'000,
                      kVisits = 100, kPollTried = 16, kMostCompared = 200;
constexpr double kFewestOthers = 30;
constexpr double kShare = 0.6, kSure = -5;
constexpr double kPlaceCell = 0.5;
constexpr int kMotions = 4, kSpreads = 10;
constexpr std::size_t kDefining = 2;  // pairs that define a motion

double length(const Vec2d& v) { return std::hypot(v.x, v.y); }
Vec2d between(const Vec2d& from, const Vec2d& to) { return {to.x - from.x, to.y - from.y}; }

struct Pair {
  std::size_t from, to;
};

/// A motion of the plane: what lies at `from` comes to `to`, turned about it.
struct Motion {
  Vec2d from, to;
  double cosine = 1, sine = 0;

  Vec2d place(const Vec2d& p) const {
    const Vec2d d = between(from, p);
    return {to.x + cosine * d.x - sine * d.y, to.y + sine * d.x + cosine * d.y};
  }
};

/// What a motion shows, and how sure it is.
struct Shown {
  std::vector<Pair> pairs;
  double chance = 0;  ///< decimal logarithm of the number of lists in which chance makes as much
};

/// About 0.62 n, without a factor in common with n: its multiples pass through all numbers below n, evenly from the first on.
std::size_t spread_step(std::size_t n) {
  auto step = static_cast<std::size_t>(0.618 * static_cast<double>(n)) + 1;
  while (std::gcd(step, n) != 1) ++step;
  return step;
}

class Repeats {
 public:
  Repeats(Span<const PlacedStem> stems, OpContext& ctx)
      : stems_(stems), ctx_(ctx), is_left_(stems.size, true) {}

  std::vector<RepeatedStem> run() {
    std::map<std::size_t, std::size_t> found;
    for (int motion = 0; motion < kMotions; ++motion) {
      const std::optional<Shown> best = surest();
      if (!best) break;
      for (const RepeatedStem& one : divided(best->pairs)) {
        is_left_[one.repeat] = false;
        found.emplace(one.repeat, one.original);
      }
    }
    std::vector<RepeatedStem> out;
    for (const auto& [repeat, first] : found) {
      std::size_t original = first;
      while (found.contains(original)) original = found.at(original);
      out.push_back({repeat, original});
    }
    return out;
  }

 private:
  bool is_known(std::size_t i) const { return std::isfinite(stems_[i].diameter_m); }

  bool is_equal(const Pair& pair) const {
    const PlacedStem &a = stems_[pair.from], &b = stems_[pair.to];
    const auto doubt = [](double sigma_m) { return std::isfinite(sigma_m) ? sigma_m : 0; };
    const double allowed = 2 * std::hypot(doubt(a.sigma_m), doubt(b.sigma_m)) + kEqualM;
    const double most = kEqualPart * std::min(a.diameter_m, b.diameter_m) + kEqualMost;
    return std::abs(a.diameter_m - b.diameter_m) <= std::min(allowed, most);
  }
  double away(const Pair& pair) const { return length(way_of(pair)); }
  bool is_overlap(const Pair& pair) const {
    return away(pair) < kOverlap * (stems_[pair.from].diameter_m + stems_[pair.to].diameter_m) / 2;
  }

  bool is_within_reach(double away) const { return away >= kLeast && away <= reach_; }

  /// Pairs of stems with diameters, within a reach that leaves not too many. False without one.
  bool look_for_pairs() {
    for (; reach_ >= kFewestReach; reach_ /= 2)
      if (all_pairs()) return true;
    return false;
  }

  /// False where there are too many.
  bool all_pairs() {
    Cells<2> near({reach_, reach_});
    pairs_.clear();
    n_equal_ = n_overlapping_ = 0;
    for (std::size_t i = 0; i < stems_.size; ++i) {
      if (!is_left_[i] || !is_known(i)) continue;
      ctx_.checkpoint();
      near.near(at_of(i), [&](std::size_t j) {
        const Pair pair{j, i};
        const double d = away(pair);
        if (!is_within_reach(d) || pairs_.size() > kMostPairs) return;
        pairs_.push_back(pair);
        n_equal_ += is_equal(pair) ? 1 : 0;
        n_overlapping_ += is_overlap(pair) ? 1 : 0;
      });
      if (pairs_.size() > kMostPairs) return false;
      near.add(at_of(i), i);
    }
    return true;
  }

  std::array<double, 2> at_of(std::size_t i) const { return {stems_[i].at.x, stems_[i].at.y}; }
  Vec2d way_of(const Pair& pair) const { return between(stems_[pair.from].at, stems_[pair.to].at); }
  std::array<double, 4> way_and_place(const Pair& pair) const {
    const Vec2d way = way_of(pair), &at = stems_[pair.from].at;
    return {way.x, way.y, at.x, at.y};
  }

  /// Pairs that may be of a tree and its repeat, either way round, in turn.
  std::vector<Pair> telling_pairs() const {
    std::vector<Pair> out;
    for (const Pair& pair : pairs_) {
      if (!is_equal(pair) && !is_overlap(pair)) continue;
      out.push_back(pair);
      out.push_back({pair.to, pair.from});
    }
    return out;
  }

  /// The motion that is least likely by chance.
  std::optional<Shown> surest() {
    if (!look_for_pairs()) return std::nullopt;
    const std::vector<Pair> telling = telling_pairs();
    if (telling.size() < 2 * kFewestGathered) return std::nullopt;
    Cells<4> ways({kGatherMost, kGatherMost, kGatherReach, kGatherReach});
    Cells<2> beside({kGatherReach, kGatherReach}), places({kPlaceCell, kPlaceCell});
    for (std::size_t k = 0; k < telling.size(); ++k) {
      ways.add(way_and_place(telling[k]), k);
      beside.add(at_of(telling[k].from), k);
    }
    for (std::size_t i = 0; i < stems_.size; ++i)
      if (is_left_[i]) places.add(at_of(i), i);
    std::optional<Shown> best;
    std::vector<char> is_done(telling.size(), 0);
    const std::size_t n = telling.size() / 2, step = spread_step(n);
    visited_ = 0;
    for (std::size_t tried = 0; tried < n && visited_ < kMostVisited; ++tried) {
      const std::size_t c = 2 * (tried * step % n);
      visited_ += kVisits;
      if (tried % kPollTried == 0) ctx_.checkpoint();
      if (is_done[c] != 0) continue;
      const std::optional<Motion> near = motion_about(telling, ways, beside, c);
      if (!near) continue;
      ctx_.checkpoint();
      const Motion motion = spread(*near, telling, is_done);
      const std::optional<Shown> shown = shown_by(motion, places);
      if (shown && (!best || shown->chance < best->chance)) best = shown;
    }
    return best;
  }

  /// The motion of the pairs that lie as pair c does, nothing if chance makes as many.
  std::optional<Motion> motion_about(const std::vector<Pair>& telling, const Cells<4>& ways,
                                     const Cells<2>& beside, std::size_t c) {
    const Vec2d way = way_of(telling[c]), &at = stems_[telling[c].from].at;
    const double most = kTurnedBack * length(way);
    std::vector<std::size_t> gathered;
    ways.near(way_and_place(telling[c]), [&](std::size_t k) {
      ++visited_;
      const double far = length(between(at, stems_[telling[k].from].at));
      if (far <= kGatherReach && length(between(way, way_of(telling[k]))) <=
                                     std::min({kGatherMost, kGather + kGatherPart * far, most}))
        gathered.push_back(k);
    });
    std::sort(gathered.begin(), gathered.end());
    if (gathered.size() < kFewestGathered) return std::nullopt;
    Motion motion = fitted(telling, gathered);
    for (const double residual : kResiduals) {
      std::vector<std::size_t> fitting;
      for (const std::size_t k : gathered)
        if (residual_of(motion, telling[k]) <= std::min(residual, most)) fitting.push_back(k);
      if (fitting.size() < kFewestGathered) return std::nullopt;
      motion = fitted(telling, fitting);
      gathered = std::move(fitting);
    }
    if (std::abs(std::atan2(motion.sine, motion.cosine)) > kMostTurn ||
        !std::binary_search(gathered.begin(), gathered.end(), c))
      return std::nullopt;
    std::size_t all = 0;
    beside.near(at_of(telling[c].from), [&](std::size_t) { ++all; });
    const double share = kResiduals.back() * kResiduals.back() / (reach_ * reach_);
    const double chance =
        log_binomial_tail(static_cast<double>(all), static_cast<double>(gathered.size() - kDefining), share);
    return chance <= kSure ? std::optional(motion) : std::nullopt;
  }

  /// A motion fitted to all pairs that it takes to each other, step by step farther about; these need no look any more.
  Motion spread(Motion motion, const std::vector<Pair>& telling, std::vector<char>& is_done) const {
    std::vector<std::size_t> fitting;
    for (int step = 0; step < kSpreads; ++step) {
      ctx_.checkpoint();
      const double most = std::min(kResiduals.back(), kTurnedBack * length(between(motion.from, motion.to)));
      std::vector<std::size_t> now;
      for (std::size_t k = 0; k < telling.size(); ++k)
        if (residual_of(motion, telling[k]) <= most) now.push_back(k);
      if (now == fitting || now.empty()) break;
      fitting = std::move(now);
      motion = fitted(telling, fitting);
    }
    for (const std::size_t k : fitting) is_done[k] = is_done[k ^ 1] = 1;
    return motion;
  }

  double residual_of(const Motion& motion, const Pair& pair) const {
    return length(between(motion.place(stems_[pair.from].at), stems_[pair.to].at));
  }

  Motion fitted(const std::vector<Pair>& telling, const std::vector<std::size_t>& of) const {
    const double n = static_cast<double>(of.size());
    Motion out{{0, 0}, {0, 0}};
    for (const std::size_t k : of) {
      const Vec2d &a = stems_[telling[k].from].at, &b = stems_[telling[k].to].at;
      out.from = {out.from.x + a.x / n, out.from.y + a.y / n};
      out.to = {out.to.x + b.x / n, out.to.y + b.y / n};
    }
    double along = 0, across = 0;
    for (const std::size_t k : of) {
      const Vec2d a = between(out.from, stems_[telling[k].from].at),
                  b = between(out.to, stems_[telling[k].to].at);
      along += a.x * b.x + a.y * b.y;
      across += a.x * b.y - a.y * b.x;
    }
    const double turn = std::atan2(across, along);
    out.cosine = std::cos(turn), out.sine = std::sin(turn);
    return out;
  }

  /// The stems that a motion takes to one another, none of which takes part in two pairs; nothing if chance may make them.
  std::optional<Shown> shown_by(const Motion& motion, const Cells<2>& places) const {
    std::vector<Pair> moved;
    std::vector<std::uint32_t> uses(stems_.size, 0);
    for (std::size_t i = 0; i < stems_.size; ++i) {
      if (!is_left_[i]) continue;
      const Vec2d to = motion.place(stems_[i].at);
      const double by = length(between(stems_[i].at, to));
      double least = std::min(kAtPlace, kAtPlacePart * by);
      std::optional<std::size_t> partner;
      places.near({to.x, to.y}, [&](std::size_t j) {
        const double d = length(between(to, stems_[j].at));
        if (j == i || d > least || (d == least && partner && *partner < j)) return;
        least = d;
        partner = j;
      });
      if (!partner) continue;
      moved.push_back({i, *partner});
      ++uses[i], ++uses[*partner];
    }
    Shown out;
    double n = 0, equal = 0, one_way = 0, by = 0;
    for (const Pair& pair : moved) {
      if (uses[pair.from] > 1 || uses[pair.to] > 1) continue;
      out.pairs.push_back(pair);
      if (!is_known(pair.from) || !is_known(pair.to) || !is_within_reach(away(pair))) continue;
      n += 1;
      equal += is_equal(pair) ? 1 : 0;
      if (!is_overlap(pair) || residual_of(motion, pair) > kSamePlace) continue;
      one_way += 1;
      by += away(pair);
    }
    out.chance = std::min(chance_of_diameters(n, equal), chance_of_way(one_way, by));
    return out.chance <= kSure ? std::optional(out) : std::nullopt;
  }

  /// That as many of n pairs have equal diameters as do.
  double chance_of_diameters(double n, double equal) const {
    if (equal < kFewest || equal < kShare * n) return 0;
    const double others = static_cast<double>(pairs_.size()) - n, all = static_cast<double>(n_equal_);
    const double share = others < kFewestOthers ? share_of_all() : (all - equal + 1) / (others + 1);
    return log_binomial_tail(n - kDefining, equal - kDefining, share) + std::log10(std::max(1.0, all));
  }

  /// Share of pairs with equal diameters, however far apart, of up to 200 stems.
  double share_of_all() const {
    std::vector<std::size_t> known;
    for (std::size_t i = 0; i < stems_.size; ++i)
      if (is_left_[i] && is_known(i)) known.push_back(i);
    const std::size_t step = known.size() / kMostCompared + 1;
    double pairs = 0, equal = 0;
    for (std::size_t i = 0; i < known.size(); i += step)
      for (std::size_t j = 0; j < i; j += step) {
        pairs += 1;
        equal += is_equal({known[j], known[i]}) ? 1 : 0;
      }
    return pairs > 0 ? equal / pairs : 1;
  }

  /// That so many stems that stand in each other do so in one direction.
  double chance_of_way(double one_way, double by) const {
    if (one_way < kFewest) return 0;
    const double all = static_cast<double>(n_overlapping_), distance = by / one_way;
    const double share = 2 * kSamePlace / (std::numbers::pi * distance);
    return log_binomial_tail(all - kDefining, one_way - kDefining, share) + std::log10(all);
  }

  /// The stems of the side with fewer points, but for those that alone have a diameter.
  std::vector<RepeatedStem> divided(const std::vector<Pair>& pairs) const {
    double surplus = 0;
    for (const Pair& pair : pairs) surplus += stems_[pair.from].point_count - stems_[pair.to].point_count;
    std::vector<RepeatedStem> out;
    for (const Pair& pair : pairs) {
      const bool same = is_known(pair.from) == is_known(pair.to);
      if (same ? surplus >= 0 : is_known(pair.from))
        out.push_back({pair.to, pair.from});
      else
        out.push_back({pair.from, pair.to});
    }
    return out;
  }

  Span<const PlacedStem> stems_;
  OpContext& ctx_;
  std::vector<char> is_left_;
  std::vector<Pair> pairs_;  ///< of stems within reach, each once
  double reach_ = kMostReach;
  std::size_t visited_ = 0;  ///< pairs, as a measure of the work
  std::size_t n_equal_ = 0, n_overlapping_ = 0;
};

}  // namespace

std::optional<PlacedStem> placed_stem(const MeasuredTree& tree) {
  const auto& at = tree.stem.breast_height;
  const Vec2d place = at ? Vec2d{at->center.x, at->center.y} : Vec2d{tree.stem.base.x, tree.stem.base.y};
  if (!std::isfinite(place.x) || !std::isfinite(place.y)) return std::nullopt;
  return PlacedStem{place, at ? 2 * at->circle.radius : std::nan(""), tree.dbh_sigma_m,
                    static_cast<double>(tree.point_count)};
}

std::vector<RepeatedStem> repeated_stems(Span<const PlacedStem> stems, OpContext& ctx) {
  return Repeats(stems, ctx).run();
}

void drop_repeated_trees(std::vector<MeasuredTree>& trees, OpContext& ctx) {
  std::vector<PlacedStem> stems;
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const MeasuredTree& tree = trees[i];
    const auto stem = tree.too_few_points || tree.is_none() ? std::nullopt : placed_stem(tree);
    if (!stem) continue;
    stems.push_back(*stem);
    of.push_back(i);
  }
  for (const RepeatedStem& found : repeated_stems({stems.data(), stems.size()}, ctx)) {
    MeasuredTree& tree = trees[of[found.repeat]];
    tree.repeat_of = trees[of[found.original]].id;
    forget_stem(tree);
  }
}

}  // namespace pc
