#include "ops/ground/upper_ground.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace pc {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr double kThreshold = 0.2;

/// Cells of a metre, each with ground in its middle; NaN = no ground there.
class Scene {
 public:
  Scene(const std::function<double(int, int)>& height, int threads = 2)
      : ctx_(control_, Device::kCpu, threads),
        cells_(lattice_, level_of(height)),
        upper_(lattice_, cells_, kThreshold, kGroundConstants, ctx_) {}

  /// Of a point over the middle of a cell.
  bool holds(int x, int y, double height) const {
    const Vec3d point{static_cast<double>(x), static_cast<double>(y), height};
    return upper_.holds(point, height, lattice_.cell_of(point));
  }

 private:
  static constexpr std::uint32_t kSide = 20;
  static CellLevel level_of(const std::function<double(int, int)>& height) {
    CellLevel level{kSide, kSide, 1, BulkVector<CellPoint>(kSide * kSide),
                    BulkVector<std::uint8_t>(kSide * kSide)};
    for (std::size_t cell = 0; cell < level.cells(); ++cell) {
      const double z = height(static_cast<int>(cell % kSide), static_cast<int>(cell / kSide));
      level.points[cell] = {0, 0, static_cast<float>(z)};
      level.ground[cell] = z == z ? 1 : 0;
    }
    return level;
  }

  Lattice lattice_{.x_min = 0,
                   .y_min = 0,
                   .size = 1,
                   .z_origin = 0,
                   .pad = 0,
                   .slope_x = 0,
                   .slope_y = 0,
                   .nx = kSide,
                   .ny = kSide};
  JobControl control_;
  OpContext ctx_;
  GroundCells cells_;
  UpperGround upper_;
};

TEST(UpperGround, AFaceIsGroundFromFootToTop) {
  const Scene face([](int x, int) { return x <= 10 ? 0.0 : 8.0; });
  for (const double height : {1.0, 4.0, 7.9, 8.1}) EXPECT_TRUE(face.holds(10, 10, height)) << height;
  EXPECT_FALSE(face.holds(10, 10, 8.3));  // a plant on the edge
  EXPECT_FALSE(face.holds(6, 10, 2.0));   // one at the foot, away from the face
}

TEST(UpperGround, AFaceEndsAtItsOwnTopWhateverStandsNearby) {
  // Higher ground beside, in none of the eight directions.
  const Scene face([](int x, int y) { return x == 12 && y == 11 ? 20.0 : x <= 10 ? 0.0 : 8.0; });
  EXPECT_TRUE(face.holds(10, 10, 8.1));
  EXPECT_FALSE(face.holds(10, 10, 9.0));
}

TEST(UpperGround, AFaceIsAtLeastAsSteepAsFortyFiveDegrees) {
  // Ground missing beside the point, so that the upper and the lower cell lie 4 m apart.
  const auto step = [](double top) {
    return [top](int x, int) { return x == 9 || x == 11 ? double{kNone} : x <= 10 ? 0.0 : top; };
  };
  EXPECT_TRUE(Scene(step(4.0)).holds(10, 10, 2.0));
  EXPECT_FALSE(Scene(step(3.9)).holds(10, 10, 2.0));
}

TEST(UpperGround, TheEdgeOfATerraceIsGroundAndRoughThingsBesideItAreNot) {
  // Less than 45 degrees over the cells on either side: no face.
  const Scene terrace([](int x, int) { return x <= 10 ? 0.0 : 1.5; });
  EXPECT_TRUE(terrace.holds(10, 10, 1.5));
  EXPECT_FALSE(terrace.holds(10, 10, 0.75));
  EXPECT_FALSE(terrace.holds(7, 10, 1.5));
  const Scene rough([](int x, int y) { return x <= 10 ? 0.0 : 1.5 + (y % 2 == 0 ? 0.4 : -0.4); });
  EXPECT_FALSE(rough.holds(10, 10, 1.5));
}

TEST(UpperGround, NothingAboveLevelGroundAndNothingWithoutGround) {
  const Scene level([](int, int) { return 0.0; });
  const Scene none([](int, int) { return double{kNone}; });
  EXPECT_FALSE(level.holds(10, 10, 0.3));
  EXPECT_FALSE(none.holds(10, 10, 0.0));
  EXPECT_TRUE(level.holds(0, 19, 0.1));  // a corner of the lattice
}

}  // namespace
}  // namespace pc
