#include "ops/registration/point_to_mesh_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/gpu_run.h"
#include "core/parallel.h"
#include "ops/registration/distance_statistics.h"
#include "ops/registration/point_to_mesh_kernel.h"
#include "spatial/bvh_queries.h"
#include "spatial/pseudo_normals.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = 4096;  // rows whose moments are summed together
/// Points between two cancel checks: on a million triangles that share a vertex, each takes 30 ms.
constexpr std::size_t kBatch = 4;
constexpr std::size_t kDeviceRows = 256 * kBlock;  // of which the GPU searches the points together
static_assert(kDeviceRows % kBlock == 0);

/// Measures blocks of rows.
class Measure {
 public:
  Measure(Span<const Vec3d> positions, Span<const std::uint8_t> skip, const Bvh& tree,
          const PseudoNormals* sides, const PointToMeshParams& params, Span<float> distances)
      : positions_(positions),
        skip_(skip),
        tree_(tree.view()),
        sides_(sides),
        stride_(params.stride),
        shift_(params.shift),
        to_tree_(params.shift - tree.view().origin),
        distances_(distances) {}

  struct Part {
    DistanceMoments moments{{}, {}, HUGE_VAL, 0, {}};
    std::uint64_t unmeasured = 0;
  };

  /// Triangles that are known: of the rows from `first` on, for those that are measured.
  void know(std::size_t first, const ClosestTriangle* known) {
    first_known_ = first;
    known_ = known;
  }

  /// Rows of [begin, end) that are measured, before which `kept` rows are kept, with their places in the tree's frame.
  void collect(std::size_t begin, std::size_t end, std::uint64_t kept, std::vector<std::size_t>& rows,
               std::vector<Vec3d>& places) const {
    for (std::size_t row = begin; row < end; ++row) {
      if (!takes(row, kept) || !is_usable(positions_[row] + shift_)) continue;
      rows.push_back(row);
      places.push_back(positions_[row] + to_tree_);
    }
  }

  /// The rows [begin, end), before which `kept` rows are kept.
  Part operator()(std::size_t begin, std::size_t end, std::uint64_t kept, const OpContext& ctx) const {
    Part part;
    Batch batch;
    for (std::size_t row = begin; row < end; ++row) {
      distances_[row] = std::numeric_limits<float>::quiet_NaN();
      if (!takes(row, kept)) continue;
      const Vec3d place = positions_[row] + shift_;
      if (!is_usable(place)) {
        ++part.unmeasured;
        continue;
      }
      part.moments.box.add(place);
      batch.rows[batch.size] = row;
      batch.points[batch.size++] = positions_[row];
      if (batch.size == kBatch) finish(batch, part, ctx);
    }
    finish(batch, part, ctx);
    return part;
  }

 private:
  struct Batch {
    std::size_t rows[kBatch];
    Vec3d points[kBatch];
    ClosestTriangle found[kBatch];
    std::size_t size = 0;
    std::uint32_t guess = bvh::kNone;
  };

  void finish(Batch& batch, Part& part, const OpContext& ctx) const {
    if (batch.size == 0) return;
    ctx.checkpoint();
    search(batch);
    for (std::size_t i = 0; i < batch.size; ++i) {
      const double distance = std::sqrt(batch.found[i].squared);
      const bool inside = sides_ != nullptr && is_inside(batch.found[i], batch.points[i] + to_tree_);
      const double sided = inside ? -distance : distance;
      part.moments.unsigned_.add(distance);
      part.moments.sided.add(sided);
      part.moments.min = std::min(part.moments.min, distance);
      part.moments.max = std::max(part.moments.max, distance);
      distances_[batch.rows[i]] = static_cast<float>(sided);
    }
    batch.size = 0;
  }

  void search(Batch& batch) const {
    if (known_ != nullptr) {
      for (std::size_t i = 0; i < batch.size; ++i) batch.found[i] = known_[batch.rows[i] - first_known_];
      return;
    }
    fastest_bvh_queries().closest(tree_, batch.points, batch.size, to_tree_, batch.guess, batch.found);
    batch.guess = batch.found[batch.size - 1].slot;
  }

  /// Whether a row is kept and the stride's turn; counts the kept ones.
  bool takes(std::size_t row, std::uint64_t& kept) const {
    if (!skip_.empty() && skip_[row] != 0) return false;
    return kept++ % stride_ == 0;
  }

  static bool is_usable(const Vec3d& place) {
    const auto usable = [](double value) { return std::abs(value) <= bvh::kMaxCoordinate; };
    return usable(place.x) && usable(place.y) && usable(place.z);
  }

  bool is_inside(const ClosestTriangle& found, const Vec3d& p) const {
    const bvh::Triangle& triangle = tree_.triangles[found.slot];
    return sides_->inside(triangle.index, closest_on_triangle(triangle.a, triangle.b, triangle.c, p));
  }

  Span<const Vec3d> positions_;
  Span<const std::uint8_t> skip_;
  BvhView tree_;
  const PseudoNormals* sides_;
  std::uint64_t stride_;
  Vec3d shift_, to_tree_;
  Span<float> distances_;
  std::size_t first_known_ = 0;
  const ClosestTriangle* known_ = nullptr;
};

/// Number of kept rows before each block.
std::vector<std::uint64_t> kept_before(std::size_t rows, Span<const std::uint8_t> skip, OpContext& ctx) {
  std::vector<std::uint64_t> before((rows + kBlock - 1) / kBlock + 1, 0);
  parallel_for(ctx, rows, kBlock, [&](std::size_t begin, std::size_t end) {
    std::uint64_t kept = 0;
    for (std::size_t row = begin; row < end; ++row) kept += skip.empty() || skip[row] == 0 ? 1 : 0;
    before[begin / kBlock + 1] = kept;
  });
  for (std::size_t block = 1; block < before.size(); ++block) before[block] += before[block - 1];
  return before;
}

/// Lets the GPU search the closest triangles of the rows [begin, end); false = the CPU must.
bool search_on_device(GpuRun& gpu, const Bvh& tree, Measure& measure, std::size_t begin, std::size_t end,
                      std::uint64_t kept, std::vector<ClosestTriangle>& known) {
  if (!gpu.usable()) return false;
  std::vector<std::size_t> rows;
  std::vector<Vec3d> places;
  measure.collect(begin, end, kept, rows, places);
  std::vector<ClosestTriangle> found(places.size());
  const point_to_mesh_kernel::HostPass pass{tree.view(), tree.triangles().size, places.data(), places.size(),
                                            found.data()};
  const auto same = [&](std::size_t i) {
    const auto wanted = bvh::closest_triangle<bvh::PlainLanes>(pass.tree, places[i], bvh::kNone);
    return found[i].squared == wanted.squared && found[i].slot == wanted.slot;
  };
  const bool done = gpu.run([&](const auto& table, const auto& control,
                                auto& error) { return table.closest_triangles(&pass, &control, &error); },
                            [&] { return sample_agrees(places.size(), same); });
  if (!done) return false;
  known.resize(end - begin);
  for (std::size_t i = 0; i < rows.size(); ++i) known[rows[i] - begin] = found[i];
  measure.know(begin, known.data());
  return true;
}

Measure::Part merged(const std::vector<Measure::Part>& parts) {
  Measure::Part all;
  for (const Measure::Part& part : parts) {
    all.moments.unsigned_.add(part.moments.unsigned_);
    all.moments.sided.add(part.moments.sided);
    all.moments.min = std::min(all.moments.min, part.moments.min);
    all.moments.max = std::max(all.moments.max, part.moments.max);
    all.moments.box.add(part.moments.box);
    all.unmeasured += part.unmeasured;
  }
  return all;
}

double diagonal_of(const TriangleMesh& mesh) {
  Box3d box;
  for (const std::uint32_t vertex : mesh.indices) box.add(mesh.vertices[vertex]);
  return std::sqrt(squared_distance(box.min, box.max));
}

}  // namespace

PointToMeshResult point_to_mesh_distance(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                         const TriangleMesh& mesh, const PointToMeshParams& params,
                                         OpContext& ctx) {
  require(mesh.triangle_count() > 0, "the mesh has no triangles");
  require(skip.empty() || skip.size == positions.size, "skip needs one entry per point");
  require(is_finite(params.shift), "the shift must be finite");
  require(params.stride >= 1, "the stride must be at least 1");
  for (const double band : params.bands_m) require(std::isfinite(band), "bands_m must be finite");
  ctx.begin_phase("Building raycasting scene", 0);
  std::optional<PseudoNormals> sides;
  if (params.with_sides) sides.emplace(mesh, ctx);
  const Bvh tree(mesh, ctx);
  PointToMeshResult result{
      Column<float>(positions.size), 0, 0, std::nullopt, std::nullopt, diagonal_of(mesh), {}};
  const std::vector<std::uint64_t> before = kept_before(positions.size, skip, ctx);
  ctx.begin_phase("Computing distances", positions.size);
  std::vector<Measure::Part> parts((positions.size + kBlock - 1) / kBlock);
  const bool sided = sides && sides->defined();
  Measure measure(positions, skip, tree, sided ? &*sides : nullptr, params, result.distances.view());
  GpuRun gpu(ctx, "Distances", result.warnings);
  std::vector<ClosestTriangle> known;
  const std::size_t together = gpu.usable() ? kDeviceRows : std::max<std::size_t>(1, positions.size);
  for (std::size_t first = 0; first < positions.size; first += together) {
    const std::size_t count = std::min(together, positions.size - first);
    if (!search_on_device(gpu, tree, measure, first, first + count, before[first / kBlock], known))
      measure.know(0, nullptr);
    parallel_for(ctx, count, kBlock, [&](std::size_t begin, std::size_t end) {
      const std::size_t block = (first + begin) / kBlock;
      parts[block] = measure(first + begin, first + end, before[block], ctx);
    });
  }
  const Measure::Part all = merged(parts);
  result.point_count = all.moments.unsigned_.count;
  result.unmeasured_count = all.unmeasured;
  if (result.point_count > 0)
    result.spread = distance_statistics(all.moments, result.distances.view(), params.bands_m, ctx);
  if (sides) {
    const Moments& moments = all.moments.sided;
    result.sides = SidedStatistics{sided, sided ? moments.mean : 0, sided ? moments.deviation() : 0,
                                   sides->open_edge_count(), sides->flat_count()};
  }
  return result;
}

std::uint64_t point_to_mesh_distance_bytes(std::uint64_t points, std::uint64_t vertices,
                                           std::uint64_t triangles, bool with_sides) {
  const std::uint64_t parts = points / kBlock * sizeof(Measure::Part);
  const std::uint64_t tree = triangles * (sizeof(bvh::Triangle) + 64),
                      building = triangles * 2 * sizeof(Box3d);
  const std::uint64_t kept = with_sides ? triangles * 24 + vertices * 24 : 0;
  const std::uint64_t pairing = with_sides ? triangles * 3 * 24 + vertices * 8 : 0;
  const std::uint64_t searched =  // by the GPU
      std::min<std::uint64_t>(points, kDeviceRows) * (sizeof(Vec3d) + 2 * sizeof(ClosestTriangle) + 8);
  return points * 4 + parts + tree + kept + std::max(building, pairing) + searched;
}

}  // namespace pc
