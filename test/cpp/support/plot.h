#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/column.h"
#include "core/random.h"
#include "core/vec3.h"

/// Synthetic forest plot for tests and benchmarks, the same recipe as the project's reference plots: 50 m x
/// 50 m of rolling ground, 40 trees (trunks and crown shells), 1 % noise; ordered like a terrestrial scan
/// from the centre (azimuth column, then elevation), millimetre coordinates. A function of `n` alone.
namespace pc::test {

inline constexpr double kPlotSide = 50.0;
inline constexpr std::size_t kPlotTrees = 40;

struct PlotCloud {
  Column<Vec3d> positions;
  Column<Rgb16> rgb;
  Column<std::uint16_t> intensity;
  Column<double> gps_time;
  Column<std::uint8_t> classification;  ///< 2 ground, 4 trunk, 5 crown, 7 noise
  Column<std::uint8_t> tree;            ///< 1-based tree of trunk and crown points, else 0
};

struct PlotTree {
  double x, y, height, trunk_radius, crown_radius, ground;
};

inline double plot_ground(double x, double y) {
  return 1.2 * std::sin(x * 0.11) + 0.8 * std::cos(y * 0.17 + 0.5) + 0.25 * std::sin(x * 0.9 + y * 0.7) +
         0.06 * std::sin(3.1 * x) * std::cos(2.7 * y) + 0.03 * x;
}

/// Numbers of one point: uniform and normal draws that depend on (point, draw) only.
class PlotDraw {
 public:
  explicit PlotDraw(std::uint64_t point) : counter_(point * 16) {}
  double uniform() { return random_unit(11, counter_++); }
  double normal() {
    const double u = 1.0 - uniform(), v = uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * M_PI * v);
  }

 private:
  std::uint64_t counter_;
};

inline std::vector<PlotTree> plot_trees() {
  std::vector<PlotTree> trees;
  for (std::uint64_t i = 0; trees.size() < kPlotTrees; i += 5) {
    const auto between = [&](std::uint64_t k, double low, double high) {
      return low + (high - low) * random_unit(7, i + k);
    };
    const double x = between(0, 2.5, kPlotSide - 2.5), y = between(1, 2.5, kPlotSide - 2.5);
    const bool close = std::any_of(trees.begin(), trees.end(),
                                   [&](const PlotTree& t) { return std::hypot(t.x - x, t.y - y) <= 3.5; });
    if (!close)
      trees.push_back({x, y, between(2, 9, 22), between(3, .1, .3), between(4, 1.6, 3.2), plot_ground(x, y)});
  }
  return trees;
}

/// Picks a tree with a probability proportional to its weight.
template <class Weight>
std::vector<double> plot_shares(const std::vector<PlotTree>& trees, const Weight& weight) {
  std::vector<double> sums;
  double sum = 0;
  for (const PlotTree& t : trees) sums.push_back(sum += weight(t));
  for (double& s : sums) s /= sum;
  return sums;
}

/// Index of the tree that point `i` of a trunk or crown belongs to: its first draw.
inline std::size_t plot_pick(PlotDraw& draw, const std::vector<double>& shares) {
  const auto at = std::upper_bound(shares.begin(), shares.end(), draw.uniform()) - shares.begin();
  return std::min(static_cast<std::size_t>(at), shares.size() - 1);
}

inline Vec3d plot_point(std::uint64_t i, std::uint8_t kind, const std::vector<PlotTree>& trees,
                        const std::vector<double>& trunk_shares, const std::vector<double>& crown_shares) {
  PlotDraw draw(i);
  if (kind == 2) {
    const double x = draw.uniform() * kPlotSide, y = draw.uniform() * kPlotSide;
    return {x, y, plot_ground(x, y) + std::abs(draw.normal()) * .02};
  }
  if (kind == 7) return {draw.uniform() * kPlotSide, draw.uniform() * kPlotSide, draw.uniform() * 28 - 3};
  if (kind == 4) {
    const std::size_t k = plot_pick(draw, trunk_shares);
    const PlotTree& t = trees[k];
    const auto id = static_cast<double>(k);
    const double u = draw.uniform(), angle = draw.uniform() * 2 * M_PI;
    const double r = t.trunk_radius * (1 - .65 * u) + draw.normal() * .004;
    return {t.x + r * std::cos(angle) + .15 * std::sin(2 * u + id),
            t.y + r * std::sin(angle) + .12 * std::cos(3 * u + id) - .12 * std::cos(id),
            t.ground + u * t.height * .85};
  }
  const PlotTree& t = trees[plot_pick(draw, crown_shares)];
  Vec3d d{draw.normal(), draw.normal(), draw.normal()};
  d = d * (1 / (std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z) + 1e-12));
  const double s = 1 - std::abs(draw.normal()) * .12;
  return {t.x + d.x * s * t.crown_radius, t.y + d.y * s * t.crown_radius,
          t.ground + t.height * .65 + d.z * s * t.height * .35};
}

inline PlotCloud make_plot(std::size_t n) {
  const std::vector<PlotTree> trees = plot_trees();
  const auto trunks = plot_shares(trees, [](const PlotTree& t) { return t.height * t.trunk_radius; });
  const auto crowns =
      plot_shares(trees, [](const PlotTree& t) { return t.crown_radius * t.crown_radius * t.height; });
  const auto ground = static_cast<std::size_t>(static_cast<double>(n) * .38);
  const auto trunk = static_cast<std::size_t>(static_cast<double>(n) * .12);
  const auto noise = static_cast<std::size_t>(static_cast<double>(n) * .01);
  const auto kind_of = [&](std::size_t i) -> std::uint8_t {
    return i < ground ? 2 : i < ground + trunk ? 4 : i < n - noise ? 5 : 7;
  };
  BulkVector<Vec3d> points(n);
  struct Key {
    std::uint64_t order;
    std::uint32_t point;
  };
  BulkVector<Key> keys(n);
  const double eye = plot_ground(kPlotSide / 2, kPlotSide / 2) + 1.6;
  const double columns = std::max(500.0, std::floor(std::sqrt(static_cast<double>(n)) * 1.4));
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) {
    Vec3d p = plot_point(i, kind_of(i), trees, trunks, crowns);
    p = {std::rint(p.x * 1000) / 1000, std::rint(p.y * 1000) / 1000, std::rint(p.z * 1000) / 1000};
    points[i] = p;
    const double dx = p.x - kPlotSide / 2, dy = p.y - kPlotSide / 2;
    const auto column = static_cast<std::uint64_t>((std::atan2(dy, dx) + M_PI) * columns / (2 * M_PI));
    const auto elevation =
        static_cast<std::uint64_t>((std::atan2(p.z - eye, std::hypot(dx, dy)) + M_PI / 2) * 1e6);
    keys[i] = {column << 32 | elevation, static_cast<std::uint32_t>(i)};
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return a.order != b.order ? a.order < b.order : a.point < b.point;
  });
  PlotCloud cloud{Column<Vec3d>(n),  Column<Rgb16>(n),        Column<std::uint16_t>(n),
                  Column<double>(n), Column<std::uint8_t>(n), Column<std::uint8_t>(n)};
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t from = keys[i].point;
    const std::uint8_t kind = kind_of(from);
    cloud.positions[i] = points[from];
    cloud.classification[i] = kind;
    PlotDraw draw(from);
    const bool of_tree = kind == 4 || kind == 5;
    cloud.tree[i] = of_tree ? static_cast<std::uint8_t>(1 + plot_pick(draw, kind == 4 ? trunks : crowns))
                            : std::uint8_t{0};
    cloud.gps_time[i] = 4.0e5 + static_cast<double>(i) * 2e-6;
    const double base = kind == 2 ? 18000 : kind == 4 ? 26000 : kind == 5 ? 34000 : 4000;
    cloud.intensity[i] = static_cast<std::uint16_t>(base + 3000 * random_unit(13, i));
    const auto channel = [&](std::uint64_t c, double level) {
      return static_cast<std::uint16_t>(static_cast<unsigned>(level + 3000 * random_unit(14 + c, i)) &
                                        0xff00u);
    };
    cloud.rgb[i] = {channel(0, kind == 2 ? 30000 : 20000), channel(1, kind == 5 ? 33000 : 22000),
                    channel(2, 12000)};
  }
  return cloud;
}

}  // namespace pc::test
