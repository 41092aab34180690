#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"
#include "fuzz/fuzz_target.h"
#include "support/nasty_clouds.h"
#include "support/skeleton_checks.h"

namespace pc::fuzz {

namespace {

/// Six bytes of parameters, then positions of three float64.
constexpr std::size_t kHead = 6;
constexpr std::size_t kMostPoints = 3000;

std::vector<std::uint8_t> file_of(const std::vector<Vec3d>& points, std::uint8_t first) {
  std::vector<std::uint8_t> out(kHead + points.size() * sizeof(Vec3d));
  for (std::size_t i = 0; i < kHead; ++i) out[i] = static_cast<std::uint8_t>(first + 41 * i);
  if (!points.empty()) std::memcpy(out.data() + kHead, points.data(), points.size() * sizeof(Vec3d));
  return out;
}

std::vector<std::vector<std::uint8_t>> skeleton_seeds() {
  std::vector<std::vector<std::uint8_t>> seeds;
  for (std::uint8_t seed = 0; seed < 12; ++seed)
    seeds.push_back(file_of(nasty_clouds::cloud(seed, 200), seed));
  std::vector<Vec3d> spiral;
  for (int i = 0; i < 400; ++i) spiral.push_back({0.1 * std::cos(i), 0.1 * std::sin(i), 0.005 * i});
  seeds.push_back(file_of(spiral, 3));
  return seeds;
}

void read_skeleton(const std::string& path, OpContext& ctx) {
  const auto file = platform::File::open_read(path);
  BulkVector<std::uint8_t> bytes(static_cast<std::size_t>(file.size()));
  if (bytes.size() != 0) file.read_at(0, bytes.data(), bytes.size());
  if (bytes.size() < kHead) return;
  std::vector<Vec3d> points(std::min(kMostPoints, (bytes.size() - kHead) / sizeof(Vec3d)));
  if (!points.empty()) std::memcpy(points.data(), bytes.data() + kHead, points.size() * sizeof(Vec3d));
  const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(bytes[i]); };
  SkeletonParams params = test::skeleton_params();
  params.remove_outliers = (at(0) & 1U) != 0;
  params.recenter = (at(0) & 2U) != 0;
  params.use_nonlinear_quantization = (at(0) & 4U) != 0;
  params.use_proportion_filter = (at(0) & 8U) != 0;
  if ((at(0) & 16U) != 0) params.search_radius_m = std::nullopt;
  params.outlier_nb_neighbors = 1 + at(1);
  params.max_neighbors = 1 + at(2);
  params.quantization_levels = 2 + at(3);
  params.threshold_filter = at(4) % 40;
  params.root_threshold_m = std::ldexp(1.0, static_cast<int>(at(5) % 40) - 20);
  const std::string fault =
      test::tree_fault(level_set_skeleton({points.data(), points.size()}, {}, params, ctx));
  if (!fault.empty()) throw Error(ErrorCode::kInternal, "a skeleton: " + fault);
}

}  // namespace

FuzzTarget skeleton_target() { return {"skeleton", skeleton_seeds, read_skeleton}; }

}  // namespace pc::fuzz
