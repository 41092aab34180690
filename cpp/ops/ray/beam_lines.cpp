#include "ops/ray/beam_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/random.h"
#include "core/symmetric_eigen.h"
#include "ops/cloud/select_hits.h"
#include "ops/ray/pose_list.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr double kWanted = 20'000;   // lines
constexpr std::size_t kFewest = 50;  // lines that tell a place
constexpr std::size_t kMostReturns = 64;
constexpr std::size_t kMostRows = 500'000;  // that are taken: with so many the times tell no pulses apart
constexpr double kLeastApart = 0.3;         // metres
constexpr double kSameOrigin = 0.01;        // metres
constexpr double kMostRepeated = 0.1;
constexpr int kIterations = 25;     // of each kind of weights
constexpr double kLeastOff = 1e-7;  // metres
constexpr double kRayleigh =
    1.177410022515475;  // median of a distance in a plane over its deviation along an axis
constexpr double kTukey = 4.685;
constexpr double kUntold = 1e-6;  // of the largest eigenvalue

constexpr double kWidest_s = 120;
constexpr std::array<double, 4> kSteps_s{0.5, 0.05, 0.005, 0.001};
constexpr std::size_t kSearched = 2000;  // lines

/// A return that is taken.
struct Taken {
  double time_s, index;
  Vec3d place, origin;
};

std::uint64_t hash_of(double time) { return random_u64(bits_of(time + 0.0), 0); }

/// Calls visit(row) for the returns with a time and a place.
template <class Visit>
void for_each_return(const ReturnRows& rows, Span<const std::uint8_t> skip, OpContext& ctx,
                     const Visit& visit) {
  for (std::size_t i = 0; i < rows.positions.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (skip[i] == 0 && std::isfinite(rows.times_s[i]) && is_finite(rows.positions[i])) visit(i);
  }
}

double median(std::vector<double>& values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double length_of(const Vec3d& v) { return std::sqrt(dot(v, v)); }

Vec3d across(const Vec3d& v, const Vec3d& along) { return v - along * dot(v, along); }

/// Distance of the first return from the line through an origin and the last.
double off_line(const BeamLine& line, const Vec3d& origin) {
  const Vec3d to_last = line.last - origin;
  const double range = length_of(to_last);
  return range > 0 ? length_of(across(line.first - origin, to_last * (1 / range))) : 0;
}

}  // namespace

std::vector<BeamLine> beam_lines(const ReturnRows& rows, OpContext& ctx) {
  const std::size_t n = rows.positions.size;
  require(rows.times_s.size == n && rows.target_index != nullptr && rows.target_index->size() == n,
          "positions, times and target_index must have one length");
  require(rows.origins.size == 1 || rows.origins.size == n,
          "one beam origin, or one for each row, is needed");
  const HitMask mask = hit_mask(n, rows.is_miss, {}, ctx);
  std::vector<Taken> taken;
  visit_scalar(*rows.target_index, [&](auto index) {
    // Pulses of several returns have a least number and others: those of two have one other.
    const auto visit = [&](const auto& call) { for_each_return(rows, mask.skip.view(), ctx, call); };
    double least = HUGE_VAL;
    visit([&](std::size_t i) { least = std::min(least, static_cast<double>(index[i])); });
    std::uint64_t seconds = 0;
    visit([&](std::size_t i) { seconds += static_cast<double>(index[i]) == least + 1 ? 1 : 0; });
    if (seconds < kFewest) return;
    const double share = 2 * kWanted / static_cast<double>(seconds);
    const auto most = share < 1 ? static_cast<std::uint64_t>(share * 0x1p64) : ~std::uint64_t{0};
    const auto take = [&](std::size_t i) {
      if (taken.size() > kMostRows) return;
      taken.push_back({rows.times_s[i], static_cast<double>(index[i]), rows.positions[i],
                       rows.origins[rows.origins.size == 1 ? 0 : i]});
    };
    visit([&](std::size_t i) {
      if (static_cast<double>(index[i]) > least && hash_of(rows.times_s[i]) <= most) take(i);
    });
    std::vector<double> times;  // of pulses with a later return
    for (const Taken& later : taken) times.push_back(later.time_s);
    std::sort(times.begin(), times.end());
    visit([&](std::size_t i) {
      const double time = rows.times_s[i];
      if (static_cast<double>(index[i]) > least || hash_of(time) > most) return;
      if (std::binary_search(times.begin(), times.end(), time)) take(i);
    });
  });
  if (taken.size() > kMostRows) return {};
  std::sort(taken.begin(), taken.end(), [](const Taken& a, const Taken& b) {
    if (a.time_s != b.time_s) return a.time_s < b.time_s;
    if (a.index != b.index) return a.index < b.index;
    return std::array{a.place.x, a.place.y, a.place.z} < std::array{b.place.x, b.place.y, b.place.z};
  });
  std::vector<BeamLine> lines;
  std::size_t several = 0, repeated = 0;
  for (std::size_t begin = 0; begin < taken.size();) {
    std::size_t end = begin + 1;
    bool one = true;
    while (end < taken.size() && taken[end].time_s == taken[begin].time_s) {
      one = one && taken[end].index > taken[end - 1].index &&
            length_of(taken[end].origin - taken[begin].origin) <= kSameOrigin;
      ++end;
    }
    const Taken &first = taken[begin], &last = taken[end - 1];
    if (end - begin > 1) {
      ++several;
      if (!one || end - begin > kMostReturns)
        ++repeated;
      else if (length_of(last.place - first.place) >= kLeastApart && is_finite(first.origin))
        lines.push_back({first.place, last.place, first.origin, first.time_s});
    }
    begin = end;
  }
  if (static_cast<double>(repeated) > kMostRepeated * static_cast<double>(several) || lines.size() < kFewest)
    return {};
  return lines;
}

OriginFit origin_fit(Span<const BeamLine> lines, OpContext& ctx) {
  OriginFit out;
  out.line_count = lines.size;
  if (lines.size == 0) return out;
  std::vector<double> off(lines.size), sorted;
  const auto look = [&](const Vec3d& shift) {
    for (std::size_t k = 0; k < lines.size; ++k) off[k] = off_line(lines[k], lines[k].origin + shift);
    sorted = off;
    return median(sorted);
  };
  out.off_m = look({0, 0, 0});
  double scale = 0;
  Symmetric3 scatter{};
  SymmetricEigen3 axes{};
  for (int round = 0; round < 2 * kIterations; ++round) {
    ctx.checkpoint();
    if (round >= kIterations) scale = std::max(kLeastOff, look(out.shift) / kRayleigh);
    Symmetric3 normal{};
    Vec3d sum{0, 0, 0};
    scatter = Symmetric3{};
    for (std::size_t k = 0; k < lines.size; ++k) {
      const BeamLine& line = lines[k];
      const Vec3d between = line.last - line.first;
      const double length = length_of(between), range = length_of(line.last - line.origin - out.shift);
      if (!(range > 0)) continue;
      const Vec3d along = between * (1 / length);
      const double part = length / range,
                   away = part * length_of(across(line.first - line.origin - out.shift, along));
      double weight = part * part;
      if (round < kIterations) {
        weight /= std::max(away, kLeastOff);
      } else {
        const double bent = 1 - (away / (kTukey * scale)) * (away / (kTukey * scale));
        if (bent <= 0) continue;
        weight *= bent * bent;
      }
      // normal += weight (I - along along^T)
      normal.xx += weight, normal.yy += weight, normal.zz += weight;
      Symmetric3 square{};
      square.add_square(along);
      normal.xx -= weight * square.xx, normal.xy -= weight * square.xy, normal.xz -= weight * square.xz;
      normal.yy -= weight * square.yy, normal.yz -= weight * square.yz, normal.zz -= weight * square.zz;
      sum = sum + across(line.first - line.origin, along) * weight;
      scatter.add_square(across(line.first - line.origin - out.shift, along) * weight);
    }
    axes = symmetric_eigen(normal);
    Vec3d shift{0, 0, 0};
    for (std::size_t a = 0; a < 3; ++a)
      if (axes.value[a] > kUntold * axes.value[2])
        shift = shift + axes.vector[a] * (dot(sum, axes.vector[a]) / axes.value[a]);
    const double moved = length_of(shift - out.shift);
    out.shift = shift;
    if (round >= kIterations && moved < kLeastOff) break;
  }
  out.shifted_off_m = look(out.shift);
  const double length = length_of(out.shift);
  if (length > 0) {  // sandwich: H^-1 S H^-1 along the shift
    Vec3d bread{0, 0, 0};
    for (std::size_t a = 0; a < 3; ++a)
      if (axes.value[a] > kUntold * axes.value[2])
        bread = bread + axes.vector[a] * (dot(out.shift, axes.vector[a]) / length / axes.value[a]);
    const Vec3d filled{scatter.xx * bread.x + scatter.xy * bread.y + scatter.xz * bread.z,
                       scatter.xy * bread.x + scatter.yy * bread.y + scatter.yz * bread.z,
                       scatter.xz * bread.x + scatter.yz * bread.y + scatter.zz * bread.z};
    out.shift_error_m = std::sqrt(std::max(0.0, dot(bread, filled)));
  }
  return out;
}

ClockFit clock_fit(Span<const BeamLine> lines, Span<const double> poses, const Vec3d& lever_arm,
                   const Vec3d& shift, OpContext& ctx) {
  require(is_finite(lever_arm) && is_finite(shift), "lever_arm and shift must be finite");
  const std::vector<Pose> stream = read_poses(poses);
  const PoseStreamView view{{stream.data(), stream.size()}, lever_arm, roll_pitch_yaw(0, 0, 0)};
  std::vector<double> off, moved;
  const auto look = [&](double clock, std::size_t stride) {
    off.clear(), moved.clear();
    std::size_t looked_at = 0;
    for (std::size_t k = 0; k < lines.size; k += stride, ++looked_at) {
      const double time = lines[k].time_s + clock;
      if (time < stream.front().t || time > stream.back().t) continue;
      const Vec3d origin = view.origin(view.at(time)) - shift;
      off.push_back(off_line(lines[k], origin));
      moved.push_back(length_of(origin - lines[k].origin));
    }
    return 2 * off.size() < looked_at || off.empty() ? HUGE_VAL : median(off);
  };
  const std::size_t stride = lines.size / kSearched + 1;
  ClockFit best{0, look(0, stride), 0};
  double middle = 0, half = kWidest_s;
  for (const double step : kSteps_s) {
    const auto count = static_cast<int>(std::lround(half / step));
    for (int k = -count; k <= count; ++k) {
      if (k % 16 == 0) ctx.checkpoint();
      const double clock = middle + k * step, here = look(clock, stride);
      if (here < best.off_m) best.clock_s = clock, best.off_m = here;
    }
    middle = best.clock_s;
    half = 2 * step;
  }
  best.off_m = look(best.clock_s, 1);
  if (!std::isfinite(best.off_m)) best.off_m = std::numeric_limits<double>::quiet_NaN();
  best.moved_m = median(moved);
  return best;
}

}  // namespace pc
