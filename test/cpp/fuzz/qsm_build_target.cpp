#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "fuzz/fuzz_target.h"
#include "ops/qsm/build_qsm.h"

namespace pc::fuzz {

namespace {

/// The first byte chooses the radius model; the rest are positions of float64.
std::vector<std::uint8_t> file_of(std::uint8_t model, const std::vector<Vec3d>& points) {
  std::vector<std::uint8_t> out(1 + points.size() * sizeof(Vec3d), model);
  std::memcpy(out.data() + 1, points.data(), points.size() * sizeof(Vec3d));
  return out;
}

std::vector<std::vector<std::uint8_t>> qsm_build_seeds() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::vector<std::uint8_t>> out;
  std::vector<Vec3d> line, plane, grid, place, apart, tube;
  for (int i = 0; i < 120; ++i) {
    const double z = 0.01 * i, turn = 2.4 * i;
    line.push_back({0, 0, z});
    plane.push_back({0.02 * (i % 11), 0, 0.02 * (i / 11)});
    grid.push_back({0.1 * (i % 5), 0.1 * (i / 5 % 5), 0.1 * (i / 25)});
    place.push_back({1, 2, 3});
    apart.push_back({i % 2 == 0 ? 0 : 1e7, 0, z});
    tube.push_back({0.05 * std::cos(turn), 0.05 * std::sin(turn), z});
    if (i % 40 == 7) line.push_back({nan, 0, z});
  }
  for (const std::uint8_t model : {0, 1})
    for (const auto* points : {&line, &plane, &grid, &place, &apart, &tube})
      out.push_back(file_of(model, *points));
  return out;
}

void check(bool ok, const char* what) {
  if (!ok) throw std::logic_error(what);
}

void build_from_file(const std::string& path, OpContext& ctx) {
  constexpr std::size_t kMostPoints = 4000;
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (bytes.empty()) return;
  std::vector<Vec3d> points(std::min((bytes.size() - 1) / sizeof(Vec3d), kMostPoints));
  if (!points.empty()) std::memcpy(points.data(), bytes.data() + 1, points.size() * sizeof(Vec3d));
  const RadiusModel model = (bytes[0] & 1) == 0 ? RadiusModel::kIsotonic : RadiusModel::kTapered;
  const QsmBuildResult built = build_qsm(HitPoints::assume_hits({points.data(), points.size()}),
                                         {0.004, true, 0.75, 1, 0, 0, model}, ctx);
  for (const QsmCylinder& c : built.qsm.cylinders) {
    check(is_finite(c.start) && is_finite(c.end), "an end is not finite");
    check(c.radius >= 0.001 && std::isfinite(c.radius), "a radius is not positive");
    check(c.parent_id < c.cyl_id, "a parent comes after its child");
  }
}

}  // namespace

FuzzTarget qsm_build_target() { return {"qsm_build", qsm_build_seeds, build_from_file}; }

}  // namespace pc::fuzz
