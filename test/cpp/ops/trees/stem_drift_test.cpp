#include "ops/trees/stem_drift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

#include "ops/trees/stem_trust.h"
#include "ops/trees/tree_inventory.h"
#include "support/inventory_defaults.h"

namespace pc {
namespace {

constexpr double kPi = std::numbers::pi;

/// How far a scan lies from where it should: moved, and turned about the origin.
struct Pose {
  double x_m, y_m, turn;
};

/// Stems on a grid 4 m apart as scanners see them: the side that faces them, with noise along the beams.
struct Stand {
  static constexpr int kSide = 5;
  explicit Stand(double noise) : noise_m(noise) {}
  double noise_m;
  std::mt19937_64 random{3};
  std::vector<Vec3d> points;
  std::vector<std::uint32_t> ids;
  std::vector<std::uint16_t> scans;
  std::vector<double> times;
  std::vector<float> heights;

  static double radius(int stem) { return 0.08 + 0.01 * (stem % 9); }
  static Vec2d place(int stem) { return {4.0 * (stem % kSide), 4.0 * (stem / kSide)}; }

  void look(const Vec2d& from, int count, double reach, std::uint16_t scan, double time, const Pose& pose) {
    std::uniform_real_distribution<double> unit;
    std::normal_distribution<double> noise(0, noise_m);
    for (int stem = 0; stem < kSide * kSide; ++stem) {
      const double x = place(stem).x - from.x, y = place(stem).y - from.y, d = std::hypot(x, y);
      if (d > reach || d < 0.5) continue;
      for (int i = 0; i < count; ++i) {
        const double r = radius(stem), side = r * (2 * unit(random) - 1), z = 4 * unit(random);
        const double along = d - std::sqrt(r * r - side * side) + noise(random);
        const double px = from.x + (x * along - y * side) / d, py = from.y + (y * along + x * side) / d;
        points.push_back({px - pose.turn * py + pose.x_m, py + pose.turn * px + pose.y_m, z});
        ids.push_back(static_cast<std::uint32_t>(stem) + 1);
        scans.push_back(scan);
        times.push_back(time);
        heights.push_back(static_cast<float>(z));
      }
    }
  }

  template <class T>
  static AnyColumn column(const std::vector<T>& values) {
    Column<T> out(values.size());
    std::copy(values.begin(), values.end(), out.view().begin());
    return AnyColumn(std::move(out));
  }

  TreeInventoryResult measure(bool with_scans, bool with_times,
                              const TreeInventoryParams& params = inventory_defaults(),
                              int threads = 2) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    const AnyColumn tree = column(ids), height = column(heights), scan = column(scans), time = column(times);
    return tree_inventory({{points.data(), points.size()},
                           {0, 0, 0},
                           {},
                           &tree,
                           &height,
                           nullptr,
                           with_scans ? &scan : nullptr,
                           with_times ? &time : nullptr},
                          params, ctx);
  }
};

struct Errors {
  double rms_m, worst_m;
};

Errors errors_of(const TreeInventoryResult& found) {
  Errors out{0, 0};
  for (const MeasuredTree& tree : found.trees) {
    const double error =
        tree.stem.breast_height
            ? 2 * (tree.stem.breast_height->circle.radius - Stand::radius(static_cast<int>(tree.id) - 1))
            : HUGE_VAL;
    out.rms_m += error * error / static_cast<double>(found.trees.size());
    out.worst_m = std::max(out.worst_m, std::abs(error));
  }
  out.rms_m = std::sqrt(out.rms_m);
  return out;
}

const std::vector<std::pair<Vec2d, Pose>> kScans{{{-3, 8}, {0, 0, 0}},
                                                 {{20, 9}, {0.06, -0.03, 0.003}},
                                                 {{7, -3}, {-0.02, 0.05, -0.002}},
                                                 {{9, 20}, {-0.03, -0.04, 0.001}}};

Stand scanned(bool moved) {
  Stand stand(0.003);
  for (std::size_t i = 0; i < kScans.size(); ++i)
    stand.look(kScans[i].first, 400, 30, static_cast<std::uint16_t>(i), 1000.0 * static_cast<double>(i),
               moved ? kScans[i].second : Pose{0, 0, 0});
  return stand;
}

TEST(StemDrift, ScansThatDoNotFitAreMovedOntoEachOther) {
  const Stand stand = scanned(true);
  const TreeInventoryResult found = stand.measure(true, false);
  ASSERT_TRUE(found.views && found.views->aligned);
  EXPECT_EQ(found.views->stems, 25U);
  EXPECT_GT(found.views->spread_m, 0.025);
  EXPECT_LT(found.views->rest_m, 0.002);
  EXPECT_LT(errors_of(found).rms_m, 0.0015);
  EXPECT_LT(errors_of(found).worst_m, 0.004);
  TreeInventoryParams as_they_lie = inventory_defaults();
  as_they_lie.align_scans = false;
  const TreeInventoryResult before = stand.measure(true, false, as_they_lie);
  EXPECT_TRUE(before.views->drifts && !before.views->aligned);
  EXPECT_GT(errors_of(before).worst_m, 0.02);
  for (const MeasuredTree& tree : found.trees) EXPECT_GE(tree.dbh_sigma_m, found.views->rest_m) << tree.id;
}

TEST(StemDrift, ScansThatFitAreMeasuredAsWithoutThem) {
  const Stand stand = scanned(false);
  const TreeInventoryResult found = stand.measure(true, true), plain = stand.measure(false, false);
  ASSERT_TRUE(found.views);
  EXPECT_FALSE(found.views->drifts || found.views->aligned);
  EXPECT_LT(found.views->spread_m, 0.001);
  EXPECT_FALSE(plain.views);
  ASSERT_EQ(found.trees.size(), plain.trees.size());
  for (std::size_t i = 0; i < found.trees.size(); ++i)
    EXPECT_EQ(found.trees[i].stem.breast_height->circle.radius,
              plain.trees[i].stem.breast_height->circle.radius);
}

/// Up and down between the rows of stems, 5 minutes.
Stand walked(double noise_m, double drift_m) {
  Stand stand(noise_m);
  for (int step = 0; step < 600; ++step) {
    const double time = 0.5 * step, part = time / 60, lane = std::floor(part), along = part - lane;
    const double x = -2 + 20 * (static_cast<int>(lane) % 2 == 0 ? along : 1 - along);
    stand.look(
        {x, -2 + 4 * lane}, 12, 9, 0, 3e5 + time,
        {drift_m * std::sin(time / 40), drift_m * std::cos(time / 55), drift_m * std::sin(time / 70) / 20});
  }
  return stand;
}

TEST(StemDrift, AWalkThatDriftsIsMeasuredWithoutDrift) {
  const Stand stand = walked(0.005, 0.04);
  const TreeInventoryResult found = stand.measure(false, true), before = stand.measure(false, false);
  ASSERT_TRUE(found.views && found.views->aligned);
  EXPECT_GT(errors_of(before).rms_m, 0.015);
  EXPECT_LT(errors_of(found).rms_m, 0.002);
}

int within_two_errors(const TreeInventoryResult& found) {
  int count = 0;
  for (const MeasuredTree& tree : found.trees) {
    const double radius = tree.stem.breast_height->circle.radius;
    count +=
        2 * std::abs(radius - Stand::radius(static_cast<int>(tree.id) - 1)) < 2 * tree.dbh_sigma_m ? 1 : 0;
  }
  return count;
}

TEST(StemDrift, NoiseAlongTheBeamsHardlyMovesViews) {
  const TreeInventoryResult found = walked(0.015, 0.04).measure(false, true);
  ASSERT_TRUE(found.views && found.views->aligned);
  EXPECT_LT(errors_of(found).rms_m, 0.0045);
  EXPECT_GE(within_two_errors(found), 23);
  for (const MeasuredTree& tree : found.trees)
    EXPECT_NEAR(tree.dbh_sigma_m, std::hypot(breast_height_sigma(tree.stem), found.views->rest_m), 1e-9);
}

TEST(StemDrift, NoiseIsNoDrift) {
  for (const auto& [noise, most] : {std::pair{0.005, 0.0005}, {0.015, 0.002}, {0.03, 0.004}}) {
    const TreeInventoryResult found = walked(noise, 0).measure(false, true);
    ASSERT_TRUE(found.views) << noise;
    EXPECT_FALSE(found.views->drifts) << noise;
    EXPECT_LT(found.views->spread_m, most) << noise;
  }
  TreeInventoryParams small = inventory_defaults();
  small.most_view_spread_m = 1e-6;  // the noise itself says how much it explains
  EXPECT_FALSE(walked(0.015, 0).measure(false, true, small).views->drifts);
}

TEST(StemDrift, TheSameForAnyOrderOfRowsAndThreads) {
  Stand stand = scanned(true);
  const TreeInventoryResult one = stand.measure(true, true, inventory_defaults(), 1);
  std::vector<std::size_t> order(stand.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(5));
  const Stand before = stand;
  for (std::size_t i = 0; i < order.size(); ++i) {
    stand.points[i] = before.points[order[i]];
    stand.ids[i] = before.ids[order[i]];
    stand.scans[i] = before.scans[order[i]];
    stand.times[i] = before.times[order[i]];
    stand.heights[i] = before.heights[order[i]];
  }
  const TreeInventoryResult other = stand.measure(true, true, inventory_defaults(), 3);
  EXPECT_TRUE(one.views->aligned);
  EXPECT_EQ(one.views->spread_m, other.views->spread_m);
  for (std::size_t i = 0; i < one.trees.size(); ++i) {
    EXPECT_EQ(one.trees[i].dbh_sigma_m, other.trees[i].dbh_sigma_m);
    EXPECT_EQ(one.trees[i].stem.base.x, other.trees[i].stem.base.x);
  }
}

TEST(StemDrift, TheSameFarFromTheOrigin) {
  Stand stand = scanned(true);
  const TreeInventoryResult near = stand.measure(true, false);
  for (Vec3d& p : stand.points) p = p + Vec3d{4.5e6, -7.25e5, 0};
  const TreeInventoryResult far = stand.measure(true, false);
  ASSERT_TRUE(far.views && far.views->aligned);
  EXPECT_NEAR(far.views->spread_m, near.views->spread_m, 1e-5);
  EXPECT_LT(errors_of(far).rms_m, 0.0015);
}

TEST(StemDrift, StampsThatAreNotKnownMoveNothing) {
  Stand stand = scanned(true);
  for (std::size_t i = 0; i < stand.times.size(); i += 3) stand.times[i] = std::nan("");
  const TreeInventoryResult found = stand.measure(true, true);
  ASSERT_TRUE(found.views && found.views->aligned);  // by the others
  stand.times.assign(stand.times.size(), HUGE_VAL);
  EXPECT_FALSE(stand.measure(false, true).views);
}

/// A place that is known to a millimetre along both axes, and nothing of the radius.
ViewPlace at(double scan, double time, double x, double y) {
  constexpr double kKnown = 1e6;
  return {{scan, time}, {x, y}, {kKnown, 0, 0, 0, kKnown, 0, 0, 0, 0}, {0, 0, 0}, 1e-4};
}

std::optional<DriftFit> fit(const std::vector<std::vector<ViewPlace>>& stems) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  return fit_drift(stems, ctx);
}

TEST(StemDrift, FewStemsAndManyScansSayNothing) {
  std::vector<std::vector<ViewPlace>> stems;
  for (int i = 0; i < 2; ++i) stems.push_back({at(0, 0, i, 0), at(1, 0, i + 0.1, 0)});
  stems.push_back({at(0, 0, 5, 5)});
  EXPECT_FALSE(fit(stems));
  stems.push_back({at(0, 0, 3, 1), at(1, 0, 3.1, 1)});
  EXPECT_TRUE(fit(stems));
  for (int i = 0; i < 100; ++i) stems.push_back({at(i, 0, i, 3), at(i + 1, 0, i, 3)});
  EXPECT_FALSE(fit(stems));
}

TEST(StemDrift, OneWrongPlaceDoesNotMoveAScan) {
  std::vector<std::vector<ViewPlace>> stems;
  for (int i = 0; i < 12; ++i) {
    const double x = 3.0 * (i % 4), y = 4.0 * (i / 4);
    stems.push_back({at(0, 0, x, y), at(1, 0, x + 0.03, y - 0.01)});
  }
  stems[5][1].center = {stems[5][0].center.x + 0.4, stems[5][0].center.y};
  const auto found = fit(stems);
  ASSERT_TRUE(found);
  for (const Vec2d& place : {Vec2d{0, 0}, Vec2d{9, 8}}) {
    const Vec2d a = found->drift.at({0, 0}, place), b = found->drift.at({1, 0}, place);
    EXPECT_NEAR(b.x - a.x, 0.03, 0.001);
    EXPECT_NEAR(b.y - a.y, -0.01, 0.001);
  }
  EXPECT_EQ(found->drift.at({7, 0}, {0, 0}).x, 0);
  EXPECT_EQ(found->drift.at({0, std::nan("")}, {0, 0}).x, 0);
  EXPECT_EQ(found->drift.at({1, -1e9}, {0, 0}).x, found->drift.at({1, 1e9}, {0, 0}).x);
}

TEST(ViewSplit, ByScanVisitAndTime) {
  JobControl control;
  const OpContext ctx(control, Device::kCpu, 1);
  const ViewSplit split({{0, 5}, {0, 0}, {0, 14}, {0, 30}, {1, 31}, {1, std::nan("")}, {std::nan(""), 3}},
                        ctx);
  EXPECT_EQ(split.count(), 3U);
  EXPECT_EQ(split.of({0, 12}), 0U);
  EXPECT_EQ(split.of({0, 30}), 1U);
  EXPECT_EQ(split.of({0, 20}), kNoView);
  EXPECT_EQ(split.of({1, 31}), 2U);
  EXPECT_EQ(split.of({2, 31}), kNoView);
  EXPECT_EQ(split.of({1, std::nan("")}), kNoView);
  EXPECT_EQ(split.at(0).time_s, 7);
  EXPECT_EQ(ViewSplit({{0, 1e300}, {0, -1e13}, {0, HUGE_VAL}}, ctx).count(), 0U);
  std::vector<ViewStamp> steady;
  for (int i = 0; i <= 300; ++i) steady.push_back({0, static_cast<double>(i)});
  EXPECT_EQ(ViewSplit(steady, ctx).count(), 19U);  // of 16 stamps each
  for (int i = 0; i < 100; ++i) steady.push_back({static_cast<double>(i + 1), 0});
  EXPECT_EQ(ViewSplit(steady, ctx).count(), kMostViews);
  EXPECT_EQ(ViewSplit(steady, ctx).of({0, 40}), 2U);
  EXPECT_EQ(ViewSplit({}, ctx).count(), 0U);
}

}  // namespace
}  // namespace pc
