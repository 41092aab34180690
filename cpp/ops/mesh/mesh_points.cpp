#include "ops/mesh/mesh_points.h"

#include "core/error.h"
#include "core/parallel.h"
#include "core/plane_rotation.h"
#include "spatial/predicates.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;

class Inside {
 public:
  explicit Inside(const CropBox& box)
      : box_(box),
        center_((box.min + box.max) * 0.5),
        rotation_(PlaneRotation::of_degrees(box.rotation_deg)) {}

  bool operator()(const Vec3d& p) const {
    double x = p.x, y = p.y;
    if (rotation_.cosine != 1) {
      const double dx = p.x - center_.x, dy = p.y - center_.y;
      x = center_.x + rotation_.x_before(dx, dy);
      y = center_.y + rotation_.y_before(dx, dy);
    }
    return x >= box_.min.x && x <= box_.max.x && y >= box_.min.y && y <= box_.max.y && p.z >= box_.min.z &&
           p.z <= box_.max.z;
  }

 private:
  CropBox box_;
  Vec3d center_;
  PlaneRotation rotation_;
};

/// The points for which inside(point) holds.
template <class IsInside>
MeshPoints gathered(const MeshRows& rows, const IsInside& inside, OpContext& ctx) {
  const Span<const Vec3d> positions = rows.positions, origins = rows.origins;
  const Span<const std::uint8_t> skip = rows.skip;
  const Vec3d shift = rows.shift;
  require(origins.size <= 1 || origins.size == positions.size,
          "origins must have one entry, or one per point");
  require(skip.empty() || skip.size == positions.size, "skip must have one entry per point");
  require(is_finite(shift), "the shift must be finite");
  struct Part {
    std::size_t kept = 0, unusable = 0;
  };
  const auto visit = [&](std::size_t begin, std::size_t end, Part& part, auto&& keep) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!skip.empty() && skip[i] != 0) continue;
      const Vec3d p = positions[i] + shift;
      if (!in_exact_range(p)) {
        ++part.unusable;
      } else if (inside(p)) {
        keep(i, p);
        ++part.kept;
      }
    }
  };
  std::vector<Part> parts((positions.size + kGrain - 1) / kGrain);
  ctx.begin_phase("Reading points", 2 * positions.size);
  parallel_for(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end) {
    visit(begin, end, parts[begin / kGrain], [](std::size_t, const Vec3d&) {});
  });
  std::vector<std::size_t> firsts(parts.size() + 1, 0);
  MeshPoints out{};
  for (std::size_t k = 0; k < parts.size(); ++k) {
    firsts[k + 1] = firsts[k] + parts[k].kept;
    out.unusable_count += parts[k].unusable;
  }
  out.points = Column<Vec3d>(firsts.back());
  if (!origins.empty()) out.origins = Column<Vec3d>(firsts.back());
  parallel_for(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t at = firsts[begin / kGrain];
    Part ignored;
    visit(begin, end, ignored, [&](std::size_t row, const Vec3d& p) {
      if (!origins.empty()) out.origins[at] = origins[origins.size == 1 ? 0 : row] + shift;
      out.points[at++] = p;
    });
  });
  return out;
}

}  // namespace

MeshPoints mesh_points(const MeshRows& rows, const std::optional<CropBox>& crop, OpContext& ctx) {
  if (!crop)
    return gathered(
        rows, [](const Vec3d&) { return true; }, ctx);
  require(is_finite(crop->min) && is_finite(crop->max) && std::isfinite(crop->rotation_deg),
          "crop_box and its rotation must be finite");
  return gathered(rows, Inside(*crop), ctx);
}

MeshPoints mesh_points_in_voxels(const MeshRows& rows, const VoxelBox& grid, OpContext& ctx) {
  const VoxelCells cells(grid);
  return gathered(
      rows, [&](const Vec3d& p) { return cells.cell_of(p).has_value(); }, ctx);
}

Column<Vec3d> stride_points(const std::vector<Span<const Vec3d>>& parts, std::uint64_t stride,
                            OpContext& ctx) {
  require(stride > 0, "the stride must be positive");
  std::size_t total = 0;
  for (const Span<const Vec3d>& part : parts) total += part.size;
  Column<Vec3d> out((total + stride - 1) / stride);
  ctx.begin_phase("Preparing point cloud", out.size());
  std::size_t before = 0;
  for (const Span<const Vec3d>& part : parts) {
    const std::size_t first = (before + stride - 1) / stride,
                      last = (before + part.size + stride - 1) / stride;
    parallel_for(ctx, last - first, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) out[first + k] = part[(first + k) * stride - before];
    });
    before += part.size;
  }
  return out;
}

}  // namespace pc
