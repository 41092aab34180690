#include "ops/ground/ground_residual.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "core/plane_fit.h"
#include "core/polled_sort.h"
#include "ops/ground/square_sample.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 1 << 14;
constexpr std::size_t kFewest = 100;
constexpr double kSample = 300'000, kLeastSample = 10'000, kMostSample = 1'000'000;
constexpr double kPerWindow = 2000, kMoreWindows = 4;
constexpr double kQueries = 20'000;
constexpr std::uint32_t kNeighbours = 10;
constexpr double kPull = 1e-9;  // of the squared distance of the farthest neighbour

struct Ground {
  Box3d box;
  std::size_t count = 0;
};

/// Squares of the plane by chance.
class Windows {
 public:
  Windows(const Ground& ground, double share) : corner_(ground.box.min), share_(share) {
    const double width = ground.box.max.x - ground.box.min.x, depth = ground.box.max.y - ground.box.min.y;
    const double part = kPerWindow / static_cast<double>(ground.count);
    side_ = std::max(std::sqrt(width * depth * part), std::max(width, depth) * part);
  }
  bool hold(const Vec3d& p) const {
    if (share_ >= 1 || !(side_ > 0)) return true;
    const Square square{static_cast<std::int64_t>((p.x - corner_.x) / side_),
                        static_cast<std::int64_t>((p.y - corner_.y) / side_)};
    return static_cast<double>(SquareHash{}(square)) < share_ * 0x1p64;
  }

 private:
  Vec3d corner_;
  double share_, side_;
};

class Residual {
 public:
  Residual(Span<const Vec3d> positions, Span<const std::uint8_t> labels, OpContext& ctx)
      : positions_(positions), labels_(labels), ctx_(ctx) {}

  double measure() {
    const Ground ground = extent();
    if (ground.count < kFewest) return std::nan("");
    double share = kSample / static_cast<double>(ground.count);
    gather(Windows(ground, share));
    for (; share < 1 && static_cast<double>(points_.size()) < kLeastSample; gather(Windows(ground, share)))
      share *= kMoreWindows;
    return median();
  }

 private:
  bool is_ground(std::size_t i) const { return labels_[i] == 1 && is_finite(positions_[i]); }

  Ground extent() {
    std::vector<Ground> own(static_cast<std::size_t>(ctx_.threads()));
    parallel_for_worker(ctx_, positions_.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
      Ground& mine = own[static_cast<std::size_t>(worker)];
      for (std::size_t i = begin; i < end; ++i) {
        if (!is_ground(i)) continue;
        mine.box.add(positions_[i]);
        ++mine.count;
      }
    });
    Ground all;
    for (const Ground& one : own) {
      if (one.count == 0) continue;
      all.box.add(one.box.min);
      all.box.add(one.box.max);
      all.count += one.count;
    }
    return all;
  }

  /// Takes the points of the windows, of more than kMostSample as many by chance, in an order of their own.
  void gather(const Windows& windows) {
    const auto workers = static_cast<std::size_t>(ctx_.threads());
    std::vector<std::uint64_t> counts(workers, 0);
    each_in(windows, [&](std::size_t worker, const Vec3d&) { ++counts[worker]; });
    const auto count = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
    std::vector<std::vector<Vec3d>> own(workers);
    each_in(windows, [&](std::size_t worker, const Vec3d& p) {
      if (count <= kMostSample || chance_of(p) < kMostSample / count) own[worker].push_back(p);
    });
    points_.clear();
    for (const auto& mine : own) points_.insert(points_.end(), mine.begin(), mine.end());
    polled_sort(
        points_.begin(), points_.end(),
        [](const Vec3d& a, const Vec3d& b) { return std::tuple(a.x, a.y, a.z) < std::tuple(b.x, b.y, b.z); },
        ctx_);
  }

  template <class Visit>
  void each_in(const Windows& windows, Visit&& visit) {
    parallel_for_worker(ctx_, positions_.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
      for (std::size_t i = begin; i < end; ++i)
        if (is_ground(i) && windows.hold(positions_[i]))
          visit(static_cast<std::size_t>(worker), positions_[i]);
    });
  }

  double median() {
    std::vector<Vec3d> level(points_);
    for (Vec3d& p : level) p.z = 0;
    const KdTree tree({level.data(), level.size()}, ctx_);
    const KdTreeView view = tree.view();
    const double part = kQueries / static_cast<double>(points_.size());
    std::vector<double> distances(points_.size(), std::nan(""));
    parallel_for(ctx_, points_.size(), kGrain / kNeighbours, [&](std::size_t begin, std::size_t end) {
      std::array<double, kNeighbours> squared;
      std::array<std::uint64_t, kNeighbours> row, slot;
      for (std::size_t i = begin; i < end; ++i) {
        if (part < 1 && chance_of(points_[i]) >= part) continue;
        const std::uint32_t n = view.knn(level[i], kNeighbours, i, squared.data(), row.data(), slot.data());
        PlaneFit fit;
        for (std::uint32_t k = 0; k < n; ++k) {
          const Vec3d& other = points_[row[k]];
          fit.add(other.x - points_[i].x, other.y - points_[i].y, other.z, 1);
        }
        distances[i] = std::abs(points_[i].z - fit.plane(kPull * (squared[n - 1] + kPull)).height);
      }
    });
    std::erase_if(distances, [](double d) { return std::isnan(d); });
    return upper_median(distances);
  }

  Span<const Vec3d> positions_;
  Span<const std::uint8_t> labels_;
  OpContext& ctx_;
  std::vector<Vec3d> points_;
};

}  // namespace

double ground_residual(Span<const Vec3d> positions, Span<const std::uint8_t> labels, OpContext& ctx) {
  require(labels.size == positions.size, "every column needs one value per point");
  ctx.begin_phase("Checking the ground", 0);
  return Residual(positions, labels, ctx).measure();
}

}  // namespace pc
