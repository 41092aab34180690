#include "ops/ground/ground_layers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "core/plane_fit.h"
#include "ops/ground/layer_cells.h"
#include "ops/ground/square_sample.h"

namespace pc {

namespace {

constexpr std::size_t kStepSample = 20000;
constexpr double kSameHeight = 1e-7;  // coordinates of files are no nearer
constexpr std::array<LayerScale, 5> kScales{
    {{0.25, 0.005, 1}, {0.5, 0.01, 2.5}, {1, 0.01, 2.5}, {2, 0.02, 5}, {2, 0.05, 100}}};
constexpr double kFewestPerCell = 6;
constexpr std::uint64_t kFewestCells = 50;
constexpr std::size_t kFewestPairs = 20;
constexpr std::size_t kBeside = 8;  // bins to what is just above and below
constexpr double kLeastShare = 0.1, kLeastContrast = 0.5, kLeastErrors = 8;
constexpr double kLeastOverlap = 0.5, kMostApart = 0.75, kMostThicker = 0.05, kMostHalo = 0.2;
constexpr double kFurniture = 0.3, kLeastRelief = 0.005;  // metres
constexpr double kLeastCorrelation = 0.5;
constexpr double kDeviation = 1.4826;
constexpr std::uint64_t kFewestOfScan = 100;
constexpr double kOneLayer = 0.8;
constexpr int kPlaneRounds = 5;
constexpr double kPlaneReach = 2, kRelief = 5, kRise = 3;  // standard deviations

LayerCells cells_of(const SquareSample& sample, std::size_t k, const LayerScale& scale) {
  return LayerCells(sample.of(k), sample.corner(k), kSquareSide, scale);
}

/// Smallest difference of heights: coarse coordinates lie in layers themselves.
double step_of(const SquareSample& sample) {
  const double part = static_cast<double>(kStepSample) / static_cast<double>(sample.points.size());
  std::vector<double> heights;
  for (const Vec3d& p : sample.points)
    if (part >= 1 || chance_of(p) < part) heights.push_back(p.z);
  std::sort(heights.begin(), heights.end());
  double step = HUGE_VAL;
  for (std::size_t k = 1; k < heights.size(); ++k)
    if (const double rise = heights[k] - heights[k - 1]; rise > kSameHeight) step = std::min(step, rise);
  return std::isfinite(step) ? step : 0;
}

/// A height at which many cells show something.
struct Candidate {
  double share;
  std::size_t level, part;
  std::uint64_t cells;
};

LayerShares shares_of(const SquareSample& sample, const LayerScale& scale, OpContext& ctx) {
  std::vector<LayerShares> own(static_cast<std::size_t>(ctx.threads()), LayerShares(scale));
  std::atomic<std::uint64_t> places = 0;
  parallel_for_worker(ctx, sample.squares.size(), 1, [&](std::size_t begin, std::size_t end, int worker) {
    for (std::size_t k = begin; k < end; ++k) {
      const LayerCells cells = cells_of(sample, k, scale);
      places += cells.count();
      cells.add_to(own[static_cast<std::size_t>(worker)]);
    }
  });
  for (std::size_t k = 1; k < own.size(); ++k) own[0].add(own[k]);
  if (static_cast<double>(sample.points.size()) < kFewestPerCell * static_cast<double>(places))
    own[0].cells = 0;
  return std::move(own[0]);
}

std::optional<Candidate> candidate_of(const LayerShares& shares) {
  if (shares.cells < kFewestCells) return std::nullopt;
  const auto n = static_cast<double>(shares.cells);
  std::optional<Candidate> best;
  for (std::size_t part = 0; part < kLayerParts.size(); ++part) {
    const auto at = [&](std::size_t k) {
      return static_cast<double>(shares.sums[part][k]) / LayerShares::kOne / n;
    };
    for (std::size_t k = kBeside + 1; k + kBeside < shares.sums[part].size(); ++k) {
      const double share = at(k), more = share - std::max(at(k - kBeside), at(k + kBeside));
      if (more < kLeastShare || more < kLeastContrast * share) continue;
      if (more < kLeastErrors * std::sqrt(std::max(share * (1 - share), 1 / n) / n)) continue;
      if (!best || more > best->share) best = Candidate{more, k, part, shares.cells};
    }
  }
  return best;
}

template <class Value>
double median_over(const std::vector<LayerPair>& pairs, Value&& value) {
  std::vector<double> values;
  for (const LayerPair& pair : pairs)
    if (const double one = value(pair); !std::isnan(one)) values.push_back(one);
  return upper_median(values);
}

/// Places of the lower layer, from their middle.
std::vector<Vec3d> places_of(const std::vector<LayerPair>& pairs) {
  Vec3d middle{0, 0, 0};
  for (const LayerPair& pair : pairs) middle = middle + pair.low * (1 / static_cast<double>(pairs.size()));
  std::vector<Vec3d> out;
  for (const LayerPair& pair : pairs) out.push_back(pair.low - middle);
  return out;
}

double above(const PlaneFit::Plane& plane, const Vec3d& p) {
  return p.z - plane.height - plane.gu * p.x - plane.gv * p.y;
}

/// Heights of places above a plane that their outliers hardly turn.
std::vector<double> relief_of(const std::vector<Vec3d>& places, double* deviation) {
  std::vector<double> weights(places.size(), 1), relief(places.size());
  for (int round = 0; round < kPlaneRounds; ++round) {
    PlaneFit fit;
    for (std::size_t k = 0; k < places.size(); ++k)
      fit.add(places[k].x, places[k].y, places[k].z, weights[k]);
    const PlaneFit::Plane plane = fit.plane(kSameHeight);
    std::vector<double> sizes;
    for (std::size_t k = 0; k < places.size(); ++k) {
      relief[k] = above(plane, places[k]);
      sizes.push_back(std::abs(relief[k]));
    }
    *deviation = kDeviation * upper_median(sizes) + kSameHeight;
    for (std::size_t k = 0; k < places.size(); ++k)
      weights[k] = 1 / std::max(1.0, std::abs(relief[k]) / (kPlaneReach * *deviation));
  }
  return relief;
}

/// The same less their plane, by least squares: a slope that is left would be one of both layers.
void take_slope(std::vector<Vec3d>& places) {
  PlaneFit fit;
  for (const Vec3d& p : places) fit.add(p.x, p.y, p.z, 1);
  const PlaneFit::Plane plane = fit.plane(kSameHeight);
  for (Vec3d& p : places) p.z = above(plane, p);
}

/// Of the relief of both layers; 0 without relief.
double correlation_of(const std::vector<LayerPair>& pairs, double rise, double spread) {
  double deviation = 0;
  const std::vector<Vec3d> places = places_of(pairs);
  const std::vector<double> relief = relief_of(places, &deviation);
  std::vector<Vec3d> lower, upper;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const double low = relief[k], up = low + pairs[k].wide_rise - rise;
    if (std::abs(low) >= kRelief * deviation || std::abs(up) >= kRelief * deviation + kRise * spread)
      continue;
    lower.push_back({places[k].x, places[k].y, low});
    upper.push_back({places[k].x, places[k].y, up});
  }
  take_slope(lower);
  take_slope(upper);
  double aa = 0, bb = 0, ab = 0;
  for (std::size_t k = 0; k < lower.size(); ++k) {
    aa += lower[k].z * lower[k].z;
    bb += upper[k].z * upper[k].z;
    ab += lower[k].z * upper[k].z;
  }
  if (!(aa >= kLeastRelief * kLeastRelief * static_cast<double>(lower.size())) || !(bb > 0)) return 0;
  return ab / std::sqrt(aa * bb);
}

/// A point of one of two layers.
struct Member {
  std::size_t row;
  std::uint32_t pair;
  bool is_upper;
};

/// What a scale shows.
struct Shown {
  GroundLayers layers;
  bool lies_on_ground;  ///< what lies beside or upon the ground, and is no ground itself
  bool is_ground;
  std::vector<Member> members;  ///< pair by pair
};

std::optional<Shown> shown_by(const SquareSample& sample, const LayerScale& scale, const Candidate& candidate,
                              bool tells_members, OpContext& ctx) {
  struct Own {
    std::vector<LayerPair> pairs;
    std::vector<Member> members;
  };
  std::vector<Own> own(sample.squares.size());
  parallel_for(ctx, own.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
      own[k].pairs =
          cells_of(sample, k, scale)
              .pairs(candidate.level, candidate.part,
                     [&](const FlattenedPoint& p, std::uint32_t pair, bool is_upper) {
                       if (tells_members)
                         own[k].members.push_back({sample.rows[sample.first[k] + p.row], pair, is_upper});
                     });
  });
  std::vector<LayerPair> pairs;
  Shown out;
  std::size_t count = 0;
  for (const Own& one : own) count += one.members.size();
  out.members.reserve(count);
  for (Own& one : own) {
    const auto before = static_cast<std::uint32_t>(pairs.size());
    for (const Member& m : one.members) out.members.push_back({m.row, before + m.pair, m.is_upper});
    pairs.insert(pairs.end(), one.pairs.begin(), one.pairs.end());
    one = {};
  }
  if (pairs.size() < kFewestPairs) return std::nullopt;
  double shared = 0, expected = 0;
  for (const LayerPair& pair : pairs) {
    shared += pair.shared;
    expected += pair.expected;
  }
  const double rise = median_over(pairs, [](const LayerPair& p) { return p.rise; });
  const double spread =
      kDeviation * median_over(pairs, [&](const LayerPair& p) { return std::abs(p.rise - rise); });
  const double low = median_over(pairs, [](const LayerPair& p) { return p.low_thick; });
  const double up = median_over(pairs, [](const LayerPair& p) { return p.up_thick; });
  const double halo = median_over(pairs, [](const LayerPair& p) { return p.up_halo; }) -
                      median_over(pairs, [](const LayerPair& p) { return p.low_halo; });
  const double apart = median_over(pairs, [](const LayerPair& p) { return p.apart; });
  const double most_thick = kMostThicker * rise;
  out.lies_on_ground = shared < kLeastOverlap * expected || apart > kMostApart ||
                       up * up - low * low > most_thick * most_thick || halo > kMostHalo;
  out.is_ground =
      !out.lies_on_ground && (rise < kFurniture || correlation_of(pairs, rise, spread) >= kLeastCorrelation);
  out.layers = {rise, spread, candidate.share, candidate.cells, pairs.size(), scale.cell_m, {}};
  return out;
}

/// Counts the place of a pair for every scan that has points there, and empties `here`.
void count_place(std::map<double, std::array<std::uint64_t, 2>>& here,
                 std::map<double, LayersOfScan>& found) {
  for (const auto& [scan, points] : here) {
    LayersOfScan& one = found.try_emplace(scan, LayersOfScan{scan, 0, 0, 0}).first->second;
    one.points += points[0] + points[1];
    if (points[0] > points[1]) ++one.lower;
    if (points[1] > points[0]) ++one.upper;
  }
  here.clear();
}

std::vector<LayersOfScan> scans_of(const std::vector<Member>& members, const AnyColumn& scans) {
  std::map<double, LayersOfScan> found;
  visit_scalar(scans, [&](auto values) {
    std::map<double, std::array<std::uint64_t, 2>> here;  // points in both layers
    for (std::size_t k = 0; k < members.size() && found.size() <= kMostLayerScans; ++k) {
      if (k > 0 && members[k].pair != members[k - 1].pair) count_place(here, found);
      const auto scan = static_cast<double>(values[members[k].row]);
      if (std::isfinite(scan)) ++here[scan][members[k].is_upper ? 1 : 0];
    }
    count_place(here, found);
  });
  std::vector<LayersOfScan> out;
  if (found.size() <= kMostLayerScans)
    for (const auto& [scan, one] : found) out.push_back(one);
  return out;
}

}  // namespace

int scan_side(const LayersOfScan& scan) {
  const auto places = static_cast<double>(scan.lower + scan.upper);
  if (places == 0 || scan.points < kFewestOfScan) return 0;
  if (static_cast<double>(scan.upper) >= kOneLayer * places) return 1;
  return static_cast<double>(scan.lower) >= kOneLayer * places ? -1 : 0;
}

std::optional<GroundLayers> ground_layers(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                          const AnyColumn* scans, OpContext& ctx) {
  require((skip.empty() || skip.size == positions.size) && (!scans || scans->size() == positions.size),
          "every column needs one value per point");
  ctx.begin_phase("Looking for layers of ground", 0);
  const SquareSample sample = square_sample(positions, skip, ctx);
  if (sample.points.size() < kFewestCells) return std::nullopt;
  const double step = step_of(sample);
  std::optional<Shown> best;
  std::vector<double> others;  // heights of what lies on the ground, as finer cells tell
  for (const LayerScale& scale : kScales) {
    if (step > scale.bin_m * (1 + kSameHeight)) continue;
    const auto candidate = candidate_of(shares_of(sample, scale, ctx));
    if (!candidate || (best && candidate->share <= best->layers.share)) continue;
    auto shown = shown_by(sample, scale, *candidate, scans != nullptr, ctx);
    if (!shown) continue;
    const double z = shown->layers.z_m, reach = static_cast<double>(kBeside) * scale.bin_m;
    if (shown->lies_on_ground) others.push_back(z);
    if (shown->is_ground && std::none_of(others.begin(), others.end(),
                                         [&](double other) { return std::abs(other - z) <= reach; }))
      best = std::move(*shown);
  }
  if (!best) return std::nullopt;
  if (scans) best->layers.scans = scans_of(best->members, *scans);
  return best->layers;
}

}  // namespace pc
