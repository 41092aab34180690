#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "io/las_plan.h"
#include "io/las_step_check.h"

namespace pc::io::las {

namespace {

/// Decimal steps finer than a millimetre that are taken for the digits of a source. A sixth decimal is none: that is how
/// programs print any number ("%f"), and steps of a micrometre would fill a file with its noise.
constexpr double kDecimalSteps[] = {1e-4, 1e-5};

constexpr std::size_t kSampledBlocks = 1024, kPairsPerBlock = 16;

/// Two rows that follow each other in the file.
struct Pair {
  Vec3d first, second;
};

/// Pairs spread over the whole file, of hits if the view marks misses; the same for any number of threads.
class PairSample {
 public:
  PairSample(const CloudView& view, const RowBlocks& blocks)
      : view_(view),
        every_(1 + view.positions.size / (blocks.grain() * kSampledBlocks)),
        of_block_(view.positions.size / (blocks.grain() * every_) + 1) {
    for (const ScalarView& scalar : view.scalars) {
      if (scalar.slug == "is_miss") is_miss_ = scalar.values;
    }
  }

  void take(std::size_t block, const std::vector<std::size_t>& rows) {
    if (block % every_ != 0 || rows.size() < 2) return;
    Taken& taken = of_block_[block / every_];
    const std::size_t most = std::min(kPairsPerBlock, rows.size() - 1);
    for (std::size_t k = 0; k < most; ++k) {
      const std::size_t at = k * (rows.size() - 1) / most;
      ++taken.looked;
      if (missed(rows[at]) || missed(rows[at + 1])) continue;
      taken.pairs[taken.count++] = {view_.positions[rows[at]], view_.positions[rows[at + 1]]};
    }
  }

  /// Typical distance of neighbours among `total` points, 0 = unknown: the median distance of pairs (points of a scan are
  /// stored beside their neighbours), or that of points spread evenly over a surface as wide as the sample, if it is
  /// smaller (files in any order). In degrees if `geographic`, and then without the heights.
  double spacing(std::uint64_t total, bool geographic) const {
    Box3d box;
    std::vector<double> distances;
    std::size_t looked = 0, used = 0;
    const auto flat = [&](const Vec3d& p) { return geographic ? Vec3d{p.x, p.y, 0} : p; };
    for (const Taken& taken : of_block_) {
      looked += taken.looked;
      used += taken.count;
      for (std::size_t k = 0; k < taken.count; ++k) {
        const Vec3d a = flat(taken.pairs[k].first), b = flat(taken.pairs[k].second);
        box.add(a);
        box.add(b);
        if (!(a == b)) distances.push_back(std::sqrt(squared_distance(a, b)));
      }
    }
    if (distances.empty()) return 0;
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end());
    const double hits = static_cast<double>(total) * static_cast<double>(used) / static_cast<double>(looked);
    std::array<double, 3> side{box.max.x - box.min.x, box.max.y - box.min.y, box.max.z - box.min.z};
    std::sort(side.begin(), side.end());
    return std::min(*middle, std::max(std::sqrt(side[2] * side[1] / hits), side[2] / hits));
  }

 private:
  struct Taken {
    std::array<Pair, kPairsPerBlock> pairs;
    std::size_t count = 0, looked = 0;
  };
  bool missed(std::size_t row) const {
    if (is_miss_ == nullptr) return false;
    bool miss = false;
    visit_scalar(*is_miss_, [&](auto values) { miss = values[row] != 0; });
    return miss;
  }
  const CloudView& view_;
  std::size_t every_;
  std::vector<Taken> of_block_;
  const AnyColumn* is_miss_ = nullptr;
};

/// Finds per axis the coarsest of some steps of which every coordinate is a multiple. The steps follow each other from
/// coarse to fine; a coordinate that leaves one never returns to it, so that each is usually tested once.
class DecimalSteps {
 public:
  DecimalSteps(const CloudView& view, double coarsest) : view_(view) {
    steps_.push_back(coarsest);
    for (const double step : kDecimalSteps) {
      if (step < coarsest) steps_.push_back(step);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const double step : steps_)
        checks_[axis].emplace_back(step, 0.0, axis_of(view.offset, axis), step * kSlack);
    }
  }

  /// Leaves an axis out; call before the first test.
  void skip(std::size_t axis) { level_[axis] = steps_.size(); }
  bool open() const {
    return level_[0] < steps_.size() || level_[1] < steps_.size() || level_[2] < steps_.size();
  }
  /// Tests the coordinates of some rows; any number of threads at once.
  void test(const std::vector<std::size_t>& rows) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::size_t level = level_[axis];
      for (auto row = rows.begin(); row != rows.end() && level < steps_.size(); ++row) {
        const double value = axis_of(view_.positions[*row], axis) + axis_of(view_.offset, axis);
        while (level < steps_.size() && !checks_[axis][level].holds(value)) ++level;
      }
      std::size_t now = level_[axis];
      while (now < level && !level_[axis].compare_exchange_weak(now, level)) {
      }
    }
  }

  /// 0 = none.
  double step(std::size_t axis) const { return level_[axis] < steps_.size() ? steps_[level_[axis]] : 0; }

 private:
  const CloudView& view_;
  std::vector<double> steps_;
  std::array<std::vector<StepCheck>, 3> checks_;
  std::array<std::atomic<std::size_t>, 3> level_{};
};

}  // namespace

Extent written_extent(const CloudView& view, const LasWriteParams& params, const RowBlocks& blocks,
                      OpContext& ctx) {
  const LasGrid grid = params.grid.value_or(LasGrid{{0, 0, 0}, {0, 0, 0}});
  const auto check = [&](std::size_t axis) {
    return StepCheck(axis_of(grid.scale, axis), axis_of(grid.offset, axis), axis_of(view.offset, axis));
  };
  const StepCheck checks[3] = {check(0), check(1), check(2)};
  std::vector<Extent> extents(static_cast<std::size_t>(ctx.threads()));
  for (Extent& own : extents) {
    for (std::size_t axis = 0; axis < 3; ++axis) own.on_grid[axis] = checks[axis].usable();
  }
  PairSample pairs(view, blocks);
  DecimalSteps decimals(view, params.scale_m);
  parallel_for_worker(
      ctx, view.positions.size, blocks.grain(), [&](std::size_t begin, std::size_t end, int worker) {
        std::vector<std::size_t> rows;
        blocks.collect(begin, end, rows);
        pairs.take(begin / blocks.grain(), rows);
        if (!params.grid && decimals.open()) decimals.test(rows);
        Extent own = extents[static_cast<std::size_t>(worker)];
        for (const std::size_t row : rows) {
          const Vec3d p = view.positions[row] + view.offset;
          if (!is_finite(p)) {
            throw Error(
                ErrorCode::kInvalidArgument,
                "row " + std::to_string(row) + " has a coordinate that is not finite; LAS cannot store it");
          }
          own.box.add(p);
          for (std::size_t axis = 0; axis < 3; ++axis) {
            const double value = axis_of(p, axis);
            own.on_grid[axis] =
                own.on_grid[axis] && checks[axis].in_int32(value) && checks[axis].holds(value);
          }
        }
        extents[static_cast<std::size_t>(worker)] = own;
      });
  Extent all;
  for (const Extent& own : extents) {
    all.box.add(own.box);
    for (std::size_t axis = 0; axis < 3; ++axis) all.on_grid[axis] = all.on_grid[axis] && own.on_grid[axis];
  }
  if (all.on_grid[0] && all.on_grid[1] && all.on_grid[2]) return all;
  all.spacing = pairs.spacing(blocks.total(), params.epsg_is_geographic);
  if (params.grid) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (all.on_grid[axis]) decimals.skip(axis);
    }
    parallel_for(ctx, view.positions.size, blocks.grain(), [&](std::size_t begin, std::size_t end) {
      if (!decimals.open()) return;
      std::vector<std::size_t> rows;
      blocks.collect(begin, end, rows);
      decimals.test(rows);
    });
  }
  for (std::size_t axis = 0; axis < 3; ++axis) all.multiple_of[axis] = decimals.step(axis);
  return all;
}

}  // namespace pc::io::las
