#include "ops/qsm/leaf_angle_targets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"

namespace pc {

namespace {

constexpr std::size_t kInclinations = 18, kAzimuths = 36;
constexpr double kOutside = 4294967295.0;
constexpr std::size_t kPerPoll = 65536;
constexpr double kDegree = std::numbers::pi / 180;

struct Histogram {
  std::array<double, kInclinations> inclination{};
  std::array<double, kAzimuths> azimuth{};
  std::uint64_t count = 0;

  void add(const Vec3d& normal) {  // its length is twice the area
    const double area = std::sqrt(dot(normal, normal));
    if (!(area > 0) || !std::isfinite(area)) return;
    ++count;
    const double steep = std::acos(std::min(1.0, std::abs(normal.z) / area)) / kDegree;
    inclination[std::min(kInclinations - 1, static_cast<std::size_t>(steep / 5))] += area;
    if (normal.x == 0 && normal.y == 0) return;
    const double bearing = std::atan2(normal.x, normal.y) / kDegree;
    const double turned = bearing < 0 ? bearing + 360 : bearing;
    azimuth[std::min(kAzimuths - 1, static_cast<std::size_t>(turned / 10))] += area;
  }
};

std::optional<LeafAngleTarget> fitted(const Histogram& seen, std::uint32_t cell) {
  double weight = 0, mean = 0, square = 0;
  for (std::size_t i = 0; i < kInclinations; ++i) {
    weight += seen.inclination[i];
    mean += seen.inclination[i] * (static_cast<double>(i) + 0.5) / kInclinations;
  }
  mean /= weight;
  for (std::size_t i = 0; i < kInclinations; ++i) {
    const double off = (static_cast<double>(i) + 0.5) / kInclinations - mean;
    square += seen.inclination[i] * off * off;
  }
  const double variance = square / weight;
  const double size = mean * (1 - mean) / variance - 1;
  constexpr double kNoSpread = 1e-12;
  if (!(variance > kNoSpread) || !(size > 0)) return std::nullopt;
  double sine = 0, cosine = 0, turned = 0;
  for (std::size_t i = 0; i < kAzimuths; ++i) {
    const double twice = 2 * (static_cast<double>(i) + 0.5) * (360.0 / kAzimuths) * kDegree;
    turned += seen.azimuth[i];
    sine += seen.azimuth[i] * std::sin(twice);
    cosine += seen.azimuth[i] * std::cos(twice);
  }
  const double resultant = turned > 0 ? std::hypot(sine, cosine) / turned : 0;
  const double phi0 = turned > 0 ? 0.5 * std::atan2(sine, cosine) / kDegree : 0;
  return LeafAngleTarget{cell,
                         (1 - mean) * size,
                         mean * size,
                         ellipse_eccentricity(resultant),
                         phi0 < 0 ? phi0 + 180 : phi0,
                         seen.count};
}

std::size_t index_of(double value, double limit, const char* what) {
  if (!(value >= 0) || !(value < limit) || value != std::floor(value))
    throw Error(ErrorCode::kInvalidArgument,
                std::string(what) + " has an entry that is no whole number from 0 to " +
                    std::to_string(static_cast<std::uint64_t>(std::max(0.0, limit - 1))));
  return static_cast<std::size_t>(value);
}

Vec3d normal_of(const TargetTriangles& triangles, std::size_t t) {
  std::array<Vec3d, 3> corner{};
  const double limit = static_cast<double>(triangles.vertices.size / 3);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t at = 3 * index_of(triangles.indices[3 * t + k], limit, "indices");
    corner[k] = {triangles.vertices[at], triangles.vertices[at + 1], triangles.vertices[at + 2]};
  }
  return cross(corner[1] - corner[0], corner[2] - corner[0]);
}

}  // namespace

double ellipse_eccentricity(double resultant) {
  const double r = std::clamp(resultant, 0.0, 1.0), b = (1 - r) / (1 + r);
  constexpr double kRoundest = 0.999999;  // 1 would be a line: a density without width
  return std::min(kRoundest, std::sqrt(1 - b * b));
}

LeafAngleTargets leaf_angle_targets(const TargetTriangles& triangles, std::uint64_t cell_count,
                                    OpContext& ctx) {
  require(triangles.vertices.size % 3 == 0, "vertices are three numbers each");
  require(triangles.indices.size == 3 * triangles.cells.size,
          "triangle_cell_ids has one entry per triangle, and indices three");
  ctx.begin_phase("Fitting leaf angles", 0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> inside;  // cell, triangle
  for (std::size_t t = 0; t < triangles.cells.size; ++t) {
    if (t % kPerPoll == 0) ctx.checkpoint();
    const double cell = triangles.cells[t];
    if (cell == -1 || cell == kOutside) continue;
    inside.emplace_back(
        static_cast<std::uint32_t>(index_of(cell, static_cast<double>(cell_count), "triangle_cell_ids")),
        static_cast<std::uint32_t>(t));
  }
  std::sort(inside.begin(), inside.end());
  LeafAngleTargets out;
  for (std::size_t i = 0; i < inside.size();) {
    Histogram seen;
    const std::uint32_t cell = inside[i].first;
    for (; i < inside.size() && inside[i].first == cell; ++i) {
      if (i % kPerPoll == 0) ctx.checkpoint();
      seen.add(normal_of(triangles, inside[i].second));
    }
    if (seen.count == 0) continue;
    if (const auto target = fitted(seen, cell)) {
      out.targets.push_back(*target);
    } else {
      ++out.unfit_count;
    }
  }
  return out;
}

}  // namespace pc
