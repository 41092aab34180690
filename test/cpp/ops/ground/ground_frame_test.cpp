#include "ops/ground/ground_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/random.h"
#include "ops/ground/ground_auto.h"
#include "ops/ground/smrf.h"
#include "support/ground_clouds.h"

namespace pc {
namespace {

using test::GroundCloud;
using Labels = std::vector<std::uint8_t>;

constexpr double kSide = 80, kBuffer = 20;

/// A hilly forest with noise and strays, far from the origin: `per_m2` points per m2 in the west, four times as many and
/// rougher ground in the east.
GroundCloud forest(double per_m2) {
  GroundCloud cloud;
  const auto count = static_cast<std::size_t>(per_m2 * kSide * kSide);
  for (std::size_t i = 0; i < count; ++i) {
    const auto random = [&](std::uint64_t k) { return random_unit(5, 8 * i + k); };
    const double across = random(0), y = kSide * random(1);
    const bool east = across > 0.2;
    const double x = kSide * (east ? 0.5 + 0.625 * (across - 0.2) : 2.5 * across);
    const double ground =
        0.08 * x + 3 * std::sin(x / 17) * std::cos(y / 23) + (east ? 0.3 : 0.04) * random(2);
    const bool crown = std::fmod(x, 6) < 3 && std::fmod(y, 5) < 3 && random(3) < 0.6;
    const double above = crown ? 1 + 9 * random(4) : random(5) < 1e-3 ? -4 * random(6) : 0;
    const auto to_mm = [](double value) { return std::rint(value * 1000) / 1000; };
    cloud.push_back({405'000 + to_mm(x), 3'276'000 + to_mm(y), to_mm(200 + ground + above)});
  }
  return cloud;
}

GroundAutoResult run_auto(const GroundCloud& cloud, const GroundFrame* frame = nullptr) {
  JobControl control;
  OpContext ctx(control);
  return ground_auto(test::hits_of(cloud), kGroundConstants, ctx, frame);
}

Labels auto_labels(const GroundCloud& cloud, const GroundFrame* frame) {
  return test::labels_of(run_auto(cloud, frame).ground_class);
}

Labels smrf_labels(const GroundCloud& cloud, const GroundFrame* frame) {
  JobControl control;
  OpContext ctx(control);
  return test::labels_of(smrf(test::hits_of(cloud), {1, 0.15, 10, 0.5, 1.25, 0}, ctx, frame).ground_class);
}

Labels cloth_labels(const GroundCloud& cloud, const GroundFrame* frame) {
  JobControl control;
  OpContext ctx(control);
  const ClothSimulationParams params = test::cloth_defaults(0.75, 0.3);
  return test::labels_of(cloth_simulation(test::hits_of(cloud), params, ctx, frame).ground_class);
}

/// Share of the points whose label in four parts with buffers differs from that in the whole.
template <class Filter>
double share_differing(const GroundCloud& cloud, const GroundFrame* frame, const Filter& filter) {
  const Labels whole = filter(cloud, frame);
  std::size_t different = 0;
  for (int part = 0; part < 4; ++part) {
    const double west = 405'000 + (part % 2) * kSide / 2, south = 3'276'000 + (part / 2) * kSide / 2;
    const auto inside = [&](const Vec3d& p, double margin) {
      return p.x >= west - margin && p.x < west + kSide / 2 + margin && p.y >= south - margin &&
             p.y < south + kSide / 2 + margin;
    };
    GroundCloud view;
    std::vector<std::size_t> row;
    for (std::size_t i = 0; i < cloud.size(); ++i) {
      if (!inside(cloud[i], kBuffer)) continue;
      view.push_back(cloud[i]);
      row.push_back(i);
    }
    const Labels labels = filter(view, frame);
    for (std::size_t k = 0; k < row.size(); ++k)
      different += inside(cloud[row[k]], 0) && labels[k] != whole[row[k]];
  }
  return static_cast<double>(different) / static_cast<double>(cloud.size());
}

TEST(GroundFrame, WithItsOwnFrameACloudHasItsLabelsBitForBit) {
  for (const double per_m2 : {3.0, 12.0}) {
    const GroundCloud cloud = forest(per_m2);
    const GroundAutoResult own = run_auto(cloud);
    const GroundAutoResult framed = run_auto(cloud, &own.frame);
    EXPECT_EQ(test::labels_of(own.ground_class), test::labels_of(framed.ground_class)) << per_m2;
    EXPECT_EQ(own.derived.class_threshold, framed.derived.class_threshold);
    EXPECT_EQ(own.noise_m, framed.noise_m);
    EXPECT_GT(own.ground_count, cloud.size() / 2);
    EXPECT_GT(own.plant_count, cloud.size() / 10);
    EXPECT_EQ(smrf_labels(cloud, nullptr), smrf_labels(cloud, &own.frame));
    EXPECT_EQ(cloth_labels(cloud, nullptr), cloth_labels(cloud, &own.frame));
  }
}

TEST(GroundFrame, PartsHaveTheLabelsOfTheWhole) {
  for (const double per_m2 : {3.0, 12.0}) {
    const GroundCloud cloud = forest(per_m2);
    const GroundFrame frame = run_auto(cloud).frame;
    EXPECT_LE(share_differing(cloud, &frame, auto_labels), 3e-5) << per_m2;
    EXPECT_LE(share_differing(cloud, &frame, smrf_labels), 3e-5) << per_m2;
    EXPECT_GT(share_differing(cloud, nullptr, auto_labels), 1e-4) << per_m2;  // what the frame is for
  }
}

TEST(GroundFrame, AClothInPartsIsThatOfTheWholeButForSomePoints) {
  const GroundCloud cloud = forest(3);
  const GroundFrame frame = run_auto(cloud).frame;
  EXPECT_LE(share_differing(cloud, &frame, cloth_labels), 1e-3);
  EXPECT_GT(share_differing(cloud, nullptr, cloth_labels), 5e-3);
}

TEST(GroundFrame, CellsOfAPartAreThoseOfTheWhole) {
  const Box3d all{{1000, 2000, 0}, {1400, 2300, 50}}, part{{1203.3, 2101.1, 3}, {1260.8, 2190.2, 9}};
  GroundFrame frame{};
  frame.origin_x = all.min.x;
  frame.origin_y = all.min.y;
  const LatticePlane plane{7, 0.1, -0.2};
  const Lattice whole = lattice_in(&frame, all, 0.37, 1, 64, plane);
  const Lattice cut = lattice_in(&frame, part, 0.37, 1, 64, plane);
  const Lattice plain = lattice_over(all, 0.37, 1, plane);
  EXPECT_EQ(whole.nx, plain.nx);
  EXPECT_EQ(whole.ny, plain.ny);
  EXPECT_EQ(static_cast<std::int64_t>(cut.skip_x) % 64, 0);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const Vec3d p{part.min.x + 57.5 * random_unit(1, 3 * i), part.min.y + 89.1 * random_unit(1, 3 * i + 1),
                  10 * random_unit(1, 3 * i + 2)};
    const std::size_t a = whole.cell_of(p), b = cut.cell_of(p);
    ASSERT_EQ(a % whole.nx, b % cut.nx + static_cast<std::size_t>(cut.skip_x));
    ASSERT_EQ(a / whole.nx, b / cut.nx + static_cast<std::size_t>(cut.skip_y));
    ASSERT_EQ(whole.height_of(p), cut.height_of(p));
    ASSERT_EQ(whole.cell_of(p), plain.cell_of(p));
  }
}

TEST(GroundFrame, ValuesOutOfRangeAreRefused) {
  const GroundCloud cloud = forest(1);
  const GroundFrame good = run_auto(cloud).frame;
  EXPECT_NO_THROW(check_frame(good));
  const auto refused = [&](double GroundFrame::*field, double value) {
    GroundFrame frame = good;
    frame.*field = value;
    EXPECT_THROW(run_auto(cloud, &frame), Error) << value;
    EXPECT_THROW(smrf_labels(cloud, &frame), Error) << value;
    EXPECT_THROW(cloth_labels(cloud, &frame), Error) << value;
  };
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    refused(&GroundFrame::outlier_cell_m, bad);
    refused(&GroundFrame::cell_size, bad);
    refused(&GroundFrame::point_count, bad);
  }
  refused(&GroundFrame::slope_x, 6);
  refused(&GroundFrame::origin_x, std::numeric_limits<double>::infinity());
  refused(&GroundFrame::origin_y, 1e300);        // cells beyond all numbers
  refused(&GroundFrame::outlier_cell_m, 1e-12);  // more cells than memory
}

}  // namespace
}  // namespace pc
