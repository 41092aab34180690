#include "ops/cloud/normals.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/symmetric_eigen.h"
#include "ops/cloud/normal_orientation.h"
#include "spatial/all_knn.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = 65'536;
/// Neighbours whose second largest scatter is below this share of the largest are on one line.
constexpr double kOnLine = 1e-12;
/// Neighbours whose normals are compared.
constexpr std::uint32_t kCompared = 4;
/// Consistent normals have so many times fewer opposed pairs. Measured: none or two of 985 to 102,690 on tori, walls and
/// hills; 4 and 1 % in rooms that they mesh better, 10 to 20 % where rows are sparser than a thin wall and they do not.
constexpr double kFewerOpposed = 20;

bool needs_graph(NormalOrientation orientation) {
  return orientation == NormalOrientation::kConsistent || orientation == NormalOrientation::kAgreeing;
}

/// Normal of the plane through p and the rows near it; (0, 0, 0) if they make none. Differences to p keep all digits at
/// large coordinates.
Vec3d plane_normal(Span<const Vec3d> points, const Vec3d& p, Span<const std::uint64_t> rows) {
  if (rows.size < 2) return {0, 0, 0};
  const double weight = 1 / static_cast<double>(rows.size + 1);
  Vec3d mean{0, 0, 0};
  for (const std::uint64_t row : rows) mean = mean + (points[row] - p);
  mean = mean * weight;
  Symmetric3 scatter{mean.x * mean.x, mean.x * mean.y, mean.x * mean.z,
                     mean.y * mean.y, mean.y * mean.z, mean.z * mean.z};  // of p itself
  for (const std::uint64_t row : rows) {
    const Vec3d d = points[row] - p - mean;
    scatter.add_square(d);
  }
  const SymmetricEigen3 eigen = symmetric_eigen(scatter);
  const bool plane = eigen.value[1] > kOnLine * eigen.value[2] && std::isfinite(eigen.value[2]);
  return plane ? eigen.vector[0] : Vec3d{0, 0, 0};
}

/// The scanner's place for a row.
const Vec3d& origin_of(Span<const Vec3d> origins, std::size_t row) {
  return origins[origins.size == 1 ? 0 : row];
}

/// Normal of the neighbours that were seen from the same side of the surface as the point: behind a thin wall lies another
/// one. First, those whose beams do not come from the opposite direction tell where the surface is. (0, 0, 0) where
/// they make no plane.
Vec3d same_side_normal(Span<const Vec3d> points, Span<const Vec3d> origins, std::uint64_t row,
                       Span<const std::uint64_t> near) {
  std::uint64_t same[kMaxNormalNeighbors];
  const auto normal_of_side = [&](const Vec3d& toward) {
    std::size_t count = 0;
    for (const std::uint64_t i : near)
      if (!(dot(origin_of(origins, i) - points[i], toward) < 0)) same[count++] = i;
    return plane_normal(points, points[row], {same, count});
  };
  const Vec3d beam = origin_of(origins, row) - points[row];
  Vec3d first = normal_of_side(beam);
  if (first == Vec3d{0, 0, 0}) first = plane_normal(points, points[row], near);
  const Vec3d normal = normal_of_side(dot(first, beam) < 0 ? first * -1 : first);
  return normal == Vec3d{0, 0, 0} ? first : normal;
}

void estimate(const KdTree& tree, Span<const Vec3d> points, const NormalsParams& params,
              Span<const Vec3d> origins, Span<Vec3d> normals, OpContext& ctx) {
  if (tree.size() < 3) return;
  const auto k = static_cast<std::uint32_t>(std::min<std::uint64_t>(params.max_nn - 1, tree.size() - 1));
  const double most = params.radius_m * params.radius_m;
  const KdTreeView view = tree.view();
  const std::vector<std::size_t> blocks = tree.leaf_blocks(all_knn_block(k));
  ctx.begin_phase("Estimating normals", blocks.size() - 1);
  const Span<const std::size_t> all{blocks.data(), blocks.size()};
  all_knn(tree, {k, 0, KnnColumns::kAll}, all, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    for (std::uint32_t p = 0; p < leaf.count; ++p) {
      const Span<const double> squared = found.squared(p);
      const auto within =
          static_cast<std::size_t>(std::upper_bound(squared.begin(), squared.end(), most) - squared.begin());
      const std::uint64_t row = leaf.row[p];
      const Span<const std::uint64_t> near = found.rows(p).subspan(0, within);
      normals[row] = origins.empty() ? plane_normal(points, leaf.point(p), near)
                                     : same_side_normal(points, origins, row, near);
    }
  });
}

/// Turns each normal so that its product with toward(row) is not negative.
template <class Toward>
void face(Span<Vec3d> normals, OpContext& ctx, const Toward& toward) {
  parallel_for(ctx, normals.size, kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Vec3d n = normals[row], to = toward(row);
      if (n.x * to.x + n.y * to.y + n.z * to.z < 0) normals[row] = n * -1;
    }
  });
}

/// Mean of the finite rows.
Vec3d centroid_of(Span<const Vec3d> points, const KdTree& tree, OpContext& ctx) {
  if (tree.size() == 0) return {0, 0, 0};
  const kd_tree::Node& root = tree.view().nodes[0];
  const Vec3d origin = root.min;
  const auto mean = [&](auto&& axis) {
    return parallel_sum(
               ctx, points.size,
               [&](std::size_t i) { return is_finite(points[i]) ? axis(points[i] - origin) : 0.0; }) /
           static_cast<double>(tree.size());
  };
  return origin + Vec3d{mean([](const Vec3d& d) { return d.x; }), mean([](const Vec3d& d) { return d.y; }),
                        mean([](const Vec3d& d) { return d.z; })};
}

/// Pairs of a point and one of its nearest whose normals are more than 90 degrees apart.
double opposed_pairs(const KdTree& tree, Span<const Vec3d> normals, OpContext& ctx) {
  if (tree.size() < 2) return 0;
  const auto k = static_cast<std::uint32_t>(std::min<std::uint64_t>(kCompared, tree.size() - 1));
  BulkVector<std::uint8_t> opposed(normals.size);
  const KdTreeView view = tree.view();
  all_knn(tree, k, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    for (std::uint32_t p = 0; p < leaf.count; ++p) {
      for (const std::uint64_t row : found.rows(p))
        opposed[leaf.row[p]] += dot(normals[leaf.row[p]], normals[row]) < 0 ? 1 : 0;
    }
  });
  return parallel_sum(ctx, opposed.size(), [&](std::size_t i) { return static_cast<double>(opposed[i]); });
}

/// Keeps the normals unless consistent ones have far fewer opposed pairs. Returns the components of those, or 0.
std::uint64_t make_agree(const KdTree& tree, Span<const Vec3d> points, Span<Vec3d> normals,
                         std::uint32_t neighbors, OpContext& ctx) {
  const double opposed = opposed_pairs(tree, normals, ctx);
  if (opposed == 0) return 0;
  BulkVector<Vec3d> others(normals.size);
  std::copy(normals.begin(), normals.end(), others.begin());
  const std::uint64_t components = orient_consistently(tree, points, others.view(), neighbors, ctx);
  if (opposed_pairs(tree, others.view(), ctx) * kFewerOpposed > opposed) return 0;
  std::copy(others.begin(), others.end(), normals.begin());
  return components;
}

void validate(HitPoints points, const NormalsParams& params, Span<const Vec3d> origins) {
  require(params.radius_m > 0, "normal_radius must be positive");
  if (params.max_nn < 3 || params.max_nn > kMaxNormalNeighbors)
    throw Error(ErrorCode::kInvalidArgument, "normal_max_nn " + std::to_string(params.max_nn) +
                                                 " must be 3 to " + std::to_string(kMaxNormalNeighbors));
  if (params.orientation == NormalOrientation::kTowardOrigins)
    require(origins.size == 1 || origins.size == points.size(), "origins needs one entry, or one per point");
  else
    require(origins.empty(), "origins are for normals toward the origins alone");
  if (needs_graph(params.orientation))
    require(params.graph_neighbors >= 1 && params.graph_neighbors <= 100, "graph_neighbors must be 1 to 100");
}

}  // namespace

NormalsResult estimate_normals(HitPoints points, const NormalsParams& params, Span<const Vec3d> origins,
                               OpContext& ctx) {
  validate(points, params, origins);
  const Span<const Vec3d> xyz = points.xyz();
  NormalsResult result{Column<Vec3d>(xyz.size), 0, 0};
  ctx.begin_phase("Estimating normals", 0);
  const KdTree tree(xyz, ctx);
  const Span<Vec3d> normals = result.normals.view();
  estimate(tree, xyz, params, origins, normals, ctx);
  ctx.begin_phase("Orienting normals", 0);
  switch (params.orientation) {
    case NormalOrientation::kFromCentroid:
    case NormalOrientation::kAgreeing: {
      const Vec3d centroid = centroid_of(xyz, tree, ctx);
      face(normals, ctx, [&](std::size_t row) { return xyz[row] - centroid; });
      if (params.orientation == NormalOrientation::kAgreeing)
        result.component_count = make_agree(tree, xyz, normals, params.graph_neighbors, ctx);
      break;
    }
    case NormalOrientation::kConsistent:
      result.component_count = orient_consistently(tree, xyz, normals, params.graph_neighbors, ctx);
      break;
    case NormalOrientation::kTowardOrigins:
      face(normals, ctx, [&](std::size_t row) { return origin_of(origins, row) - xyz[row]; });
      break;
  }
  result.unestimated_count = static_cast<std::uint64_t>(parallel_sum(ctx, xyz.size, [&](std::size_t i) {
    return normals[i].x == 0 && normals[i].y == 0 && normals[i].z == 0 ? 1.0 : 0.0;
  }));
  return result;
}

std::uint64_t normals_bytes(std::uint64_t points, const NormalsParams& params) {
  const std::uint64_t graph = needs_graph(params.orientation) ? 21 * params.graph_neighbors + 13 : 0;
  const std::uint64_t others = params.orientation == NormalOrientation::kAgreeing ? 24 : 0;
  return points * (64 + graph + others);
}

}  // namespace pc
