#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/ray/synthetic_scan.h"
#include "support/meshes.h"

/// Scenes and scanners of synthetic scans.
namespace pc::test {

template <class T>
std::vector<T> to_vector(const Column<T>& column) {
  return {column.view().begin(), column.view().end()};
}

/// A mesh as a request has it.
struct RequestMesh {
  std::vector<Vec3d> vertices, colors;
  std::vector<double> triangles, uvs, organs, textured;

  RequestMesh() = default;
  explicit RequestMesh(const Mesh& mesh)
      : vertices(mesh.vertices), triangles(mesh.indices.begin(), mesh.indices.end()) {}
  /// Two triangles; texture coordinates (0, 0) at a, (1, 0) at b, (1, 1) at c, (0, 1) at d.
  void quad(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
    const auto first = static_cast<double>(vertices.size());
    vertices.insert(vertices.end(), {a, b, c, d});
    triangles.insert(triangles.end(), {first, first + 1, first + 2, first, first + 2, first + 3});
    uvs.insert(uvs.end(), {0, 0, 1, 0, 1, 1, 0, 1});
  }
  /// A wall of 2 half by 2 half metres at the distance y, facing the scanner.
  void wall(double y, double half) {
    quad({-half, y, half}, {half, y, half}, {half, y, -half}, {-half, y, -half});
  }
  SceneSurfaces surfaces() const {
    SceneSurfaces out;
    out.vertices = {vertices.data(), vertices.size()};
    out.triangles = {triangles.data(), triangles.size()};
    out.colors = {colors.data(), colors.size()};
    out.uvs = {uvs.data(), uvs.size()};
    out.organs = {organs.data(), organs.size()};
    return out;
  }
  SceneMesh mesh(const Vec3d& origin = {0, 0, 0}) const {
    SceneMesh out;
    out.name = "meshes[0]";
    out.origin = origin;
    out.surfaces = surfaces();
    return out;
  }
};

inline ScanScene scene_of(const std::vector<SceneMesh>& meshes, std::vector<SceneTexture> textures = {}) {
  JobControl control;
  OpContext ctx(control);
  return ScanScene(meshes, std::move(textures), ctx);
}

inline double in_radians(double degrees) { return degrees * scan_pattern::kPi / 180; }

/// Degrees.
struct Sweep {
  std::uint32_t n_theta, n_phi;
  double theta_min, theta_max, phi_min, phi_max;
};

/// A raster scanner at the origin: one ray per pulse, single return, no noise.
inline SyntheticScanParams scanner(const Sweep& sweep) {
  SyntheticScanParams out{};
  out.pattern.kind = scan_pattern::Kind::kRaster;
  out.pattern.row_count = sweep.n_theta;
  out.pattern.pulse_count = std::uint64_t{sweep.n_theta} * sweep.n_phi;
  out.pattern.theta_first_rad = in_radians(sweep.theta_min);
  out.pattern.theta_step_rad =
      scan_pattern::step_between(in_radians(sweep.theta_min), in_radians(sweep.theta_max), sweep.n_theta);
  out.pattern.phi_first_rad = in_radians(sweep.phi_min);
  out.pattern.phi_step_rad =
      scan_pattern::step_between(in_radians(sweep.phi_min), in_radians(sweep.phi_max), sweep.n_phi);
  out.tilt = roll_pitch_yaw(0, 0, 0);
  out.pulse_interval_s = 1;
  out.rays_per_pulse = 1;
  out.max_returns = 5;
  out.pulse_distance_m = 0.02;
  out.seed = 7;
  out.scratch_bytes = std::uint64_t{1} << 30;
  return out;
}

/// Pulses that all go along +y.
inline SyntheticScanParams forward_pulses(std::uint32_t count) { return scanner({count, 1, 90, 90, 0, 0}); }

inline SyntheticScan scanned(const ScanScene& scene, const SyntheticScanParams& params, int threads = 2,
                             const PoseStreamView& poses = {}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return synthetic_scan(scene, poses, params, ctx);
}

}  // namespace pc::test
