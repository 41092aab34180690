#include "ops/lad/voxel_views.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/cloud/select_hits.h"
#include "ops/lad/beam_rows.h"
#include "ops/lad/pulse_groups.h"

namespace pc {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr std::size_t kZenithSteps = 180, kAzimuthSteps = 72;
constexpr double kStill_m = 1e-3;
constexpr std::size_t kMovingOrigins = 64;
/// Parts of a voxel along each edge where the density is not even: near the axis of a scanner, and elsewhere.
constexpr int kPartsNearAxis = 8, kParts = 3;
/// Width of a voxel, as a share of its distance and of that from the axis of a scanner, from which on the density of the pulses in it is not
/// even.
constexpr double kWide = 0.1, kNearAxis = 0.2;
/// Rows of a list that are read, taken at random from more.
constexpr std::size_t kMostRows = std::size_t{1} << 18;
constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kGrain = 32, kPollRows = std::size_t{1} << 16;

/// A scanner, or a place of one that moves.
struct Scanner {
  Vec3d origin;  // from the centre of the grid
  bool still = true;
  double pulses = 0;
  std::array<double, kZenithSteps> by_zenith{};  // pulses; of density() per steradian
  std::array<double, kAzimuthSteps> by_azimuth{};

  void add(const Vec3d& direction, double count) {
    pulses += count;
    by_zenith[zenith_step(direction)] += count;
    by_azimuth[azimuth_step(direction)] += count;
  }
  /// Turns the counts into shares per steradian.
  void finish() {
    for (std::size_t i = 0; i < kZenithSteps; ++i) {
      const double band = std::cos(kPi * static_cast<double>(i) / kZenithSteps) -
                          std::cos(kPi * static_cast<double>(i + 1) / kZenithSteps);
      by_zenith[i] /= band * (2 * kPi / kAzimuthSteps) * std::max(1.0, pulses);
    }
  }
  /// Pulses per m2 across the beam at a place `way` from the scanner, at least `least` away.
  double density(const Vec3d& way, double least) const {
    const double squared = std::max(dot(way, way), least * least);
    if (!still) return pulses / squared;
    return by_zenith[zenith_step(way)] * by_azimuth[azimuth_step(way)] / squared;
  }

 private:
  static std::size_t zenith_step(const Vec3d& way) {
    const double angle = std::atan2(std::hypot(way.x, way.y), way.z);
    return std::min(kZenithSteps - 1, static_cast<std::size_t>(angle / kPi * kZenithSteps));
  }
  static std::size_t azimuth_step(const Vec3d& way) {
    const double turn = std::atan2(way.y, way.x) / (2 * kPi) + 0.5;
    return std::min(kAzimuthSteps - 1, static_cast<std::size_t>(turn * kAzimuthSteps));
  }
};

class Scanners {
 public:
  Scanners(const Vec3d& center, OpContext& ctx) : center_(center), ctx_(ctx) {}

  void add(const BeamScan& scan) {
    const std::size_t n = scan.positions.size;
    require(scan.origins.size == 1 || scan.origins.size == n, "a beam origin per row is needed, or one");
    require(scan.timestamps.empty() || scan.timestamps.size == n, "a time per row is needed");
    if (n == 0) return;
    const bool still = is_still(scan);
    const std::vector<std::uint16_t> places =
        still ? std::vector<std::uint16_t>() : still_places(scan.origins, n, ctx_);
    if (!still && places.empty()) return add_moving(scan);
    const std::vector<std::size_t> numbers = scanners_of(scan, places);
    each_pulse(scan, [&](std::size_t i, double count) {
      const std::size_t at = places.empty() ? 0 : places[i];
      const Vec3d way = scan.positions[i] - scan.origins[scan.origins.size == 1 ? 0 : i];
      if (is_finite(way) && dot(way, way) > 0) scanners_[numbers[at]].add(way, count);
    });
  }

  std::vector<Scanner> take() {
    for (Scanner& scanner : scanners_) scanner.finish();
    return std::move(scanners_);
  }

 private:
  /// Calls use(row, count) for a sample of the pulses, each of which stands for `count` of them.
  template <class Use>
  void each_pulse(const BeamScan& scan, const Use& use) const {
    const std::size_t n = scan.positions.size, step = std::max<std::size_t>(1, n / kMostRows);
    const auto run = [&](const auto& is_first) {
      std::uint64_t taken = 0;
      for (std::size_t i = 0; i < n; i += step == 1 ? 1 : 1 + random_u64(kSeed, taken) % (2 * step - 1)) {
        if (++taken % kPollRows == 0) ctx_.checkpoint();
        if (is_first(i)) use(i, static_cast<double>(step));
      }
    };
    if (scan.timestamps.empty() || scan.target_index == nullptr) return run([](std::size_t) { return true; });
    const HitMask mask = hit_mask(n, scan.is_miss, {}, ctx_);
    visit_scalar(*scan.target_index, [&](auto index) {
      double first = HUGE_VAL;
      for (std::size_t i = 0; i < n; ++i) {
        if (i % kPollRows == 0) ctx_.checkpoint();
        if (mask.skip[i] == 0) first = std::min(first, static_cast<double>(index[i]));
      }
      // A miss with another number belongs to a pulse that was intercepted in parts.
      run([&](std::size_t i) { return !(static_cast<double>(index[i]) > first); });
    });
  }
  /// Numbers of the scanners by place; without places, of the one.
  std::vector<std::size_t> scanners_of(const BeamScan& scan, const std::vector<std::uint16_t>& places) {
    if (places.empty()) return {at(scan.origins[0] + scan.shift - center_)};
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] == numbers.size()) numbers.push_back(at(scan.origins[i] + scan.shift - center_));
    }
    return numbers;
  }
  bool is_still(const BeamScan& scan) const {
    for (std::size_t i = 1; i < scan.origins.size; ++i) {
      if (i % kPollRows == 0) ctx_.checkpoint();
      if (!(squared_distance(scan.origins[i], scan.origins[0]) <= kStill_m * kStill_m)) return false;
    }
    return is_finite(scan.origins[0]);
  }
  void add_moving(const BeamScan& scan) {
    const std::size_t n = scan.origins.size, parts = std::min(n, kMovingOrigins);
    for (std::size_t part = 0; part < parts; ++part) {
      const Vec3d origin = scan.origins[(2 * part + 1) * n / (2 * parts)] + scan.shift - center_;
      if (!is_finite(origin)) continue;
      Scanner place{origin, false};
      place.pulses = static_cast<double>(n) / static_cast<double>(parts);
      scanners_.push_back(place);
    }
  }
  std::size_t at(const Vec3d& origin) {
    for (std::size_t i = 0; i < scanners_.size(); ++i) {
      if (scanners_[i].still && squared_distance(scanners_[i].origin, origin) <= kStill_m * kStill_m)
        return i;
    }
    scanners_.push_back({origin});
    return scanners_.size() - 1;
  }

  Vec3d center_;
  OpContext& ctx_;
  std::vector<Scanner> scanners_;
};

/// Sums over the scanners at one voxel.
struct Seen {
  double density = 0, pulses = 0;
  double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;  // of density, by the direction of the beams

  void add(double one, const Vec3d& u) {
    density += one;
    xx += one * u.x * u.x, yy += one * u.y * u.y, zz += one * u.z * u.z;
    xy += one * u.x * u.y, xz += one * u.x * u.z, yz += one * u.y * u.z;
  }
  /// Mean cos^2 of the angle between two beams, turned into the alignment.
  double alignment() const {
    const double pairs = xx * xx + yy * yy + zz * zz + 2 * (xy * xy + xz * xz + yz * yz);
    constexpr double kSquare = 8 / kPi - 3;  // of beams at a right angle
    return std::max(0.0, kSquare + (1 - kSquare) * pairs / (density * density));
  }
};

class Viewer {
 public:
  Viewer(const std::vector<Scanner>& scanners, const VoxelBox& grid, const GridFrame& frame)
      : scanners_(scanners),
        rotation_(PlaneRotation::of_degrees(grid.rotation_deg)),
        lattice_(frame.lattice()),
        half_(grid.size * 0.5),
        least_(frame.diagonal() / 2),
        widest_(std::max({lattice_.cell.x, lattice_.cell.y, lattice_.cell.z})),
        moves_(std::any_of(scanners.begin(), scanners.end(), [](const Scanner& one) { return !one.still; })) {
  }

  VoxelView of(std::uint32_t i, std::uint32_t j, std::uint32_t k) const {
    const std::size_t column = lattice_.column(i, j);
    if (!lattice_.is_kept(column)) return {0, 0, 0};
    const Vec3d cell = lattice_.cell;
    const Vec3d middle{(i + 0.5) * cell.x - half_.x, (j + 0.5) * cell.y - half_.y,
                       (k + 0.5) * cell.z - half_.z + lattice_.offset(column)};
    Seen seen;
    int parts = 1;
    for (const Scanner& scanner : scanners_) {
      const Vec3d way = to_world(middle) - scanner.origin;
      const double away = std::max(std::sqrt(dot(way, way)), least_);
      const Vec3d unit = way * (1 / away);
      const bool near_axis = widest_ > kNearAxis * std::hypot(way.x, way.y);
      const int own_parts = !scanner.still           ? 1
                            : near_axis              ? kPartsNearAxis
                            : widest_ > kWide * away ? kParts
                                                     : 1;
      const double density =
          own_parts > 1 ? mean_density(scanner, middle, own_parts) : scanner.density(way, least_);
      if (density > 0) parts = std::max(parts, own_parts);
      seen.add(density, unit);
      const Vec3d own{rotation_.x_before(unit.x, unit.y), rotation_.y_before(unit.x, unit.y), unit.z};
      const double across = cell.y * cell.z * std::abs(own.x) + cell.x * cell.z * std::abs(own.y) +
                            cell.x * cell.y * std::abs(own.z);
      seen.pulses += density * across;
    }
    if (!(seen.density > 0)) return {1, 1, 0};
    return {seen.alignment(), parts > 1 && !moves_ ? crowding(middle, parts) : 1, moves_ ? 0 : seen.pulses};
  }

 private:
  Vec3d to_world(const Vec3d& p) const {
    return {rotation_.cosine * p.x - rotation_.sine * p.y, rotation_.sine * p.x + rotation_.cosine * p.y,
            p.z};
  }
  template <class Use>
  void each_part(const Vec3d& middle, int parts, Use&& use) const {
    const auto step = [&](int part) { return (part + 0.5) / parts - 0.5; };
    const Vec3d& cell = lattice_.cell;
    for (int a = 0; a < parts; ++a)
      for (int b = 0; b < parts; ++b)
        for (int c = 0; c < parts; ++c)
          use(to_world(middle + Vec3d{step(a) * cell.x, step(b) * cell.y, step(c) * cell.z}));
  }
  double mean_density(const Scanner& scanner, const Vec3d& middle, int parts) const {
    double sum = 0;
    each_part(middle, parts,
              [&](const Vec3d& place) { sum += scanner.density(place - scanner.origin, least_ / parts); });
    return sum / (parts * parts * parts);
  }
  double crowding(const Vec3d& middle, int parts) const {
    double sum = 0, squares = 0;
    each_part(middle, parts, [&](const Vec3d& place) {
      double density = 0;
      for (const Scanner& scanner : scanners_)
        density += scanner.density(place - scanner.origin, least_ / parts);
      sum += density, squares += density * density;
    });
    return sum > 0 ? squares * (parts * parts * parts) / (sum * sum) : 1;
  }

  const std::vector<Scanner>& scanners_;
  PlaneRotation rotation_;
  const VoxelLattice& lattice_;
  Vec3d half_;
  double least_, widest_;
  bool moves_;
};

}  // namespace

Column<double> voxel_views(const std::vector<BeamScan>& scans, const VoxelBox& grid, OpContext& ctx) {
  const GridFrame frame(grid);
  Scanners found(grid.center, ctx);
  for (const BeamScan& scan : scans) found.add(scan);
  const std::vector<Scanner> scanners = found.take();
  const Viewer viewer(scanners, grid, frame);
  const VoxelLattice& lattice = frame.lattice();
  Column<double> out(frame.cells() * kVoxelViewFields);
  auto* const views = reinterpret_cast<VoxelView*>(out.view().data);
  parallel_for(ctx, frame.cells(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const std::size_t column = v % lattice.layer();
      views[v] = viewer.of(static_cast<std::uint32_t>(column % lattice.nx),
                           static_cast<std::uint32_t>(column / lattice.nx),
                           static_cast<std::uint32_t>(v / lattice.layer()));
    }
  });
  return out;
}

}  // namespace pc
