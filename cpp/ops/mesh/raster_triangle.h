#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/vec3.h"
#include "ops/mesh/rasterize.h"

namespace pc {

/// Weights of the three vertices at a place of a triangle, and its depth.
struct RasterPlace {
  std::array<double, 3> weight;  ///< sum 1
  double depth;                  ///< metres
};

/// A triangle as the camera sees it. Places in a picture are pixels from its middle.
class RasterTriangle {
 public:
  RasterTriangle() = default;
  /// corners  camera frame, metres
  RasterTriangle(const std::array<Vec3d, 3>& corners, const RasterCamera& camera)
      : corners_(corners), perspective_(camera.perspective), near_m_(camera.near_m) {
    std::array<Vec3d, 3> v;  // homogeneous places in the picture
    for (int i = 0; i < 3; ++i)
      v[i] = {corners[i].x * camera.scale, corners[i].y * camera.scale, perspective_ ? corners[i].z : 1.0};
    // Triangles with a common edge compute exactly opposite values of its function: cross() guarantees it.
    for (int i = 0; i < 3; ++i) edges_[i] = cross(v[(i + 1) % 3], v[(i + 2) % 3]);
    determinant_ = dot(v[0], edges_[0]);
    if (determinant_ < 0)
      for (auto& edge : edges_) edge = edge * -1.0;
    for (int i = 0; i < 3; ++i) owns_[i] = owner(edges_[i]);
  }

  /// False for a triangle that is seen edge-on or has no area.
  bool visible() const { return determinant_ != 0 && std::isfinite(determinant_); }

  /// Value of an edge function; positive on the inner side.
  double edge(int i, double x, double y) const { return edges_[i].x * x + (edges_[i].y * y + edges_[i].z); }

  /// Whether the triangle is at (x, y), in front of the camera. Of two triangles that share an edge exactly one is.
  bool covers(double x, double y, RasterPlace& place) const {
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
      const double value = edge(i, x, y);
      if (!(value > 0 || (value == 0 && owns_[i]))) return false;
      place.weight[i] = value;
      sum += value;
    }
    if (!(sum > 0)) return false;
    for (double& weight : place.weight) weight /= sum;
    place.depth = perspective_ ? std::abs(determinant_) / sum
                               : place.weight[0] * corners_[0].z + place.weight[1] * corners_[1].z +
                                     place.weight[2] * corners_[2].z;
    return place.depth >= near_m_;
  }

  /// Change of the weights by one pixel to the right and downwards.
  std::array<std::array<double, 3>, 2> slopes(double x, double y, const RasterPlace& place) const {
    const double sum = edge(0, x, y) + edge(1, x, y) + edge(2, x, y);
    const Vec3d all = edges_[0] + edges_[1] + edges_[2];
    std::array<std::array<double, 3>, 2> out;
    for (int i = 0; i < 3; ++i) {
      out[0][i] = (edges_[i].x - place.weight[i] * all.x) / sum;
      out[1][i] = (edges_[i].y - place.weight[i] * all.y) / sum;
    }
    return out;
  }

  /// Of any length, camera frame.
  Vec3d normal() const { return cross(corners_[1] - corners_[0], corners_[2] - corners_[0]); }

 private:
  static bool owner(const Vec3d& edge) {
    if (edge.x != 0) return edge.x > 0;
    if (edge.y != 0) return edge.y > 0;
    return edge.z > 0;
  }
  std::array<Vec3d, 3> corners_{}, edges_{};
  std::array<bool, 3> owns_{};
  double determinant_ = 0;
  bool perspective_ = false;
  double near_m_ = 0;
};

/// Pixels that a triangle may cover, both ends included; empty if x0 > x1.
struct PixelBox {
  std::uint32_t x0 = 1, y0 = 1, x1 = 0, y1 = 0;
};

/// corners  camera frame, metres
PixelBox pixel_box(const std::array<Vec3d, 3>& corners, const RasterCamera& camera);

}  // namespace pc
