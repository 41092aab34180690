#include "ops/qsm/branch_system.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/linear_solve.h"

namespace pc {
namespace {

/// The same equations as one full matrix.
struct Dense {
  std::vector<double> matrix, side;
  std::size_t rows;

  explicit Dense(std::size_t of) : matrix(of * of, 0), side(of, 0), rows(of) {}
  void add(const BranchSystem::Terms& terms, std::size_t node, std::size_t up, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      side[node * size + i] += terms.own_side[i];
      if (up != node) side[up * size + i] += terms.parent_side[i];
      for (std::size_t j = 0; j < size; ++j) {
        const std::size_t k = size * i + j;
        matrix[rows * (node * size + i) + node * size + j] += terms.own[k];
        if (up == node) continue;
        matrix[rows * (up * size + i) + up * size + j] += terms.parent[k];
        matrix[rows * (node * size + i) + up * size + j] += terms.across[k];
        matrix[rows * (up * size + j) + node * size + i] += terms.across[k];
      }
    }
  }
};

/// Terms of a few random observations of a node and its parent.
BranchSystem::Terms random_terms(std::size_t size, bool is_root, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  BranchSystem::Terms terms;
  terms.clear(size);
  for (std::size_t seen = 0; seen < 2 * size + 2; ++seen) {
    std::vector<double> own(size), up(size);
    for (double& value : own) value = normal(random);
    if (!is_root)
      for (double& value : up) value = normal(random);
    const double what = normal(random);
    for (std::size_t i = 0; i < size; ++i) {
      terms.own_side[i] += own[i] * what;
      terms.parent_side[i] += up[i] * what;
      for (std::size_t j = 0; j < size; ++j) {
        terms.own[size * i + j] += own[i] * own[j];
        terms.across[size * i + j] += own[i] * up[j];
        terms.parent[size * i + j] += up[i] * up[j];
      }
    }
  }
  return terms;
}

TEST(BranchSystemTest, HasTheSolutionOfTheWholeMatrix) {
  std::mt19937_64 random(5);
  const std::vector<std::uint32_t> parent{0, 1, 0, 2, 2, 1, 3, 6, 6};
  for (const std::size_t size : {1U, 4U, 7U}) {
    BranchSystem system(parent, size);
    Dense dense(parent.size() * size);
    for (std::uint32_t node = 9; node-- > 0;) {
      BranchSystem::Terms terms = random_terms(size, parent[node] == node, random);
      dense.add(terms, node, parent[node], size);
      ASSERT_TRUE(system.eliminate(node, terms));
    }
    const auto whole =
        solve_positive_definite({{dense.matrix.data(), dense.matrix.size()}, dense.rows, dense.rows},
                                {dense.side.data(), dense.side.size()});
    ASSERT_TRUE(whole);
    const std::vector<double> found = system.solve();
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], (*whole)[i], 1e-9) << i;
  }
}

TEST(BranchSystemTest, SaysWhereNothingIsDetermined) {
  BranchSystem system({0, 0}, 3);
  BranchSystem::Terms terms;
  terms.clear(3);
  EXPECT_FALSE(system.eliminate(1, terms));
}

}  // namespace
}  // namespace pc
