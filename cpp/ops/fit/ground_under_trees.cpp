#include "ops/fit/ground_under_trees.h"

#include <algorithm>
#include <cmath>

#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 1024;
constexpr std::size_t kMostCells = 4096;
constexpr double kGroundClass = 1;

/// Trees by the cells of a horizontal grid that their boxes reach into.
class TreeGrid {
 public:
  explicit TreeGrid(const std::vector<Box3d>& boxes) : boxes_(boxes) {
    for (const Box3d& box : boxes) all_.add(box);
    side_ = std::max<std::size_t>(1, static_cast<std::size_t>(std::sqrt(std::min(boxes.size(), kMostCells))));
    cells_.resize(side_ * side_);
    for (std::uint32_t tree = 0; tree < boxes.size(); ++tree)
      for (std::size_t y = row(boxes[tree].min.y); y <= row(boxes[tree].max.y); ++y)
        for (std::size_t x = column(boxes[tree].min.x); x <= column(boxes[tree].max.x); ++x)
          cells_[y * side_ + x].push_back(tree);
  }

  /// Calls visit(tree) for the trees above a place.
  template <class Visit>
  void visit(const Vec3d& p, const Visit& visit) const {
    if (!inside(all_, p)) return;
    for (const std::uint32_t tree : cells_[row(p.y) * side_ + column(p.x)])
      if (inside(boxes_[tree], p)) visit(tree);
  }

 private:
  static bool inside(const Box3d& box, const Vec3d& p) {
    return p.x >= box.min.x && p.x <= box.max.x && p.y >= box.min.y && p.y <= box.max.y;
  }
  std::size_t cell(double value, double low, double high) const {
    const double at = high > low ? (value - low) / (high - low) * static_cast<double>(side_) : 0;
    return std::min(static_cast<std::size_t>(at), side_ - 1);
  }
  std::size_t column(double x) const { return cell(x, all_.min.x, all_.max.x); }
  std::size_t row(double y) const { return cell(y, all_.min.y, all_.max.y); }

  const std::vector<Box3d>& boxes_;
  Box3d all_;
  std::size_t side_;
  std::vector<std::vector<std::uint32_t>> cells_;
};

}  // namespace

std::vector<double> ground_under_trees(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                       const AnyColumn& ground_class, const std::vector<Box3d>& boxes,
                                       OpContext& ctx) {
  require(skip.empty() || skip.size == positions.size, "skip needs one entry per point");
  require(ground_class.size() == positions.size, "a label column needs one entry per point");
  for (const Box3d& box : boxes) require(!box.empty(), "a tree needs a box");
  ctx.begin_phase("Finding the ground", positions.size);
  const TreeGrid grid(boxes);
  const auto workers = static_cast<std::size_t>(ctx.threads());
  std::vector<std::vector<double>> lowest(workers, std::vector<double>(boxes.size(), HUGE_VAL));
  visit_scalar(ground_class, [&](const auto& labels) {
    parallel_for_worker(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
      auto& own = lowest[static_cast<std::size_t>(worker)];
      for (std::size_t i = begin; i < end; ++i) {
        if (static_cast<double>(labels[i]) != kGroundClass || (!skip.empty() && skip[i] != 0)) continue;
        const double z = positions[i].z;
        if (std::isfinite(z))
          grid.visit(positions[i], [&](std::uint32_t tree) { own[tree] = std::min(own[tree], z); });
      }
    });
  });
  std::vector<double> out(boxes.size(), HUGE_VAL);
  for (const auto& own : lowest)
    for (std::size_t tree = 0; tree < out.size(); ++tree) out[tree] = std::min(out[tree], own[tree]);
  for (double& z : out) z = z == HUGE_VAL ? std::nan("") : z;
  return out;
}

}  // namespace pc
