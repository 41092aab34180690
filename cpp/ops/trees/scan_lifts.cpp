#include "ops/trees/scan_lifts.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/linear_solve.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/ground/ground_layers.h"

namespace pc {

namespace {

constexpr double kCell = 0.5, kMostCellsPerSide = 1990;
/// Where scans fit, medians differ by up to 5 mm on a slope of 20 degrees (docs/accuracy.md).
constexpr double kLeastDifference = 0.01;
constexpr double kMostErrors = 4, kMedianError = 1.25;  // of a median, times the deviation over the root of n
constexpr int kRounds = 3;
constexpr double kNear = 0.06;  // metres from the ground: its noise, and herbs hardly
constexpr int kMostLayers = 8;
constexpr std::size_t kGrain = std::size_t{1} << 16;

bool is_clear(const ScanHeight& pair) {
  const double chance =
      kMostErrors * kMedianError * pair.spread_m / std::sqrt(static_cast<double>(pair.cells));
  return std::abs(pair.z_m) > std::max(kLeastDifference, chance);
}

/// Rows that are not ground; the box of the others.
Column<std::uint8_t> other_rows(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                const AnyColumn& ground_class, Box3d* box, OpContext& ctx) {
  Column<std::uint8_t> out(positions.size);
  const Span<std::uint8_t> marks = out.view();
  std::vector<Box3d> boxes(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Comparing scans", positions.size);
  visit_scalar(ground_class, [&](auto classes) {
    parallel_for_worker(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
      for (std::size_t i = begin; i < end; ++i) {
        const bool is_ground = std::rint(static_cast<double>(classes[i])) == 1 &&
                               (skip.empty() || skip[i] == 0) && is_finite(positions[i]);
        marks[i] = is_ground ? 0 : 1;
        if (is_ground) boxes[static_cast<std::size_t>(worker)].add(positions[i]);
      }
    });
  });
  for (const Box3d& one : boxes) box->add(one);
  return out;
}

std::map<double, double> by_scan(const std::vector<ScanLift>& lifts) {
  std::map<double, double> out;
  for (const ScanLift& lift : lifts) out.emplace(lift.scan, lift.z_m);
  return out;
}

double lift_of(const std::map<double, double>& lifts, double scan) {
  const auto found = lifts.find(scan);
  return found == lifts.end() ? 0 : found->second;
}

/// Mean heights of the ground in blocks, of scans that were lowered by their lifts.
class LoweredGround {
 public:
  LoweredGround(const RasterFrame& frame, double datum)
      : frame_(frame), datum_(datum), sums_(frame.cells()), counts_(frame.cells()) {
    std::fill(sums_.begin(), sums_.end(), 0);
    std::fill(counts_.begin(), counts_.end(), 0);
  }

  void add(const Vec3d& p) {
    const double above = p.z - datum_;
    if (!frame_.contains(p) || !(std::abs(above) < kMostHeight_m)) return;
    const std::size_t cell = frame_.cell_of(p);
    std::atomic_ref(sums_[cell]).fetch_add(std::llround(above * kMicrometres), std::memory_order_relaxed);
    std::atomic_ref(counts_[cell]).fetch_add(1, std::memory_order_relaxed);
  }

  /// Height of a point above the plane through the block and its neighbours; NaN where there is no ground.
  double above(const Vec3d& p) const {
    if (!frame_.contains(p)) return std::nan("");
    const std::size_t i = frame_.column(p.x), j = frame_.row(p.y);
    const double mean = at(i, j);
    const auto slope = [&](std::size_t place, std::size_t count, auto value) {
      const double low = place > 0 ? value(place - 1) : std::nan(""),
                   high = place + 1 < count ? value(place + 1) : std::nan("");
      if (std::isnan(low)) return std::isnan(high) ? 0.0 : (high - mean) / frame_.cell;
      return std::isnan(high) ? (mean - low) / frame_.cell : (high - low) / (2 * frame_.cell);
    };
    const double along = slope(i, frame_.nx, [&](std::size_t k) { return at(k, j); }),
                 across = slope(j, frame_.ny, [&](std::size_t k) { return at(i, k); });
    return p.z - mean - along * (p.x - frame_.center_x(i)) - across * (p.y - frame_.center_y(j));
  }

 private:
  double at(std::size_t i, std::size_t j) const {
    const std::size_t cell = j * frame_.nx + i;
    if (counts_[cell] < kFewestCellPoints) return std::nan("");
    return datum_ + static_cast<double>(sums_[cell]) / counts_[cell] / kMicrometres;
  }

  static constexpr double kMicrometres = 1e6, kMostHeight_m = 1e4;
  RasterFrame frame_;
  double datum_;
  BulkVector<std::int64_t> sums_;
  BulkVector<std::uint32_t> counts_;
};

RasterFrame frame_of(const Box3d& box) {
  const double width = box.max.x - box.min.x, depth = box.max.y - box.min.y;
  const double cell = std::max(kCell, std::max(width, depth) / kMostCellsPerSide);
  const auto count = [&](double side) { return static_cast<std::uint32_t>(side / cell) + 1; };
  return {box.min.x, box.min.y, cell, count(width), count(depth)};
}

}  // namespace

std::vector<ScanLift> scan_lifts(const std::vector<ScanHeight>& pairs) {
  if (std::none_of(pairs.begin(), pairs.end(), is_clear)) return {};
  std::map<double, std::size_t> at;
  for (const ScanHeight& pair : pairs)
    for (const double scan : {pair.scan_a, pair.scan_b}) at.emplace(scan, 0);
  std::size_t count = 0;
  for (auto& [scan, place] : at) place = count++;
  std::vector<double> a(pairs.size() * count, 0), b;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double weight = std::sqrt(static_cast<double>(pairs[i].cells));
    a[i * count + at[pairs[i].scan_a]] = -weight;
    a[i * count + at[pairs[i].scan_b]] = weight;
    b.push_back(weight * pairs[i].z_m);
  }
  // The shortest solution has the mean 0 in each set of scans that pairs join.
  const LeastSquares found =
      solve_least_squares({{a.data(), a.size()}, pairs.size(), count}, {b.data(), b.size()});
  std::vector<ScanLift> lifts;
  for (const auto& [scan, place] : at) lifts.push_back({scan, found.x[place]});
  return lifts;
}

namespace {

/// Lifts of the scans that lie in the layer of fewer points; empty where no scan is told to lie in one of them alone.
std::vector<ScanLift> lifts_of(const GroundLayers& layers) {
  std::uint64_t lower = 0, upper = 0;
  for (const LayersOfScan& scan : layers.scans) {
    const int side = scan_side(scan);
    lower += side < 0 ? scan.points : 0;
    upper += side > 0 ? scan.points : 0;
  }
  const int moved = upper <= lower ? 1 : -1;
  std::vector<ScanLift> lifts;
  for (const LayersOfScan& scan : layers.scans)
    if (scan_side(scan) == moved) lifts.push_back({scan.scan, moved * layers.z_m});
  return lifts;
}

}  // namespace

std::vector<ScanLift> scan_lifts(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                 const AnyColumn& ground_class, const AnyColumn& scan_index, OpContext& ctx) {
  require(ground_class.size() == positions.size && scan_index.size() == positions.size &&
              (skip.empty() || skip.size == positions.size),
          "every column needs one value per point");
  Box3d box;
  Column<std::uint8_t> others = other_rows(positions, skip, ground_class, &box, ctx);
  if (box.empty()) return {};
  const RasterFrame frame = frame_of(box);
  auto lifts = scan_lifts(scan_heights(positions, others.view(), scan_index, frame, ctx));
  // A scan that lies higher loses the upper part of its ground to what is no ground. All points near the common ground have no such bias.
  for (int round = 0; round < kRounds && !lifts.empty(); ++round) {
    const std::map<double, double> known = by_scan(lifts);
    LoweredGround ground(frame, std::floor(box.min.z));
    const Span<std::uint8_t> marks = others.view();
    visit_scalar(scan_index, [&](auto scans) {
      const auto lowered = [&](std::size_t i) {
        return positions[i] - Vec3d{0, 0, lift_of(known, static_cast<double>(scans[i]))};
      };
      parallel_for(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          if (marks[i] == 0) ground.add(lowered(i));
      });
      parallel_for(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const bool counts = (skip.empty() || skip[i] == 0) && is_finite(positions[i]);
          marks[i] = counts && std::abs(ground.above(lowered(i))) <= kNear ? 0 : 1;
        }
      });
    });
    lifts = scan_lifts(scan_heights(positions, others.view(), scan_index, frame, ctx));
  }
  return lifts;
}

std::vector<ScanLift> take_layers(Span<Vec3d> positions, Span<const std::uint8_t> skip,
                                  const AnyColumn& scan_index, OpContext& ctx) {
  std::vector<ScanLift> all;
  for (int round = 0; round < kMostLayers; ++round) {
    const auto layers = ground_layers(positions, skip, &scan_index, ctx);
    const auto lifts = layers ? lifts_of(*layers) : std::vector<ScanLift>{};
    if (lifts.empty()) break;
    take_lifts(positions, scan_index, lifts, ctx);
    all = joined_lifts(all, lifts);
  }
  return all;
}

std::vector<ScanLift> joined_lifts(const std::vector<ScanLift>& a, const std::vector<ScanLift>& b) {
  std::map<double, double> sums = by_scan(a);
  for (const ScanLift& lift : b) sums[lift.scan] += lift.z_m;
  std::vector<ScanLift> out;
  for (const auto& [scan, z_m] : sums) out.push_back({scan, z_m});
  return out;
}

void take_lifts(Span<Vec3d> points, const AnyColumn& scan_index, const std::vector<ScanLift>& lifts,
                OpContext& ctx) {
  require(scan_index.size() == points.size, "every column needs one value per point");
  const std::map<double, double> known = by_scan(lifts);
  ctx.begin_phase("Moving points", points.size);
  visit_scalar(scan_index, [&](auto scans) {
    parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) points[i].z -= lift_of(known, static_cast<double>(scans[i]));
    });
  });
}

}  // namespace pc
