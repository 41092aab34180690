#include "spatial/bvh_instances.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/parallel.h"
#include "core/symmetric_eigen.h"

namespace pc {

namespace {

using instances::Placed;

constexpr std::size_t kBlock = 4096;
constexpr double kWorstCondition = 1e4;
/// The inverse of a 3 x 3 matrix by its cofactors is off by a few roundings times the square of the condition number.
constexpr double kInverseError = 4e-15;

void require_that(bool holds, const std::string& message) {
  if (!holds) throw Error(ErrorCode::kInvalidArgument, message);
}

double norm(const double (&m)[3][3]) {
  double sum = 0;
  for (const auto& row : m)
    for (const double value : row) sum += value * value;
  return std::sqrt(sum);
}

/// By cofactors; not finite for a singular matrix.
void invert(const double (&m)[3][3], double (&inverse)[3][3]) {
  const auto minor = [&](std::size_t i, std::size_t j) {
    const std::size_t a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
    return m[a][c] * m[b][d] - m[a][d] * m[b][c];
  };
  const double determinant = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) inverse[i][j] = minor(j, i) / determinant;
}

/// Squares of the factors that lengths grow by, ascending.
SymmetricEigen3 growth(const double (&m)[3][3]) {
  const auto product = [&](std::size_t i, std::size_t j) {
    return m[0][i] * m[0][j] + m[1][i] * m[1][j] + m[2][i] * m[2][j];
  };
  return symmetric_eigen(
      {product(0, 0), product(0, 1), product(0, 2), product(1, 1), product(1, 2), product(2, 2)});
}

/// Box of a prototype relative to its tree's origin.
Box3d bounds_of(const BvhView& tree) {
  Box3d box;
  const bvh::Node& root = tree.nodes[0];
  for (std::size_t lane = 0; lane < bvh::kWidth; ++lane) {
    if (root.child[lane] == bvh::kNone) continue;
    const auto at = [&](const float(&side)[3][bvh::kWidth]) {
      return Vec3d{static_cast<double>(side[0][lane]), static_cast<double>(side[1][lane]),
                   static_cast<double>(side[2][lane])};
    };
    box.add(at(root.min));
    box.add(at(root.max));
  }
  return box;
}

std::size_t leaf_count(const Bvh& tree) {
  std::size_t count = 0;
  for (const bvh::Node& node : tree.nodes())
    for (const std::uint32_t child : node.child)
      count += child != bvh::kNone && (child & bvh::kTriangle) != 0 ? 1 : 0;
  return count;
}

Vec3d corner_of(const Box3d& box, unsigned k) {
  return {(k & 1U) != 0 ? box.max.x : box.min.x, (k & 2U) != 0 ? box.max.y : box.min.y,
          (k & 4U) != 0 ? box.max.z : box.min.z};
}

double largest(const Vec3d& p) { return std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)}); }

/// All but what needs the origin of all instances: `shift` is in the frame of the world, `box` too, rounded outwards.
Placed placed_at(const Instance& instance, const BvhView& tree, const Box3d& bounds, Box3d& box,
                 std::string& fault) {
  Placed placed{};
  const AffineTransform& to_world = instance.to_world;
  std::copy(&to_world.matrix[0][0], &to_world.matrix[0][0] + 9, &placed.matrix[0][0]);
  placed.prototype = instance.prototype;
  placed.shift = Placed::times(placed.matrix, tree.origin) + to_world.offset;
  invert(placed.matrix, placed.inverse);
  const double inverse_norm = norm(placed.inverse), condition = norm(placed.matrix) * inverse_norm;
  if (!is_finite(to_world.offset) || !std::isfinite(norm(placed.matrix)))
    fault = "is not finite";
  else if (!(condition <= kWorstCondition))
    fault = "is singular or nearly so (condition number above 1e4)";
  if (!fault.empty()) return placed;
  placed.error = kInverseError * condition * condition * inverse_norm;
  const SymmetricEigen3 squares = growth(placed.matrix);
  placed.least_squared = squares.value[0] * (1 - 1e-6);
  placed.similar = squares.value[2] <= squares.value[0] * (1 + 1e-7);
  for (unsigned k = 0; k < 8; ++k) {
    const Vec3d corner = Placed::times(placed.matrix, corner_of(bounds, k));
    placed.size = std::max(placed.size, largest(corner));
    box.add(corner + placed.shift);
  }
  const double slack = 1e-14 * (placed.size + largest(placed.shift) + largest(to_world.offset));
  box.min = box.min - Vec3d{slack, slack, slack};
  box.max = box.max + Vec3d{slack, slack, slack};
  if (!(largest(box.min) <= bvh::kMaxCoordinate && largest(box.max) <= bvh::kMaxCoordinate))
    fault = "takes a corner beyond 1e15 m from the origin";
  return placed;
}

}  // namespace

InstancedBvh::InstancedBvh(Span<const TriangleMesh> prototypes, Span<const Instance> instances,
                           OpContext& ctx)
    : top_({}, ctx) {
  require(instances.size < bvh::kTriangle, "there are at most 2147483647 instances");
  std::vector<Box3d> bounds;
  for (std::size_t i = 0; i < prototypes.size; ++i) {
    require_that(prototypes[i].triangle_count() > 0, "prototype " + std::to_string(i) + " has no triangles");
    prototypes_.emplace_back(prototypes[i], ctx);
    trees_.push_back(prototypes_.back().view());
    bounds.push_back(bounds_of(trees_.back()));
  }
  placed_ = BulkVector<Placed>(instances.size);
  // A triangle per instance that fills the instance's box. The third corners differ: equal triangles are kept once.
  BulkVector<Vec3d> corners(3 * instances.size);
  BulkVector<std::uint32_t> indices(3 * instances.size);
  for (std::size_t i = 0; i < instances.size; ++i) {
    if (i % kBlock == 0) ctx.checkpoint();
    const std::uint32_t prototype = instances[i].prototype;
    require_that(prototype < prototypes.size, "instance " + std::to_string(i) + " is of prototype " +
                                                  std::to_string(prototype) + ", but there are " +
                                                  std::to_string(prototypes.size));
    Box3d box;
    std::string fault;
    placed_[i] = placed_at(instances[i], trees_[prototype], bounds[prototype], box, fault);
    require_that(fault.empty(), "the transform of instance " + std::to_string(i) + " " + fault);
    const double part = static_cast<double>(i + 1) / static_cast<double>(instances.size + 1);
    corners[3 * i] = box.min;
    corners[3 * i + 1] = box.max;
    corners[3 * i + 2] = box.min * (1 - part) + box.max * part;
    for (std::size_t k = 0; k < 3; ++k) indices[3 * i + k] = static_cast<std::uint32_t>(3 * i + k);
  }
  top_ = Bvh({{corners.data(), corners.size()}, {indices.data(), indices.size()}}, ctx);
  require(leaf_count(top_) == instances.size,
          "more than eight instances lie in one place that is too small for its coordinates");
  const Vec3d origin = top_.view().origin;
  for (std::size_t i = 0; i < instances.size; ++i) {
    const Placed& placed = placed_[i];
    placed_[i].shift = (instances[i].to_world.offset - origin) +
                       Placed::times(placed.matrix, trees_[placed.prototype].origin);
  }
}

std::uint64_t InstancedBvh::bytes() const {
  std::uint64_t bytes = placed_.size() * sizeof(Placed);
  const auto add = [&](const Bvh& tree) {
    bytes += tree.nodes().size * sizeof(bvh::Node) + tree.triangles().size * sizeof(bvh::Triangle);
  };
  add(top_);
  for (const Bvh& prototype : prototypes_) add(prototype);
  return bytes;
}

}  // namespace pc
