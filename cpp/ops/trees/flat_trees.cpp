#include "ops/trees/flat_trees.h"

#include <algorithm>
#include <atomic>
#include <bitset>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/position_hash.h"
#include "core/symmetric_eigen.h"
#include "ops/trees/polled_sort.h"
#include "ops/trees/tree_rows.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::uint64_t kMostPoints = 4'000'000;
constexpr std::size_t kSamples = 200, kFewestPoints = 10, kMostInCell = 60;
constexpr std::uint32_t kNear = 20;
constexpr double kCell = 0.25;                      // metres
constexpr double kReach = 0.5, kMostReach = 3;      // metres
constexpr double kThickness = 0.06, kWidth = 0.25;  // of the reach
constexpr std::size_t kFewestOfLine = 6;
constexpr double kLine = 0.15;   // of the spread along it
constexpr double kLevel = 0.5;   // sine of the angle with the ground
constexpr double kHeight = 0.5;  // of the extent across
constexpr double kLeastAcross = 2;

struct TreePoint {
  std::uint64_t tree, hash;
  Vec3d place;
};

bool before(const TreePoint& a, const TreePoint& b) {
  const auto key = [](const TreePoint& p) {
    return std::tuple(p.tree, p.hash, p.place.x, p.place.y, p.place.z);
  };
  return key(a) < key(b);
}

/// The points of trees, or some of them, by tree and then by hash.
std::vector<TreePoint> sample(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                              const AnyColumn& trees, OpContext& ctx) {
  std::atomic<std::uint64_t> count{0};
  for_each_tree_row(positions, skip, trees, ctx, [&](std::size_t, std::uint64_t, std::size_t) {
    count.fetch_add(1, std::memory_order_relaxed);
  });
  const std::uint64_t every = std::max<std::uint64_t>(1, (count + kMostPoints - 1) / kMostPoints);
  std::vector<std::vector<TreePoint>> parts(static_cast<std::size_t>(ctx.threads()));
  for_each_tree_row(positions, skip, trees, ctx,
                    [&](std::size_t row, std::uint64_t tree, std::size_t worker) {
                      const std::uint64_t hash = position_hash(positions[row]);
                      if (hash % every == 0) parts[worker].push_back({tree, hash / every, positions[row]});
                    });
  std::vector<TreePoint> all;
  for (auto& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
    std::vector<TreePoint>().swap(part);
  }
  polled_sort(all, before, ctx);
  return all;
}

/// Of each tree with enough points the first ones, tree by tree.
struct Samples {
  std::vector<Vec3d> places;
  struct Tree {
    std::uint64_t id;
    std::size_t count;
  };
  std::vector<Tree> trees;
};

Samples samples_of(const std::vector<TreePoint>& points) {
  Samples out;
  for (std::size_t first = 0, end; first < points.size(); first = end) {
    for (end = first; end < points.size() && points[end].tree == points[first].tree;) ++end;
    if (end - first < kFewestPoints) continue;
    const std::size_t count = std::min(end - first, kSamples);
    for (std::size_t i = first; i < first + count; ++i) out.places.push_back(points[i].place);
    out.trees.push_back({points[first].tree, count});
  }
  return out;
}

/// At most kMostInCell points of each cell, by their hash: then no neighbourhood has too many.
std::vector<Vec3d> thinned(std::vector<TreePoint>&& points, OpContext& ctx) {
  for (TreePoint& point : points) {
    const Vec3d& p = point.place;
    point.tree = position_hash({std::floor(p.x / kCell), std::floor(p.y / kCell), std::floor(p.z / kCell)});
  }
  polled_sort(points, before, ctx);
  std::vector<Vec3d> out;
  std::size_t in_cell = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    in_cell = i > 0 && points[i].tree == points[i - 1].tree ? in_cell + 1 : 1;
    if (in_cell <= kMostInCell) out.push_back(points[i].place);
  }
  return out;
}

/// How many of 256 squares of a plane hold points of a neighbourhood; a disc has 208.
class Filled {
 public:
  explicit Filled(double reach) : step_(2 * reach / kAcross), reach_(reach) {}

  void add(double x, double y) { squares_.set(kAcross * index(x) + index(y)); }
  /// Whether they are at least .8 of what points spread evenly over 80 squares would hold. Two lines, as two stems
  /// are, hold up to 60 where points are many.
  bool covers(std::size_t points) const {
    constexpr double kSquares = 80, kPart = 0.8;
    const double expected = kSquares * (1 - std::exp(-static_cast<double>(points) / kSquares));
    return static_cast<double>(squares_.count()) >= kPart * expected;
  }

 private:
  static constexpr std::size_t kAcross = 16;
  std::size_t index(double at) const {
    return static_cast<std::size_t>(std::clamp(std::floor((at + reach_) / step_), 0.0, kAcross - 1.0));
  }
  std::bitset<kAcross * kAcross> squares_;
  double step_, reach_;
};

/// How an upright surface turns about the vertical: the trunk of a giant is flat within half a metre, but for this.
class Bend {
 public:
  /// normal  of the plane of the points, unit
  explicit Bend(const Vec3d& normal) : normal_(normal), level_{normal.y, -normal.x, 0} {}

  /// A point, from the mean of all.
  void add(const Vec3d& point) {
    const double x = dot(point, level_), w = dot(point, normal_), xx = x * x;
    n_ += 1;
    x2_ += xx;
    x3_ += xx * x;
    x4_ += xx * xx;
    w2_ += w * w;
    wx_ += w * x;
    wxx_ += w * xx;
  }
  /// Whether it is a part of a cylinder of at most kMostRadius, and not by chance. Of w = a + b x + c x^2 the curvature is 2 c.
  bool is_round() const {
    constexpr double kMostRadius = 5, kDeviations = 5, kUpright = 0.5, kLeast = 8;
    const double level = level_.x * level_.x + level_.y * level_.y;
    if (n_ < kLeast || !(level > 1 - kUpright * kUpright)) return false;
    // x and w have a mean of 0; with x^2 and x its own mean and its part along x go.
    const double qq = x4_ - x2_ * x2_ / n_ - x3_ * x3_ / x2_, qw = wxx_ - x3_ * wx_ / x2_;
    if (!(qq > 0)) return false;
    const double c = qw / qq, left = w2_ - wx_ * wx_ / x2_ - c * qw;
    const double variance = std::max(0.0, left) / (n_ - 3) / qq;
    return std::abs(2 * c) * level >= 1 / kMostRadius && c * c >= kDeviations * kDeviations * variance;
  }

 private:
  Vec3d normal_, level_;
  double n_ = 0, x2_ = 0, x3_ = 0, x4_ = 0, w2_ = 0, wx_ = 0, wxx_ = 0;
};

enum class Surface : std::uint8_t { kOther, kFlat, kLine };

/// Whether the points around a place lie on a plane, and not on a trunk, or on a level line.
Surface surface_at(const KdTreeView& points, const Vec3d* places, const Vec3d& at) {
  double nearest[kNear];
  points.nearest_distances(at, kNear, points.size, nearest, 1);
  const double reach = std::clamp(std::sqrt(nearest[kNear - 1]), kReach, kMostReach);
  Symmetric3 moments{};
  Vec3d sum{};
  std::size_t count = 0;
  points.for_each_within(at, reach * reach, [&](std::uint64_t row, std::uint64_t, double) {
    const Vec3d d = places[row] - at;
    moments.add_square(d);
    sum = sum + d;
    ++count;
  });
  if (count < kFewestOfLine) return Surface::kOther;
  const double n = static_cast<double>(count);
  const Symmetric3 spread{moments.xx / n - sum.x * sum.x / n / n, moments.xy / n - sum.x * sum.y / n / n,
                          moments.xz / n - sum.x * sum.z / n / n, moments.yy / n - sum.y * sum.y / n / n,
                          moments.yz / n - sum.y * sum.z / n / n, moments.zz / n - sum.z * sum.z / n / n};
  const SymmetricEigen3 eigen = symmetric_eigen(spread);
  if (eigen.value[1] <= kLine * kLine * eigen.value[2] && std::abs(eigen.vector[2].z) <= kLevel)
    return Surface::kLine;
  if (count < kFewestPoints || eigen.value[0] > std::pow(kThickness * reach, 2) ||
      eigen.value[1] < std::pow(kWidth * reach, 2))
    return Surface::kOther;
  Filled filled(reach);
  Bend bend(eigen.vector[0]);
  const Vec3d mean = sum * (1 / n);
  points.for_each_within(at, reach * reach, [&](std::uint64_t row, std::uint64_t, double) {
    const Vec3d d = places[row] - at;
    filled.add(dot(d, eigen.vector[1]), dot(d, eigen.vector[2]));
    bend.add(d - mean);
  });
  return filled.covers(count) && !bend.is_round() ? Surface::kFlat : Surface::kOther;
}

/// Whether points reach farther across than up.
bool is_long(const Vec3d* first, const Vec3d* end) {
  Box3d box;
  for (const Vec3d* p = first; p != end; ++p) box.add(*p);
  const double across = std::hypot(box.max.x - box.min.x, box.max.y - box.min.y);
  return across >= kLeastAcross && box.max.z - box.min.z <= kHeight * across;
}

}  // namespace

std::vector<TreeFlatness> tree_flatness(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                        const AnyColumn& trees, OpContext& ctx) {
  require(skip.empty() || skip.size == positions.size, "skip needs one value per point");
  require(trees.size() == positions.size, "every column needs one value per point");
  ctx.begin_phase("Looking for flat trees", 0);
  std::vector<TreePoint> points = sample(positions, skip, trees, ctx);
  const Samples samples = samples_of(points);
  const std::vector<Vec3d> places = thinned(std::move(points), ctx);
  const KdTree tree({places.data(), places.size()}, ctx);
  std::vector<Surface> surfaces(samples.places.size());
  parallel_for(ctx, surfaces.size(), 8, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      surfaces[i] = surface_at(tree.view(), places.data(), samples.places[i]);
  });
  std::vector<TreeFlatness> out;
  std::size_t first = 0;
  for (const auto& [id, count] : samples.trees) {
    const auto share = [&, first = first, count = count](Surface wanted) {
      const auto begin = surfaces.begin() + static_cast<std::ptrdiff_t>(first);
      const auto found = std::count(begin, begin + static_cast<std::ptrdiff_t>(count), wanted);
      return static_cast<double>(found) / static_cast<double>(count);
    };
    const Vec3d* begin = samples.places.data() + first;
    const double lines = share(Surface::kLine);
    out.push_back({id, share(Surface::kFlat), lines, lines >= kWireTree && is_long(begin, begin + count)});
    first += count;
  }
  return out;
}

double tree_flatness_bytes(std::uint64_t rows) {
  constexpr double kPerPoint = 120;  // points, twice while parts are joined, or with samples and a tree
  return kPerPoint * static_cast<double>(std::min(rows, kMostPoints));
}

}  // namespace pc
