#include "ops/lad/capture_recapture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.h"
#include "core/parallel.h"
#include "core/position_hash.h"
#include "ops/fit/student_t.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = 1024;
constexpr std::size_t kSearches = std::size_t{1} << 13;  // between looks for a cancel
/// A leaf along a beam reaches so many distances of beams before or behind a place on it (see kSteepest of ScannerView).
constexpr double kReach = 5;
/// Ranges of one place differ by at most so many standard deviations.
constexpr double kNoises = 3;
/// Hits of two scanners are at one place up to so many distances of their beams.
constexpr double kNear = 2;
constexpr double kConfidence = 0.95;

/// Areas by the number of scanners that see them.
struct Seen {
  double all = 0, once = 0, twice = 0;

  void add(double area, std::size_t times) {
    all += area;
    if (times == 1) once += area;
    if (times == 2) twice += area;
  }
  Seen& operator+=(const Seen& other) {
    all += other.all, once += other.once, twice += other.twice;
    return *this;
  }
  /// With what none of so many scanners sees.
  double whole(std::size_t scans) const {
    if (once == 0) return all;
    if (twice == 0) return std::numeric_limits<double>::quiet_NaN();
    const double m = static_cast<double>(scans);
    return all + (m - 1) / m * once * once / (2 * twice);
  }
};

/// Sums of a block of hits.
struct Shares {
  explicit Shares(std::size_t scans) : by(scans, 0.0), without(scans) {}
  std::vector<double> by;     ///< area that exactly k + 1 scanners see
  std::vector<Seen> without;  ///< what changes when a scanner is left out
  double spacing = 0;         ///< sum of the distances to the next beam
  std::uint64_t hits = 0;
  /// Of a hit and another scanner that sees its place; which has a hit there, too. The same of a hit and a beam beside it.
  std::uint64_t pairs = 0, met = 0, own_pairs = 0, own_met = 0;

  void add(const Shares& other) {
    for (std::size_t k = 0; k < by.size(); ++k) {
      by[k] += other.by[k];
      without[k] += other.without[k];
    }
    spacing += other.spacing;
    hits += other.hits;
    pairs += other.pairs;
    met += other.met;
    own_pairs += other.own_pairs;
    own_met += other.own_met;
  }
};

bool is_known(const Vec3d& normal) { return dot(normal, normal) > 0; }

enum class Sight : std::uint8_t { kHidden, kSeen, kMet };

/// How far a leaf reaches along a beam beside a place on it, metres: no farther than leaves are wide, however far apart the
/// beams are, or what hides the place nearby would not count.
struct LeafReach {
  double flat, tilted;

  LeafReach(double step, double leaf_width)
      : flat(leaf_width > 0 ? std::min(step, leaf_width / 2) : step),
        tilted(leaf_width > 0 ? std::min(kReach * step, leaf_width) : kReach * step) {}
};

/// A hit: the normal of its leaf (0 = unknown), and how far apart the beams are that found it.
struct Found {
  Vec3d place, normal;
  double apart;
};

/// Whether a scanner sees the place of a hit, and has one there, too.
Sight sight_of(const ScannerView& view, const Found& hit, double leaf_width, double noise) {
  const auto& [place, normal, apart] = hit;
  const Vec3d to = place - view.origin();
  const double far = std::sqrt(dot(to, to));
  if (!(far > 0)) return Sight::kHidden;
  const Vec3d unit = to * (1 / far);
  const auto number = view.nearest(unit);
  if (!number) return Sight::kHidden;
  const ViewBeam& beam = view.beams()[*number];
  const double spacing = std::sqrt(beam.solid_angle);
  if (squared_distance(unit, beam.direction) > 4 * beam.solid_angle)
    return Sight::kHidden;  // beside the scan
  if (std::isinf(beam.range)) return Sight::kSeen;
  const double step = far * spacing;
  const LeafReach reach(step, leaf_width);
  double wanted = far;
  if (is_known(normal)) {
    const double along = far * dot(normal, unit) / dot(normal, beam.direction);
    if (along < far) wanted = along > far - reach.tilted ? along : far - reach.tilted;
  }
  if (!(beam.range >= wanted - reach.flat - noise)) return Sight::kHidden;
  const double near = kNear * std::max(step, apart) + noise;
  return squared_distance(view.place(beam), place) <= near * near ? Sight::kMet : Sight::kSeen;
}

class Sharing {
 public:
  Sharing(const std::vector<ScannerView>& views, const CaptureRecaptureParams& params)
      : views_(views), params_(params), noise_(kNoises * params.range_noise_m) {}

  /// Adds a hit of view `own`.
  void add(std::size_t own, const ViewBeam& hit, std::vector<std::size_t>* others, Shares* to) const {
    others->clear();
    const double apart = hit.range * std::sqrt(hit.solid_angle);
    const Found found{views_[own].place(hit), hit.normal, apart};
    for (std::size_t k = 0; k < views_.size(); ++k) {
      if (k == own) continue;
      const Sight sight = sight_of(views_[k], found, params_.leaf_width_m, noise_);
      if (sight == Sight::kHidden) continue;
      others->push_back(k);
      ++to->pairs;
      if (sight == Sight::kMet) ++to->met;
    }
    const double g = params_.g[params_.g.size == 1 ? 0 : hit.layer];
    const double area = hit.range * hit.range * hit.solid_angle / g;
    const std::size_t times = 1 + others->size();
    const double share = area / static_cast<double>(times);
    to->by[times - 1] += share;
    ++to->hits;
    to->spacing += apart;
    add_neighbor(views_[own], hit, to);
    to->without[own].add(-share, times);
    for (const std::size_t k : *others) {
      to->without[k].add(-share, times);
      to->without[k].add(area / static_cast<double>(times - 1), times - 1);
    }
  }

 private:
  /// Whether a beam beside a hit has one at the same place: how often it has not tells what edges of leaves do.
  void add_neighbor(const ScannerView& view, const ViewBeam& hit, Shares* to) const {
    const Vec3d& unit = hit.direction;
    const Vec3d up = std::abs(unit.z) < 0.9 ? Vec3d{0, 0, 1} : Vec3d{1, 0, 0};
    const Vec3d side = cross(unit, up), other = cross(unit, side);
    const double turn = 2 * std::numbers::pi * 0x1p-64 * static_cast<double>(position_hash(unit));
    const double length = std::sqrt(hit.solid_angle / dot(side, side));
    const Vec3d beside = unit + side * (length * std::cos(turn)) + other * (length * std::sin(turn));
    const auto number = view.nearest(beside * (1 / std::sqrt(dot(beside, beside))));
    if (!number) return;
    const ViewBeam& beam = view.beams()[*number];
    if (beam.direction == unit || squared_distance(beside, beam.direction) > 4 * hit.solid_angle) return;
    ++to->own_pairs;
    const double near = kNear * hit.range * std::sqrt(hit.solid_angle) + noise_;
    if (!std::isinf(beam.range) && squared_distance(view.place(beam), view.place(hit)) <= near * near)
      ++to->own_met;
  }

  const std::vector<ScannerView>& views_;
  const CaptureRecaptureParams& params_;
  double noise_;
};

/// Half the width of the interval; NaN with fewer than three scanners.
double half_width(const Seen& all, const std::vector<Seen>& without) {
  const std::size_t m = without.size();
  if (m < 3) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> left;
  double mean = 0;
  for (const Seen& change : without) {
    Seen seen = all;
    seen += change;
    left.push_back(seen.whole(m - 1));
    mean += left.back() / static_cast<double>(m);
  }
  double squared = 0;
  for (const double one : left) squared += (one - mean) * (one - mean);
  const double n = static_cast<double>(m);
  return student_t_quantile((1 + kConfidence) / 2, n - 1) * std::sqrt((n - 1) / n * squared);
}

void check(const std::vector<ViewedScan>& scans, const VoxelBox& grid, const CaptureRecaptureParams& params) {
  require(scans.size() >= 2, "leaf area by views needs at least two scans");
  require(params.range_noise_m >= 0 && std::isfinite(params.range_noise_m),
          "range_noise_m must be finite and not negative");
  require(params.leaf_width_m >= 0 && std::isfinite(params.leaf_width_m),
          "leaf_width_m must be finite and not negative");
  require(params.g.size == 1 || params.g.size == grid.nz, "g must have one value, or one per layer");
  for (const double g : params.g) require(g > 0 && std::isfinite(g), "g must be positive");
}

}  // namespace

CaptureRecaptureResult capture_recapture(const std::vector<ViewedScan>& scans, const VoxelBox& grid,
                                         const CaptureRecaptureParams& params, OpContext& ctx) {
  check(scans, grid, params);
  std::vector<ScannerView> views;
  views.reserve(scans.size());
  for (const ViewedScan& scan : scans) views.emplace_back(scan, grid, ctx);
  std::uint64_t total = 0;
  for (const ScannerView& view : views) total += view.beams().size;
  ctx.begin_phase("Comparing views", total);
  const Sharing sharing(views, params);
  Shares sum(scans.size());
  for (std::size_t own = 0; own < views.size(); ++own) {
    const Span<const ViewBeam> beams = views[own].beams();
    std::vector<Shares> parts((beams.size + kBlock - 1) / kBlock, Shares(scans.size()));
    parallel_for(ctx, beams.size, kBlock, [&](std::size_t begin, std::size_t end) {
      std::vector<std::size_t> others;
      std::size_t searches = 0;
      for (std::size_t i = begin; i < end; ++i) {
        if (!beams[i].is_leaf()) continue;
        sharing.add(own, beams[i], &others, &parts[begin / kBlock]);
        searches += views.size();
        if (searches > kSearches) {
          ctx.checkpoint();
          searches = 0;
        }
      }
    });
    for (const Shares& part : parts) sum.add(part);
  }
  CaptureRecaptureResult out;
  out.hit_count = sum.hits;
  if (sum.hits > 0) out.spacing_m = sum.spacing / static_cast<double>(sum.hits);
  const auto share = [](std::uint64_t met, std::uint64_t pairs) {
    return static_cast<double>(met) / static_cast<double>(pairs);
  };
  out.agreement = share(sum.met, sum.pairs) / share(sum.own_met, sum.own_pairs);
  if (std::isinf(out.agreement)) out.agreement = std::numeric_limits<double>::quiet_NaN();
  out.seen_by_m2 = sum.by;
  Seen seen;
  for (std::size_t k = 0; k < sum.by.size(); ++k) seen.add(sum.by[k], k + 1);
  out.seen_m2 = seen.all;
  out.leaf_area_m2 = seen.whole(scans.size());
  const double half = half_width(seen, sum.without);
  out.lower_m2 = std::isnan(half) ? half : std::max(0.0, out.leaf_area_m2 - half);
  out.upper_m2 = out.leaf_area_m2 + half;
  return out;
}

std::uint64_t capture_recapture_bytes(const std::vector<std::uint64_t>& rows) {
  std::uint64_t bytes = 0, largest = 0;
  for (const std::uint64_t count : rows) {
    bytes += scanner_view_bytes(count);
    largest = std::max(largest, count);
  }
  return bytes + scanner_view_scratch_bytes(largest);
}

}  // namespace pc
