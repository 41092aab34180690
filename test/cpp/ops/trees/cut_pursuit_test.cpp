#include "ops/trees/cut_pursuit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "ops/trees/cut_pursuit_flow.h"
#include "ops/trees/cut_pursuit_join.h"

namespace {

using namespace pc;

struct Problem {
  std::vector<CutEdge> edges;
  std::vector<Vec3d> value;
  std::vector<double> weight;
};

/// A random graph of up to `most` nodes, in the plane for every other seed.
Problem problem(std::uint64_t seed, std::uint32_t most) {
  std::mt19937_64 random(seed);
  const auto n = static_cast<std::uint32_t>(2 + random() % (most - 1));
  std::uniform_real_distribution<double> place(0, 3), cost(0.05, 2);
  Problem p;
  for (std::uint32_t i = 0; i < n; ++i) {
    p.value.push_back({place(random), place(random), seed % 2 == 0 ? 0 : place(random)});
    p.weight.push_back(seed % 3 == 0 ? cost(random) : 1);
  }
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = a + 1; b < n; ++b) {
      if (random() % 10 < 6) p.edges.push_back({a, b, cost(random)});
    }
  }
  return p;
}

CutPursuitSegments solve(const Problem& p, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const CutGraph graph = cut_graph(p.value.size(), {p.edges.data(), p.edges.size()}, ctx);
  return cut_pursuit(graph, {p.value.data(), p.value.size()}, {p.weight.data(), p.weight.size()}, ctx);
}

/// From the definition, with its own means.
double energy(const Problem& p, const std::vector<std::uint32_t>& segment) {
  std::vector<std::pair<double, Vec3d>> sums(segment.size());
  for (std::size_t i = 0; i < segment.size(); ++i) {
    auto& [w, sum] = sums[segment[i]];
    w += p.weight[i];
    sum = sum + p.value[i] * p.weight[i];
  }
  double e = 0;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const auto& [w, sum] = sums[segment[i]];
    e += p.weight[i] * squared_distance(p.value[i], sum * (1 / w));
  }
  for (const CutEdge& edge : p.edges) e += segment[edge.a] != segment[edge.b] ? edge.weight : 0;
  return e;
}

/// The least energy of all partitions, by enumeration of restricted growth strings.
double least_energy(const Problem& p, std::vector<std::uint32_t>& label, std::size_t at, std::uint32_t used) {
  if (at == p.value.size()) return energy(p, label);
  double best = HUGE_VAL;
  for (std::uint32_t k = 0; k <= used; ++k) {
    label[at] = k;
    best = std::min(best, least_energy(p, label, at + 1, std::max(used, k + 1)));
  }
  return best;
}

std::vector<std::uint32_t> labels(const CutPursuitSegments& found) {
  return {found.segment.begin(), found.segment.end()};
}

TEST(CutPursuit, ComesCloseToTheBestOfAllPartitions) {
  int best = 0;
  constexpr int kProblems = 80;
  for (int seed = 0; seed < kProblems; ++seed) {
    const Problem p = problem(static_cast<std::uint64_t>(seed), 8);
    const CutPursuitSegments found = solve(p);
    std::vector<std::uint32_t> label(p.value.size());
    const double least = least_energy(p, label, 0, 0), got = energy(p, labels(found));
    EXPECT_GE(got, least * (1 - 1e-12)) << seed;
    // Greedy: most problems are solved, the worst of these costs a third more.
    EXPECT_LE(got, least * 1.5 + 1e-12) << seed;
    best += got <= least * (1 + 1e-9) + 1e-12 ? 1 : 0;
  }
  EXPECT_GE(best, kProblems * 7 / 10);
}

TEST(CutPursuit, EnergyIsTheDefinitionsAndNeverRises) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Problem p = problem(seed, 40);
    const CutPursuitSegments found = solve(p);
    for (std::size_t i = 1; i < found.energy.size(); ++i)
      EXPECT_LT(found.energy[i], found.energy[i - 1]) << seed << " round " << i;
    EXPECT_NEAR(found.energy.back(), energy(p, labels(found)), 1e-9 * found.energy.front() + 1e-12) << seed;
  }
}

TEST(CutPursuit, NoPairOfNeighboursIsWorthJoining) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Problem p = problem(seed, 30);
    const std::vector<std::uint32_t> found = labels(solve(p));
    const double before = energy(p, found);
    for (const CutEdge& edge : p.edges) {
      std::vector<std::uint32_t> joined = found;
      std::replace(joined.begin(), joined.end(), found[edge.a], found[edge.b]);
      EXPECT_GE(energy(p, joined), before - 1e-9) << seed;
    }
  }
}

TEST(CutPursuit, StartsFromTheComponents) {
  // Two far pairs that no edge links: one segment each, however strong the edges.
  const Problem p{
      {{0, 1, 1e6}, {2, 3, 1e6}}, {{0, 0, 0}, {1, 0, 0}, {1000, 0, 0}, {1001, 0, 0}}, {1, 1, 1, 1}};
  EXPECT_EQ(labels(solve(p)), (std::vector<std::uint32_t>{0, 0, 1, 1}));
  EXPECT_EQ(labels(solve({{}, {{0, 0, 0}, {0, 0, 0}}, {1, 1}})), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(solve({{}, {}, {}}).count, 0U);
  EXPECT_EQ(solve({{{0, 1, 0.1}}, {{5, 5, 5}, {5, 5, 5}}, {1, 1}}).count, 1U);
}

TEST(CutPursuit, CutsAStepWhereItIs) {
  Problem p;
  for (std::uint32_t i = 0; i < 200; ++i) {
    p.value.push_back({i < 73 ? 0.0 : 4.0, 0, 0});
    p.weight.push_back(1);
    if (i > 0) p.edges.push_back({i - 1, i, 5});
  }
  const CutPursuitSegments found = solve(p);
  EXPECT_EQ(found.count, 2U);
  EXPECT_EQ(found.segment[72], 0U);
  EXPECT_EQ(found.segment[73], 1U);
  EXPECT_DOUBLE_EQ(found.energy.back(), 5);
}

TEST(CutPursuit, SameForAnyThreadCount) {
  for (std::uint64_t seed = 500; seed < 520; ++seed) {
    const Problem p = problem(seed, 120);
    EXPECT_EQ(labels(solve(p, 1)), labels(solve(p, 3))) << seed;
  }
}

TEST(MinimumCut, EqualsTheBestOfAllCuts) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Problem p = problem(seed, 10);
    const std::size_t n = p.value.size();
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unary(-3, 3);
    std::vector<double> cost(n);
    for (double& c : cost) c = random() % 5 == 0 ? 0 : unary(random);
    std::vector<std::uint32_t> nodes(n), component(n);
    // Odd nodes of every fourth problem are another component: their edges to even ones do not count.
    for (std::uint32_t i = 0; i < n; ++i) component[i] = seed % 4 == 0 ? i % 2 : 0;
    nodes.clear();
    for (std::uint32_t i = 0; i < n; ++i) {
      if (component[i] == 0) nodes.push_back(i);
    }
    std::vector<double> own;
    for (const std::uint32_t v : nodes) own.push_back(cost[v]);
    JobControl control;
    OpContext ctx(control);
    const CutGraph graph = cut_graph(n, {p.edges.data(), p.edges.size()}, ctx);
    CutState state(graph);
    MinimumCut cut(state, ctx);
    // Both were one component before, whose cut has left its flow.
    std::vector<std::uint32_t> all(n), one(n, 0);
    std::iota(all.begin(), all.end(), 0U);
    cut.solve({all.data(), n}, {one.data(), n}, {cost.data(), n});
    state.separate({component.data(), n}, ctx);
    cut.solve({nodes.data(), nodes.size()}, {component.data(), n}, {own.data(), own.size()});
    const auto value = [&](const auto& second) {
      double sum = 0;
      for (const std::uint32_t v : nodes) sum += second(v) ? cost[v] : 0;
      for (const CutEdge& e : p.edges) {
        if (component[e.a] == 0 && component[e.b] == 0 && second(e.a) != second(e.b)) sum += e.weight;
      }
      return sum;
    };
    double least = HUGE_VAL;
    for (std::uint32_t bits = 0; bits < 1U << n; ++bits)
      least = std::min(least, value([&](std::uint32_t v) { return (bits >> v & 1) != 0; }));
    EXPECT_NEAR(value([&](std::uint32_t v) { return state.on_second_side(v); }), least, 1e-9) << seed;
  }
}

/// Greatest flow by shortest augmenting paths (Edmonds & Karp 1972) over a matrix of capacities.
double greatest_flow(std::vector<std::vector<double>> capacity) {
  const std::size_t n = capacity.size(), source = n - 2, sink = n - 1;
  for (double sum = 0;;) {
    std::vector<std::size_t> from(n, n), queue{source};
    from[source] = source;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (std::size_t v = 0; v < n; ++v) {
        if (from[v] != n || !(capacity[queue[i]][v] > 0)) continue;
        from[v] = queue[i];
        queue.push_back(v);
      }
    }
    if (from[sink] == n) return sum;
    double least = HUGE_VAL;
    for (std::size_t v = sink; v != source; v = from[v]) least = std::min(least, capacity[from[v]][v]);
    for (std::size_t v = sink; v != source; v = from[v]) {
      capacity[from[v]][v] -= least;
      capacity[v][from[v]] += least;
    }
    sum += least;
  }
}

TEST(MinimumCut, EqualsTheGreatestFlowOfLargerGraphs) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> number(0.1, 3);
    constexpr std::uint32_t kSide = 8, kNodes = kSide * kSide;
    std::vector<CutEdge> edges;  // a lattice: paths to the terminals are long and are lost often
    for (std::uint32_t v = 0; v < kNodes; ++v) {
      if (v % kSide != 0) edges.push_back({v - 1, v, number(random)});
      if (v >= kSide) edges.push_back({v - kSide, v, number(random)});
    }
    std::vector<double> cost(kNodes, 0);
    for (double& c : cost) c = random() % 4 == 0 ? 4 * number(random) - 6 : 0;
    std::vector<std::vector<double>> capacity(kNodes + 2, std::vector<double>(kNodes + 2, 0));
    double constant = 0;
    for (const CutEdge& e : edges) capacity[e.a][e.b] = capacity[e.b][e.a] = e.weight;
    for (std::uint32_t v = 0; v < kNodes; ++v) {
      capacity[kNodes][v] = std::max(0.0, cost[v]);
      capacity[v][kNodes + 1] = std::max(0.0, -cost[v]);
      constant += std::min(0.0, cost[v]);
    }
    std::vector<std::uint32_t> nodes(kNodes), component(kNodes, 0);
    for (std::uint32_t v = 0; v < kNodes; ++v) nodes[v] = v;
    JobControl control;
    OpContext ctx(control);
    const CutGraph graph = cut_graph(kNodes, {edges.data(), edges.size()}, ctx);
    CutState state(graph);
    MinimumCut(state, ctx).solve({nodes.data(), kNodes}, {component.data(), kNodes}, {cost.data(), kNodes});
    double value = 0;
    for (std::uint32_t v = 0; v < kNodes; ++v) value += state.on_second_side(v) ? cost[v] : 0;
    for (const CutEdge& e : edges)
      value += state.on_second_side(e.a) != state.on_second_side(e.b) ? e.weight : 0;
    EXPECT_NEAR(value, greatest_flow(capacity) + constant, 1e-9) << seed;
  }
}

TEST(JoinSegments, LargestGainFirst) {
  JobControl control;
  OpContext ctx(control);
  std::vector<ValueSum> sums(4);
  const double x[] = {0, 1, 1.5, 10};
  for (int i = 0; i < 4; ++i) sums[static_cast<std::size_t>(i)].add({x[i], 0, 0});
  // 1 and 2 gain most; then 0 would cost 2/3 * 1.25^2 = 1.04 against its border of 1: it stays.
  EXPECT_EQ(join_segments(sums, {{0, 1, 1.0}, {1, 2, 1.0}, {2, 3, 1.0}}, ctx),
            (std::vector<std::uint32_t>{0, 1, 1, 3}));
  // Borders to both are added up.
  EXPECT_EQ(join_segments(sums, {{0, 1, 0.6}, {0, 2, 0.6}, {1, 2, 1.0}}, ctx),
            (std::vector<std::uint32_t>{0, 0, 0, 3}));
}

}  // namespace
