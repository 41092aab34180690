#include "ops/qsm/shoot_table.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/qsm/qsm_checks.h"
#include "support/cpu_time.h"

namespace {

using namespace pc;

QsmCylinder cylinder(std::int64_t id, std::int64_t parent, std::int32_t rank, std::int64_t shoot = -1) {
  return {.cyl_id = id,
          .start = {0, 0, static_cast<double>(id)},
          .end = {0, 0, static_cast<double>(id) + 1},
          .radius = 0.1,
          .parent_id = parent,
          .shoot_id = shoot,
          .rank = rank};
}

QsmRows rows_of(std::vector<QsmCylinder> cylinders) {
  QsmRows rows{std::move(cylinders), {}};
  rows.parent_shoot.assign(rows.cylinders.size(), QsmRows::kNotStated);
  return rows;
}

Qsm model(QsmRows rows) {
  JobControl control;
  OpContext ctx(control);
  return with_shoots(std::move(rows), ctx);
}

std::string refusal(QsmRows rows) {
  try {
    model(std::move(rows));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

TEST(ShootTable, PlacesAndRadiiBeyondMeasureAreRefused) {
  for (const double far :
       {1e91, -1e91, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    QsmCylinder end = cylinder(7, -1, 0), radius = cylinder(7, -1, 0);
    end.end.y = far;
    EXPECT_EQ(refusal(rows_of({end})), "cylinder 7 has a position or a radius beyond 1e90 m") << far;
    if (!(far > 0)) continue;
    radius.radius = far;
    EXPECT_EQ(refusal(rows_of({radius})), "cylinder 7 has a position or a radius beyond 1e90 m") << far;
  }
  QsmCylinder near = cylinder(7, -1, 0);
  near.end.y = 1e89;
  EXPECT_EQ(refusal(rows_of({near})), "accepted");
}

TEST(ShootTable, DerivesShootsFromBranching) {
  // A stem 0-1-2; two children of its rank at 1: the first continues it. A branch 4-5 at 0.
  const Qsm qsm = model(rows_of({cylinder(0, -1, 0), cylinder(1, 0, 0), cylinder(4, 0, 1), cylinder(2, 1, 0),
                                 cylinder(3, 1, 0), cylinder(5, 4, 1)}));
  ASSERT_EQ(qsm.shoots.size(), 3U);
  EXPECT_EQ(qsm.shoots[0].cylinder_ids, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(qsm.shoots[1].cylinder_ids, (std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(qsm.shoots[1].parent_cyl_id, 0);
  EXPECT_EQ(qsm.shoots[1].parent_shoot_id, 0);
  EXPECT_EQ(qsm.shoots[1].rank, 1);
  EXPECT_EQ(qsm.shoots[2].cylinder_ids, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(qsm.shoots[2].parent_cyl_id, 1);
  EXPECT_EQ(qsm.shoots[0].child_shoot_ids, (std::vector<std::int64_t>{1, 2}));
}

TEST(ShootTable, KeepsFileOrderAndReadsParentsBelowChildren) {
  const Qsm qsm = model(rows_of({cylinder(2, 1, 0), cylinder(1, 0, 0), cylinder(0, -1, 0)}));
  ASSERT_EQ(qsm.shoots.size(), 1U);
  EXPECT_EQ(qsm.shoots[0].cylinder_ids, (std::vector<std::int64_t>{2, 1, 0}));
  EXPECT_EQ(qsm.shoots[0].parent_cyl_id, -1) << "a shoot that leaves from itself leaves from none";
}

TEST(ShootTable, StatedParentShootWins) {
  QsmRows rows = rows_of({cylinder(0, -1, 0, 10), cylinder(1, 0, 1, 20), cylinder(2, 1, 2, 30)});
  rows.parent_shoot = {-1, 10, 10};
  const Qsm qsm = model(std::move(rows));
  EXPECT_EQ(qsm.shoots[2].parent_shoot_id, 10);
  EXPECT_EQ(qsm.shoots[2].parent_cyl_id, 1);
  EXPECT_EQ(qsm.shoots[0].child_shoot_ids, (std::vector<std::int64_t>{20, 30}));
}

TEST(ShootTable, SelfReferenceIsNone) {
  QsmRows rows = rows_of({cylinder(0, -1, 0, 10), cylinder(1, 0, 1, 20)});
  rows.parent_shoot = {10, 20};
  const Qsm qsm = model(std::move(rows));
  EXPECT_EQ(qsm.shoots[1].parent_shoot_id, -1);
  EXPECT_EQ(qsm.shoots[1].parent_cyl_id, -1);
}

TEST(ShootTable, PartlyStatedShootsMayNotCollideWithDerived) {
  EXPECT_EQ(refusal(rows_of({cylinder(0, -1, 0, 7), cylinder(1, 0, 1)})), "accepted");
  EXPECT_EQ(refusal(rows_of({cylinder(0, -1, 0, 1), cylinder(1, 0, 1)})).substr(0, 34),
            "cylinder 1 states no shoot, and sh");
}

TEST(ShootTable, RefusesWhatIsNoTree) {
  EXPECT_EQ(refusal(rows_of({cylinder(5, -1, 0), cylinder(5, -1, 0)})), "two cylinders have the id 5");
  EXPECT_EQ(refusal(rows_of({cylinder(0, 9, 0)})), "cylinder 0 has the parent 9, which does not exist");
  EXPECT_EQ(refusal(rows_of({cylinder(0, 0, 0)})), "cylinder 0 is its own parent");
  EXPECT_EQ(refusal(rows_of({cylinder(0, 2, 0), cylinder(1, 0, 0), cylinder(2, 1, 0), cylinder(3, 2, 0)})),
            "cylinder 0 is its own ancestor: the parents form a cycle");
  QsmRows loop = rows_of({cylinder(0, -1, 0, 1), cylinder(1, 0, 0, 2)});
  loop.parent_shoot = {2, 1};
  EXPECT_EQ(refusal(std::move(loop)), "shoot 1 is its own ancestor");
  QsmRows lost = rows_of({cylinder(0, -1, 0, 1)});
  lost.parent_shoot = {8};
  EXPECT_EQ(refusal(std::move(lost)), "shoot 1 has the parent shoot 8, which does not exist");
}

/// A chain without stated shoots; the root is the first row or the last one.
std::vector<QsmCylinder> chain_of(std::int64_t count, bool root_first) {
  std::vector<QsmCylinder> chain;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t id = root_first ? i : count - 1 - i;
    chain.push_back(cylinder(id, id - 1, 0));
  }
  return chain;
}

/// CPU seconds.
double seconds_of(const std::vector<QsmCylinder>& cylinders, std::size_t shoots) {
  return test::least_cpu_seconds(5, [&] { EXPECT_EQ(model(rows_of(cylinders)).shoots.size(), shoots); });
}

TEST(ShootTable, LongChainsAndManyRootsTakeLinearTime) {
  // 16 times the rows: 16 times the time, 256 times where every row walks to the root.
  constexpr std::int64_t kRows = 48'000;
  for (const bool root_first : {true, false}) {
    const double few = seconds_of(chain_of(kRows / 16, root_first), 1);
    const double many = seconds_of(chain_of(kRows, root_first), 1);
    ASSERT_LT(many, 50 * few) << (root_first ? "root first" : "root last");
  }
  std::vector<QsmCylinder> roots = chain_of(kRows, true);
  for (QsmCylinder& c : roots) c.parent_id = -1;
  EXPECT_EQ(model(rows_of(roots)).shoots.size(), static_cast<std::size_t>(kRows));
}

TEST(QsmChecks, RefusesShootsThatDisagree) {
  JobControl control;
  OpContext ctx(control);
  const auto wrong = [&](auto&& change) {
    Qsm qsm = model(rows_of({cylinder(0, -1, 0), cylinder(1, 0, 1), cylinder(2, 1, 1)}));
    change(qsm);
    try {
      check_qsm(qsm, ctx);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(wrong([](Qsm&) {}), "accepted");
  EXPECT_EQ(wrong([](Qsm& q) { q.shoots[1].cylinder_ids.pop_back(); }), "cylinder 2 is listed by no shoot");
  EXPECT_EQ(wrong([](Qsm& q) {
              q.shoots[1].cylinder_ids = {1, 1};
            }).substr(0, 23),
            "shoot 1 lists cylinder ");
  EXPECT_EQ(wrong([](Qsm& q) { q.shoots[0].child_shoot_ids = {}; }).substr(0, 15), "child_shoot_ids");
  EXPECT_EQ(wrong([](Qsm& q) {
              q.shoots[0].parent_shoot_id = 1;
              q.shoots[1].child_shoot_ids = {0};
            }),
            "shoot 0 is its own ancestor");
  EXPECT_EQ(wrong([](Qsm& q) { q.shoots[1].parent_cyl_id = 77; }),
            "shoot 1 leaves from cylinder 77, which does not exist");
}

}  // namespace
