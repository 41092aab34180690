#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "core/error.h"
#include "ops/trees/tiled_cut_pursuit.h"
#include "ops/trees/tiled_path_trees.h"
#include "ops/trees/tree_decimation.h"
#include "support/columns.h"
#include "support/fuzz_runs.h"

namespace {

using namespace pc;
using namespace pc::test;

constexpr double kLengths[] = {1e-3, 0.5, 10, 1e3, 1e6};

/// A hostile cloud in tiles of any size.
class Tiled {
 public:
  explicit Tiled(std::uint64_t seed)
      : random_(seed), cloud_(hostile_cloud(seed, 80)), ctx_(control_, Device::kCpu, 2) {
    std::uniform_real_distribution<float> height(-1, 6);
    for (std::size_t i = 0; i < cloud_.size(); ++i)
      heights_.push_back(random_() % 8 == 0 ? std::numeric_limits<float>::quiet_NaN() : height(random_));
    for (std::size_t i = 0; seed % 3 == 0 && i < cloud_.size() && i < 4; ++i) seeds_.push_back(cloud_[i]);
  }

  TiledTreesResult run() {
    const double buffer = kLengths[random_() % 5];
    const TreeTilePlan plan =
        tree_tile_plan(points(), 1 + random_() % 1000, buffer, 1 + random_() % 500, ctx_);
    if (random_() % 2 == 0)
      return tiled_path_trees(points(), {heights_.data(), heights_.size()}, span_of(seeds_),
                              {kPathConstants.finest_node_m, std::nullopt, kPathConstants}, plan, ctx_)
          .found;
    const CutPursuitTreesParams published{1, 5, 0.05, 15, 20, 0.1, 2, 0.5, 0.5, 20, 0.7, 1.5, 3, {}};
    return tiled_cut_pursuit(points(), span_of(seeds_), published, plan, ctx_);
  }
  TreeDecimation decimated() { return tree_decimation(points(), 0.05, 0.1, ctx_); }

  void check(const TiledTreesResult& found) const {
    ASSERT_EQ(found.tree_instance.view().size, cloud_.size());
    for (std::size_t i = 0; i < cloud_.size(); ++i) {
      ASSERT_LE(found.tree_instance[i], found.tree_count);
      if (!is_finite(cloud_[i])) {
        ASSERT_EQ(found.tree_instance[i], 0U);
      }
    }
    if (!seeds_.empty()) {
      ASSERT_EQ(found.tree_count, seeds_.size());
    }
    ASSERT_LE(found.tiles_run, found.tiles);
  }

 private:
  HitPoints points() const { return HitPoints::assume_hits(span_of(cloud_)); }

  std::mt19937_64 random_;
  std::vector<Vec3d> cloud_, seeds_;
  std::vector<float> heights_;
  JobControl control_;
  OpContext ctx_;
};

/// True if the call answers; a refusal is one of arguments.
template <class Call>
bool answers(std::uint64_t seed, const Call& call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << seed << ": " << error.what();
    return false;
  }
}

TEST(TiledTrees, HostileCloudsAndTiles) {
  const std::uint64_t runs = fuzz_runs(150);
  std::uint64_t answered = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    SCOPED_TRACE(seed);
    Tiled cloud(seed);
    answered += answers(seed, [&] { cloud.check(cloud.run()); }) ? 1 : 0;
  }
  EXPECT_GT(answered, runs / 4);
}

TEST(TreeDecimation, HostileClouds) {
  const std::uint64_t runs = fuzz_runs(150);
  std::uint64_t answered = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    Tiled cloud(seed);
    answered +=
        answers(seed, [&] { EXPECT_GE(cloud.decimated().whole.decimate_res1, 0.05) << seed; }) ? 1 : 0;
  }
  EXPECT_GT(answered, runs / 4);
}

}  // namespace
