#include "ops/qsm/tree_sway.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/qsm/axis_owners.h"
#include "ops/qsm/azimuth_frame.h"
#include "ops/qsm/branch_system.h"

namespace pc {

namespace {

constexpr double kReach = 1.5;                     // metres from the axis that a point is moved with it
constexpr double kRoom = 0.25;                     // metres beyond the radius that a point tells something
constexpr double kStep = 0.01;                     // metres, change of a shift along a metre of branch
constexpr double kAxisStep = 0.05;                 // the same of the axis
constexpr double kBase = 0.005, kAxisBase = 0.02;  // metres, at the base of the tree
constexpr double kShortest = 0.05;                 // metres, of a cylinder
constexpr double kRadius = 0.5;                    // of a radius, relative
constexpr double kOval = 0.05;        // out of round, of the radius: half the difference of its axes
constexpr std::size_t kOwn = 3;       // unknowns of a cylinder alone: out of round twice, radius
constexpr double kLeastRadius = 0.4;  // of what it was
constexpr double kHuber = 1.5;
constexpr double kLeastScatter = 0.004, kMostScatter = 0.03;  // metres
constexpr double kMad = 1.4826;
constexpr int kRounds = 6;
constexpr double kSettled = 5e-4;  // metres
/// A tree sways if its points scatter less by this share about branches of each view, and by so many times what views drawn by chance
/// gain; nothing is told by fewer points of a cylinder, and where views by chance have them scatter more.
constexpr double kLeastGain = 0.12, kTimesChance = 2, kUnsettled = -0.02;
constexpr std::size_t kFewestPoints = 9;
/// Cylinders do not grow with the density: a tree of 1 M points has about as many as one of 200,000.
constexpr std::uint64_t kPointBytes = 64, kPointsPerCylinder = 12, kMostDense = 200'000;

/// Where along a cylinder a point is: 0 at its start, 1 at its end.
double place_along(const QsmCylinder& c, const Vec3d& p) {
  const Vec3d edge = c.end - c.start;
  const double squared = dot(edge, edge);
  return squared > 0 ? std::clamp(dot(p - c.start, edge) / squared, 0.0, 1.0) : 0;
}

/// Points by cylinder and in their order, as CSR.
struct Samples {
  std::vector<std::uint32_t> first, point;
};

Samples samples_of(const std::vector<QsmCylinder>& cylinders, const SeenWood& wood,
                   const BulkVector<std::uint32_t>& owner) {
  const std::size_t step = wood.points.size / (kMostSwayPoints + 1) + 1;
  const auto is_near = [&](std::size_t i) {
    if (owner[i] == kNoAxis || wood.view[i] >= wood.views) return false;
    const QsmCylinder& c = cylinders[owner[i]];
    const Vec3d axis = c.start + (c.end - c.start) * place_along(c, wood.points[i]);
    return squared_distance(wood.points[i], axis) < (c.radius + kRoom) * (c.radius + kRoom);
  };
  Samples out{std::vector<std::uint32_t>(cylinders.size() + 1, 0), {}};
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < wood.points.size; i += step)
    if (is_near(i)) kept.push_back(static_cast<std::uint32_t>(i));
  for (const std::uint32_t i : kept) ++out.first[owner[i] + 1];
  for (std::size_t c = 1; c < out.first.size(); ++c) out.first[c] += out.first[c - 1];
  out.point.resize(kept.size());
  std::vector<std::uint32_t> next(out.first.begin(), out.first.end() - 1);
  for (const std::uint32_t i : kept) out.point[next[owner[i]]++] = i;
  return out;
}

/// A point as its cylinder sees it.
struct Residual {
  double off;    ///< distance from the axis less the radius there
  double along;  ///< 0 at the start, 1 at the end
  Vec3d outward;
  double cos2, sin2;  ///< of twice the angle around the axis
};

/// The unknowns of a tree, and rounds of Gauss-Newton on them.
///
/// Node 0 .. roots - 1 are the ground below the roots, then the ends of the cylinders in their order. Of a node: the shifts of the
/// views, the axis, how far the cylinder is out of round (an ellipse, at first order), the radius. Views that see one side each of a
/// stem that is not round would else seem to have it at different places.
class SwaySystem {
 public:
  SwaySystem(const std::vector<QsmCylinder>& cylinders, const SeenWood& wood, const Samples& samples,
             std::size_t views)
      : cylinders_(cylinders), wood_(wood), samples_(samples), views_(views), size_(3 * views + 3 + kOwn) {
    for (const QsmCylinder& c : cylinders) roots_ += c.parent_id < 0 ? 1 : 0;
    parent_.resize(roots_ + cylinders.size());
    std::uint32_t root = 0;
    for (std::size_t i = 0; i < roots_; ++i) parent_[i] = static_cast<std::uint32_t>(i);
    for (std::size_t i = 0; i < cylinders.size(); ++i) {
      const std::int64_t up = cylinders[i].parent_id;
      require(up < static_cast<std::int64_t>(i), "cylinders must stand after their parents");
      parent_[roots_ + i] =
          up < 0 ? root++ : static_cast<std::uint32_t>(roots_ + static_cast<std::size_t>(up));
    }
    x_.assign(parent_.size() * size_, 0);
  }

  /// Robust standard deviation of the residuals after the rounds.
  double settle(const OpContext& ctx) {
    for (int round = 0; round < kRounds; ++round)
      if (improve(ctx) < kSettled) break;
    return scatter();
  }

  /// How a view has a place `along` a cylinder, against the mean of the views.
  Vec3d shift(std::size_t cylinder, double along, std::size_t view) const {
    Vec3d mean{0, 0, 0};
    for (std::size_t v = 0; v < views_; ++v) mean = mean + between(cylinder, along, v);
    return between(cylinder, along, view) - mean * (1.0 / static_cast<double>(views_));
  }

 private:
  std::size_t end_of(std::size_t cylinder) const { return roots_ + cylinder; }
  Vec3d vector(std::size_t node, std::size_t slot) const {
    const double* at = &x_[node * size_ + 3 * slot];
    return {at[0], at[1], at[2]};
  }
  Vec3d between(std::size_t cylinder, double along, std::size_t slot) const {
    const std::size_t end = end_of(cylinder);
    return vector(end, slot) * along + vector(parent_[end], slot) * (1 - along);
  }
  double radius(std::size_t cylinder) const {
    return cylinders_[cylinder].radius + x_[end_of(cylinder) * size_ + size_ - 1];
  }

  Residual residual(std::size_t cylinder, std::size_t i) const {
    const QsmCylinder& c = cylinders_[cylinder];
    const std::size_t end = end_of(cylinder);
    const Vec3d start = c.start + vector(parent_[end], views_);
    const Vec3d edge = c.end + vector(end, views_) - start;
    const double squared = dot(edge, edge);
    const auto place = [&](const Vec3d& p) {
      return squared > 0 ? std::clamp(dot(p - start, edge) / squared, 0.0, 1.0) : 0.0;
    };
    Vec3d p = wood_.points[i];
    if (views_ > 0) p = p - between(cylinder, place(p), wood_.view[i]);
    const double along = place(p);
    const Vec3d out = p - start - edge * along;
    const double distance = std::sqrt(dot(out, out));
    const Vec3d outward = out * (1 / std::max(distance, 1e-6));
    const AzimuthFrame frame = azimuth_frame(squared > 0 ? edge * (1 / std::sqrt(squared)) : Vec3d{0, 0, 1});
    const double cosine = dot(outward, frame.u), sine = dot(outward, frame.v);
    const double cos2 = cosine * cosine - sine * sine, sin2 = 2 * cosine * sine;
    const double* const oval = &x_[end * size_ + size_ - kOwn];
    return {distance - radius(cylinder) - oval[0] * cos2 - oval[1] * sin2, along, outward, cos2, sin2};
  }

  double scatter() const {
    std::vector<double> off;
    off.reserve(samples_.point.size());
    for (std::size_t c = 0; c < cylinders_.size(); ++c)
      for (std::uint32_t k = samples_.first[c]; k < samples_.first[c + 1]; ++k)
        off.push_back(std::fabs(residual(c, samples_.point[k]).off));
    if (off.empty()) return 0;
    const auto middle = off.begin() + static_cast<std::ptrdiff_t>(off.size() / 2);
    std::nth_element(off.begin(), middle, off.end());
    return kMad * *middle;
  }

  /// One round. Returns the largest change of a place.
  double improve(const OpContext& ctx) {
    const double scale = scatter();
    const double huber = kHuber * std::max(scale, kLeastScatter);
    const double weight = 1 / std::pow(std::clamp(scale, kLeastScatter, kMostScatter), 2);
    BranchSystem system(parent_, size_);
    BranchSystem::Terms terms;
    for (std::size_t node = parent_.size(); node-- > 0;) {
      if (node % 64 == 0) ctx.checkpoint();
      terms.clear(size_);
      if (node < roots_) {
        hold_ground(node, terms);
      } else {
        hold(node, terms);
        see(node - roots_, huber, weight, terms);
      }
      if (!system.eliminate(static_cast<std::uint32_t>(node), terms)) return 0;
    }
    const std::vector<double> step = system.solve();
    double most = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      x_[i] += step[i];
      if (i % size_ < size_ - kOwn) most = std::max(most, std::fabs(step[i]));
    }
    for (std::size_t c = 0; c < cylinders_.size(); ++c) {
      double& wider = x_[end_of(c) * size_ + size_ - 1];
      wider = std::max(wider, (kLeastRadius - 1) * cylinders_[c].radius);
    }
    return most;
  }

  void hold_ground(std::size_t node, BranchSystem::Terms& terms) const {
    for (std::size_t k = 0; k < size_; ++k) {
      const double deviation = k >= size_ - kOwn ? 1 : k < 3 * views_ ? kBase : kAxisBase;
      terms.own[size_ * k + k] = 1 / (deviation * deviation);
      terms.own_side[k] = -x_[node * size_ + k] / (deviation * deviation);
    }
  }

  /// What is expected of the changes along a cylinder, and of its radius.
  void hold(std::size_t node, BranchSystem::Terms& terms) const {
    const std::size_t up = parent_[node];
    const QsmCylinder& c = cylinders_[node - roots_];
    const double length = std::max(c.length_m(), kShortest);
    for (std::size_t k = 0; k + kOwn < size_; ++k) {
      const double step = k < 3 * views_ ? kStep : kAxisStep, one = 1 / (step * step * length);
      const double pull = one * (x_[up * size_ + k] - x_[node * size_ + k]);
      terms.own[size_ * k + k] += one;
      terms.parent[size_ * k + k] += one;
      terms.across[size_ * k + k] -= one;
      terms.own_side[k] += pull;
      terms.parent_side[k] -= pull;
    }
    for (std::size_t k = size_ - kOwn; k < size_; ++k) {
      const double one = 1 / std::pow((k + 1 == size_ ? kRadius : kOval) * c.radius, 2);
      terms.own[size_ * k + k] += one;
      terms.own_side[k] -= one * x_[node * size_ + k];
    }
  }

  /// What the points of a cylinder say.
  void see(std::size_t cylinder, double huber, double weight, BranchSystem::Terms& terms) const {
    struct Slope {
      std::size_t at;
      double own, up;
    };
    for (std::uint32_t k = samples_.first[cylinder]; k < samples_.first[cylinder + 1]; ++k) {
      const std::uint32_t i = samples_.point[k];
      const Residual r = residual(cylinder, i);
      const double w = weight * std::min(1.0, huber / std::max(std::fabs(r.off), 1e-12));
      std::array<Slope, 9> slopes;
      std::size_t count = 0;
      const std::array<double, 3> outward{r.outward.x, r.outward.y, r.outward.z};
      const auto place = [&](std::size_t slot) {
        for (std::size_t axis = 0; axis < 3; ++axis)
          slopes[count++] = {3 * slot + axis, outward[axis] * r.along, outward[axis] * (1 - r.along)};
      };
      if (views_ > 0) place(wood_.view[i]);
      place(views_);
      slopes[count++] = {size_ - kOwn, r.cos2, 0};
      slopes[count++] = {size_ - kOwn + 1, r.sin2, 0};
      slopes[count++] = {size_ - 1, 1, 0};
      for (std::size_t a = 0; a < count; ++a) {
        const Slope& left = slopes[a];
        terms.own_side[left.at] += w * left.own * r.off;
        terms.parent_side[left.at] += w * left.up * r.off;
        for (std::size_t b = 0; b < count; ++b) {
          const Slope& right = slopes[b];
          terms.own[size_ * left.at + right.at] += w * left.own * right.own;
          terms.across[size_ * left.at + right.at] += w * left.own * right.up;
          terms.parent[size_ * left.at + right.at] += w * left.up * right.up;
        }
      }
    }
  }

  const std::vector<QsmCylinder>& cylinders_;
  const SeenWood& wood_;
  const Samples& samples_;
  std::size_t views_, size_, roots_ = 0;
  std::vector<std::uint32_t> parent_;
  std::vector<double> x_;
};

/// The points' views in an order drawn by chance, the same every time; those without one keep none.
std::vector<std::uint32_t> shuffled(const SeenWood& wood) {
  std::vector<std::uint32_t> seen, out(wood.view.begin(), wood.view.end());
  for (const std::uint32_t view : out)
    if (view < wood.views) seen.push_back(view);
  std::mt19937_64 random(1);
  for (std::size_t i = seen.size(); i > 1; --i) std::swap(seen[i - 1], seen[random() % i]);
  std::size_t next = 0;
  for (std::uint32_t& view : out)
    if (view < wood.views) view = seen[next++];
  return out;
}

}  // namespace

TreeSway tree_sway(const std::vector<QsmCylinder>& cylinders, const SeenWood& wood, OpContext& ctx) {
  require(wood.view.size == wood.points.size, "each point needs a view");
  require(wood.views >= 2 && wood.views <= kMostSwayViews, "a sway needs 2 to 10 views");
  static_assert(kMostSwayViews == 10);
  const BulkVector<std::uint32_t> owner = axis_owners(cylinders, wood.points, kReach, ctx);
  const Samples samples = samples_of(cylinders, wood, owner);
  TreeSway out{BulkVector<Vec3d>(wood.points.size), 0, 0, 0, 0};
  out.together_m = SwaySystem(cylinders, wood, samples, 0).settle(ctx);
  const std::vector<std::uint32_t> mixed = shuffled(wood);
  const SeenWood by_chance{wood.points, {mixed.data(), mixed.size()}, wood.views};
  out.by_chance_m = SwaySystem(cylinders, by_chance, samples, wood.views).settle(ctx);
  out.points_per_cylinder = samples.point.size() / std::max<std::size_t>(1, cylinders.size());
  SwaySystem apart(cylinders, wood, samples, wood.views);
  out.scatter_m = apart.settle(ctx);
  parallel_for(ctx, wood.points.size, 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_seen = owner[i] != kNoAxis && wood.view[i] < wood.views;
      out.shift[i] =
          is_seen ? apart.shift(owner[i], place_along(cylinders[owner[i]], wood.points[i]), wood.view[i])
                  : Vec3d{0, 0, 0};
    }
  });
  return out;
}

bool sways(const TreeSway& sway) {
  constexpr double kLeast = 0.001;  // metres
  const double together = std::max(sway.together_m, kLeast);
  const double gain = together / std::max(sway.scatter_m, kLeast) - 1;
  const double chance = together / std::max(sway.by_chance_m, kLeast) - 1;
  return sway.points_per_cylinder >= kFewestPoints && chance >= kUnsettled &&
         gain > std::max(kLeastGain, kTimesChance * chance);
}

std::uint64_t sway_cost(std::uint64_t point_count) {
  const std::uint64_t used = std::min(point_count, kMostDense);
  const std::uint64_t size = 3 * kMostSwayViews + 3 + kOwn;
  return kPointBytes * point_count + used / kPointsPerCylinder * size * size * sizeof(double);
}

}  // namespace pc
