#include "ops/trees/cloud_border.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace {

using namespace pc;

TEST(CloudBorder, ARectangleHasFourLines) {
  const ConvexPolygon outline{{0, 0}, {3, -0.001}, {10, 0}, {10, 4}, {6, 4.002}, {0, 4}};
  const auto pieces = border_pieces(outline, 0.01);
  ASSERT_EQ(pieces.size(), 4);
  double length = 0;
  for (const BorderPiece& piece : pieces) length += piece.length();
  EXPECT_NEAR(length, 28, 1e-9);
  EXPECT_EQ(border_pieces(outline, 1e-4).size(), 6) << "corners further away than the tolerance are corners";
}

TEST(CloudBorder, PlacesAlongALine) {
  const auto line = BorderPiece::line({1, 1}, {4, 5});  // the inside is to its left
  EXPECT_DOUBLE_EQ(line.length(), 5);
  const auto at = line.place_of({1 + 0.6 * 2 - 0.8 * 0.5, 1 + 0.8 * 2 + 0.6 * 0.5});
  ASSERT_TRUE(at);
  EXPECT_NEAR(at->along, 2, 1e-12);
  EXPECT_NEAR(at->depth, 0.5, 1e-12);
  EXPECT_EQ(line.place_of({4, 1})->depth, 0) << "outside";
  EXPECT_FALSE(line.place_of({0, 0})) << "before it begins";
  EXPECT_FALSE(line.place_of({5, 7}));
}

TEST(CloudBorder, ACircleIsOnePieceAndAGapALine) {
  ConvexPolygon round, gap;
  for (int i = 0; i < 200; ++i) {
    const double turn = 2 * std::numbers::pi * i / 200, r = 12.6 - 0.01 * (i % 3);
    round.push_back({5e6 + r * std::cos(turn), 4e6 + r * std::sin(turn)});
    if (i > 30) gap.push_back(round.back());
  }
  for (const ConvexPolygon& outline : {round, gap}) {
    const auto pieces = border_pieces(outline, 0.02);
    ASSERT_EQ(pieces.size(), outline.size() == 200 ? 1 : 2);  // and the chord of the gap
    EXPECT_NEAR(pieces[0].length(), 2 * std::numbers::pi * 12.59, 0.1);
    const auto at = pieces[0].place_of({5e6, 4e6 + 12});
    ASSERT_TRUE(at);
    EXPECT_NEAR(at->depth, 0.59, 0.02);
    EXPECT_NEAR(at->along, 1.5 * std::numbers::pi * 12.59, 0.1);
  }
}

TEST(CloudBorder, ACircleWithAPartCutOffHasALineThere) {
  ConvexPolygon outline;
  for (int i = 0; i < 200; ++i) {
    const double turn = 2 * std::numbers::pi * i / 200;
    if (5 * std::cos(turn) < 4.5) outline.push_back({5 * std::cos(turn), 5 * std::sin(turn)});
  }
  const auto pieces = border_pieces(outline, 0.01);
  ASSERT_EQ(pieces.size(), 2);
  EXPECT_NEAR(pieces[0].length(), 10 * std::numbers::pi, 0.01);
  EXPECT_NEAR(pieces[1].length(), 2 * std::sqrt(25 - 4.5 * 4.5), 0.3);
}

TEST(CloudBorder, CornersOfASquareAreNoCircle) {
  ConvexPolygon outline;  // chamfered, so that all eight lie on one circle
  for (int i = 0; i < 4; ++i)
    for (const double off : {-0.001, 0.001}) {
      const double turn = std::numbers::pi * (0.25 + 0.5 * i) + off;
      outline.push_back({3 * std::cos(turn), 3 * std::sin(turn)});
    }
  EXPECT_EQ(border_pieces(outline, 0.02).size(), 4);
}

TEST(CloudBorder, WithoutCornersThereIsNone) {
  EXPECT_TRUE(border_pieces({}, 0.1).empty());
  EXPECT_TRUE(border_pieces({{0, 0}, {1, 1}}, 0.1).empty());
}

}  // namespace
