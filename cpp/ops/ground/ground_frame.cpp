#include "ops/ground/ground_frame.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/error.h"

namespace pc {

namespace {

constexpr double kMostCells = 1 << 30;
constexpr double kSteepest = 5;                        // as in ground_trend.h
constexpr double kOutlierBlock = 2, kMostBlock = 1e6;  // metres; cells

}  // namespace

void check_frame(const GroundFrame& frame) {
  struct Rule {
    const char* name;
    double value, low;
    bool may_be_low;
  };
  const double any = -HUGE_VAL;
  const std::array<Rule, 16> rules{{{"origin[0]", frame.origin_x, any, false},
                                    {"origin[1]", frame.origin_y, any, false},
                                    {"z_origin", frame.z_origin, any, false},
                                    {"slope[0]", frame.slope_x, -kSteepest, true},
                                    {"slope[1]", frame.slope_y, -kSteepest, true},
                                    {"lowest_z", frame.lowest_z, any, false},
                                    {"point_count", frame.point_count, 1, true},
                                    {"point_spacing_m", frame.point_spacing_m, 0, false},
                                    {"outlier_cell_m", frame.outlier_cell_m, 0, false},
                                    {"outlier_layer_m", frame.outlier_layer_m, 0, false},
                                    {"cell_size", frame.cell_size, 0, false},
                                    {"roughness_m", frame.roughness_m, 0, true},
                                    {"typical_returns", frame.typical_returns, 0, true},
                                    {"search_noise_m", frame.search_noise_m, 0, true},
                                    {"noise_m", frame.noise_m, 0, true},
                                    {"middle_m", frame.middle_m, any, false}}};
  for (const auto& [name, value, low, may_be_low] : rules) {
    const bool good = std::isfinite(value) && (may_be_low ? value >= low : value > low);
    if (!good) throw Error(ErrorCode::kInvalidArgument, std::string("frame.") + name + " is out of range");
  }
  require(std::abs(frame.slope_x) <= kSteepest && std::abs(frame.slope_y) <= kSteepest,
          "frame.slope is steeper than 5 metres per metre");
}

std::uint32_t outlier_block_cells(double cell_m) {
  return static_cast<std::uint32_t>(std::min(kMostBlock, std::ceil(kOutlierBlock / cell_m)));
}

FramedCells framed_cells(double origin, double low, double high, double size, double offset,
                         std::uint32_t block) {
  const double from = (low - origin) / size, to = (high - origin) / size;
  require(std::abs(from) < kMostCells && std::abs(to) < kMostCells,
          "the points lie more than 2^30 cells away from the origin of the frame");
  return {static_cast<std::int64_t>(std::floor(from / block)) * block,
          static_cast<std::int64_t>(std::floor(to + offset)) + 1};
}

Lattice lattice_in(const GroundFrame* frame, const Box3d& box, double size, std::uint32_t margin,
                   std::uint32_t block, const LatticePlane& plane) {
  if (frame == nullptr) return lattice_over(box, size, margin, plane);
  const FramedCells x = framed_cells(frame->origin_x, box.min.x, box.max.x, size, 0, block);
  const FramedCells y = framed_cells(frame->origin_y, box.min.y, box.max.y, size, 0, block);
  return {.x_min = frame->origin_x,
          .y_min = frame->origin_y,
          .size = size,
          .z_origin = plane.z_origin,
          .pad = static_cast<double>(margin),
          .slope_x = plane.slope_x,
          .slope_y = plane.slope_y,
          .nx = static_cast<std::uint32_t>(x.end - x.first + 3),
          .ny = static_cast<std::uint32_t>(y.end - y.first + 3),
          .skip_x = static_cast<double>(x.first),
          .skip_y = static_cast<double>(y.first)};
}

}  // namespace pc
