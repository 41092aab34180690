#include "ops/plant/phenology.h"

#include <gtest/gtest.h>

#include <limits>

namespace pc {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

Phenology almond() {
  Phenology p;
  p.dormancy_break_day = 90;
  p.season_days = 275;
  p.flower_opening_days = 3;
  p.fruit_set_days = 7;
  p.fruit_maturity_days = 20;
  return p;
}

Phenology bean() {
  Phenology p;
  p.flower_initiation_days = 40;
  p.flower_opening_days = 5;
  p.fruit_set_days = 5;
  p.fruit_maturity_days = 30;
  return p;
}

TEST(Phenology, YearsOfAPerennialGoBackBeforeAgeZero) {
  for (const auto& [day, start, end] : {std::tuple{-1.0, -275.0, 0.0},
                                        {0.0, 90.0, 365.0},
                                        {89.0, 90.0, 365.0},
                                        {90.0, 90.0, 365.0},
                                        {364.999, 90.0, 365.0},
                                        {365.0, 455.0, 730.0},
                                        {-365.0, -275.0, 0.0}}) {
    EXPECT_EQ(season_at(almond(), day).start, start) << day;
    EXPECT_EQ(season_at(almond(), day).end, end) << day;
  }
  EXPECT_EQ(next_season_start(almond(), 0), 90);
  EXPECT_EQ(next_season_start(almond(), 90), 455);
  EXPECT_EQ(next_season_start(almond(), -3), 90);
  EXPECT_EQ(next_dormancy(almond(), 0), 365);
  EXPECT_EQ(next_dormancy(almond(), 365), 730);
  EXPECT_EQ(year_start(almond(), 364), 0);
  EXPECT_EQ(year_start(almond(), 365), 365);
}

TEST(Phenology, FractionsOfDaysDoNotSlipAcrossTheYear) {
  Phenology p = almond();
  p.dormancy_break_day = 0.1;
  p.season_days = 0.2;
  double day = 0;
  for (int year = 0; year < 10'000; ++year) {
    const double next = next_dormancy(p, day);
    ASSERT_GT(next, day);
    ASSERT_NEAR(next, 0.3 * (year + 1), 1e-9);
    ASSERT_EQ(year_start(p, next), next);
    day = next;
  }
}

TEST(Phenology, AnnualsHaveOneSeason) {
  EXPECT_EQ(season_at(bean(), 500).start, 0);
  EXPECT_EQ(season_at(bean(), 500).end, kNone);
  EXPECT_EQ(next_season_start(bean(), 3), kNone);
  EXPECT_EQ(next_dormancy(bean(), 3), kNone);
  Phenology senescing = bean();
  senescing.season_days = 100;
  EXPECT_EQ(season_at(senescing, 99).end, 100);
  EXPECT_EQ(season_at(senescing, 100).start, kNone);
  EXPECT_EQ(leaf_fall_day(senescing, 7), 100);
  EXPECT_EQ(leaf_fall_day(bean(), 7), kNone);
}

TEST(Phenology, LeavesFallAtDormancyOrAtTheirAge) {
  Phenology p = almond();
  EXPECT_EQ(leaf_fall_day(p, 100), 365);
  EXPECT_EQ(leaf_fall_day(p, -5), 0);
  p.leaf_lifespan_days = 60;
  EXPECT_EQ(leaf_fall_day(p, 100), 160);
  p.evergreen = true;
  p.leaf_lifespan_days = 600;
  EXPECT_EQ(leaf_fall_day(p, 100), 700);
}

/// A bud of `birth_day` that breaks and sets fruit.
FloralBud bud(double birth_day, bool breaks = true, bool sets_fruit = true) {
  FloralBud out;
  out.birth_day = birth_day;
  out.breaks = breaks;
  out.sets_fruit = sets_fruit;
  return out;
}

TEST(Phenology, FloralBudsOfATreePassTheirStagesAfterDormancy) {
  using enum FloralBudState;
  for (const auto& [day, state, scale] : {std::tuple{-1.0, kDormant, 0.0},
                                          {89.9, kDormant, 0.0},
                                          {90.0, kFlowerClosed, 0.0},
                                          {93.0, kFlowerOpen, 0.0},
                                          {100.0, kFruiting, 0.25},
                                          {110.0, kFruiting, 0.625},
                                          {120.0, kFruiting, 1.0},
                                          {300.0, kFruiting, 1.0},
                                          {365.0, kDead, 0.0}}) {
    const FloralBudStage stage = floral_bud_stage(almond(), bud(-10), true, day);
    EXPECT_EQ(stage.state, state) << day;
    EXPECT_DOUBLE_EQ(stage.fruit_scale_factor, scale) << day;
  }
  EXPECT_EQ(floral_bud_stage(almond(), bud(-10, false), true, 90).state, kDead);
  EXPECT_EQ(floral_bud_stage(almond(), bud(-10, true, false), true, 99).state, kFlowerOpen);
  EXPECT_EQ(floral_bud_stage(almond(), bud(-10, true, false), true, 100).state, kDead);
  EXPECT_EQ(floral_bud_stage(almond(), bud(200), true, 364).state, kDormant);
  EXPECT_EQ(floral_bud_stage(almond(), bud(200), true, 455).state, kFlowerClosed);
}

TEST(Phenology, FloralBudsOfAnAnnualWaitForInitiation) {
  using enum FloralBudState;
  for (const auto& [born, day, state] : {std::tuple{10.0, 9.0, kDormant},
                                         {10.0, 10.0, kActive},
                                         {10.0, 39.9, kActive},
                                         {10.0, 40.0, kFlowerClosed},
                                         {10.0, 45.0, kFlowerOpen},
                                         {10.0, 50.0, kFruiting},
                                         {10.0, 900.0, kFruiting},
                                         {60.0, 60.0, kFlowerClosed},
                                         {60.0, 69.0, kFlowerOpen},
                                         {60.0, 70.0, kFruiting}})
    EXPECT_EQ(floral_bud_stage(bean(), bud(born), false, day).state, state) << born << " " << day;
}

TEST(Phenology, StagesThatAreNotModelledAreSkipped) {
  using enum FloralBudState;
  Phenology p;
  p.fruit_set_days = 4;  // cereals: no flower organ
  p.fruit_maturity_days = 10;
  EXPECT_EQ(floral_bud_stage(p, bud(20), false, 23.9).state, kActive);
  EXPECT_EQ(floral_bud_stage(p, bud(20), false, 24).state, kFruiting);
  p = {};
  p.flower_opening_days = 14;  // bindweed: no fruit
  EXPECT_EQ(floral_bud_stage(p, bud(20), false, 33).state, kFlowerClosed);
  EXPECT_EQ(floral_bud_stage(p, bud(20), false, 34).state, kFlowerOpen);
  EXPECT_EQ(floral_bud_stage(p, bud(20), false, 900).state, kFlowerOpen);
  p.flower_lifespan_days = 2;
  EXPECT_EQ(floral_bud_stage(p, bud(20), false, 36).state, kDead);
  p = {};
  p.flower_initiation_days = 20;  // ground cherry: closed until the fruit sets
  p.fruit_set_days = 20;
  EXPECT_EQ(floral_bud_stage(p, bud(5), false, 20).state, kFlowerClosed);
  EXPECT_EQ(floral_bud_stage(p, bud(5), false, 40).state, kFruiting);
  EXPECT_EQ(floral_bud_stage(p, bud(5), false, 40).fruit_scale_factor, 1);
}

}  // namespace
}  // namespace pc
