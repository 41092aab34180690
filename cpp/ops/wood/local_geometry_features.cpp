#include "ops/wood/local_geometry_features.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/symmetric_eigen.h"
#include "spatial/all_knn.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

void check(std::size_t points, const LocalGeometryParams& params) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); };
  if (params.k_min < 3 || params.k_min > params.k_max || params.k_max > kMostLocalNeighbors)
    refuse("k_min " + std::to_string(params.k_min) + " and k_max " + std::to_string(params.k_max) +
           " must be 3 to " + std::to_string(kMostLocalNeighbors) + ", k_min at most k_max");
  if (params.k_step == 0) refuse("k_step must be 1 or more");
  if (params.listed > kMostLocalNeighbors)
    refuse("at most " + std::to_string(kMostLocalNeighbors) + " neighbours can be listed");
  if (points >= 0xffffffffU) refuse("wood is told from leaves in at most 4,294,967,294 points");
}

/// Sums of coordinates and of their products, relative to the point: no cancellation far from the origin.
struct Moments {
  double x = 0, y = 0, z = 0, xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;

  void add(const Vec3d& d) {
    x += d.x, y += d.y, z += d.z;
    xx += d.x * d.x, xy += d.x * d.y, xz += d.x * d.z;
    yy += d.y * d.y, yz += d.y * d.z, zz += d.z * d.z;
  }
  Symmetric3 variance(double count) const {
    const double s = 1 / count, mx = x * s, my = y * s, mz = z * s;
    return {xx * s - mx * mx, xy * s - mx * my, xz * s - mx * mz,
            yy * s - my * my, yz * s - my * mz, zz * s - mz * mz};
  }
};

struct Eigenvalues {
  double l1, l2, l3;  ///< descending
};

/// Closed form (Smith 1961): exact enough for an entropy, and several times as fast as an iteration.
Eigenvalues eigenvalues(const Symmetric3& m) {
  const double mean = (m.xx + m.yy + m.zz) / 3;
  const double a = m.xx - mean, b = m.yy - mean, c = m.zz - mean;
  const double off = m.xy * m.xy + m.xz * m.xz + m.yz * m.yz;
  const double p = std::sqrt((a * a + b * b + c * c + 2 * off) / 6);
  if (!(p > 0)) return {mean, mean, mean};
  const double det =
      a * (b * c - m.yz * m.yz) - m.xy * (m.xy * c - m.yz * m.xz) + m.xz * (m.xy * m.yz - b * m.xz);
  const double r = std::clamp(det / (2 * p * p * p), -1.0, 1.0);
  const double angle = std::acos(r) / 3;
  const double l1 = mean + 2 * p * std::cos(angle);
  const double l3 = mean + 2 * p * std::cos(angle + 2.0943951023931953);
  return {l1, 3 * mean - l1 - l3, l3};
}

double entropy(const Eigenvalues& e) {
  const double sum = e.l1 + e.l2 + e.l3;
  if (!(sum > 0)) return -1;
  const auto term = [&](double value) {
    const double share = value / sum;
    return share > 1e-12 ? -share * std::log(share) : 0.0;
  };
  return term(e.l1) + term(e.l2) + term(e.l3);
}

/// |z| of the unit vector that m - l3 maps to 0: the longest cross product of two rows of it; 0 if all rows are parallel.
double normal_z(const Symmetric3& m, double l3) {
  const Vec3d a{m.xx - l3, m.xy, m.xz}, b{m.xy, m.yy - l3, m.yz}, c{m.xz, m.yz, m.zz - l3};
  const Vec3d all[3] = {cross(a, b), cross(a, c), cross(b, c)};
  double longest = 0, z = 0;
  for (const Vec3d& v : all) {
    const double squared = dot(v, v);
    if (squared > longest) longest = squared, z = v.z;
  }
  return longest > 0 ? std::min(1.0, std::abs(z) / std::sqrt(longest)) : 0;
}

struct Shape {
  float verticality = 0, linearity = 0, planarity = 0, sphericity = 1;
};

Shape shape_of(const Symmetric3& m) {
  const SymmetricEigen3 eigen = symmetric_eigen(m);
  const double l1 = eigen.value[2], l2 = std::max(eigen.value[1], 0.0), l3 = std::max(eigen.value[0], 0.0);
  return {static_cast<float>(1 - std::min(1.0, std::abs(eigen.vector[0].z))),
          static_cast<float>((l1 - l2) / l1), static_cast<float>((l2 - l3) / l1),
          static_cast<float>(l3 / l1)};
}

/// Sums over the sizes of neighbourhoods.
struct ShapeSums {
  double flatness = 0, verticality = 0, linearity = 0;
  int count = 0;

  void add(const Symmetric3& m, const Eigenvalues& e) {
    if (!(e.l1 > 0)) return;
    flatness -= std::log(std::max(e.l3, 0.0) / e.l1 + 1e-3);
    verticality += 1 - normal_z(m, e.l3);
    linearity += (e.l1 - e.l2) / e.l1;
    ++count;
  }
  float mean(double sum) const { return count > 0 ? static_cast<float>(sum / count) : 0.0F; }
};

/// Finds the size of the neighbourhood of one point.
class Chooser {
 public:
  explicit Chooser(const LocalGeometryParams& params) : params_(params) {}

  void start() {
    sums_ = {};
    means_ = {};
    best_ = -1;
    best_k_ = 0;
  }
  /// The j-th neighbour (1 = the nearest), relative to the point; `last`: the cloud has no more.
  void add(std::uint32_t j, const Vec3d& offset, bool last) {
    sums_.add(offset);
    const std::uint32_t size = j + 1;
    const bool tried =
        size >= params_.k_min && size <= params_.k_max && (size - params_.k_min) % params_.k_step == 0;
    if (!tried && !(last && size < params_.k_min)) return;
    const Symmetric3 variance = sums_.variance(size);
    const Eigenvalues values = eigenvalues(variance);
    if (params_.means) means_.add(variance, values);
    const double found = entropy(values);
    if (!(found > best_)) return;
    best_ = found;
    best_k_ = size;
    variance_ = variance;
  }
  std::uint32_t size() const { return best_k_; }
  const ShapeSums& means() const { return means_; }
  Shape shape() const { return best_k_ == 0 ? Shape{} : shape_of(variance_); }

 private:
  LocalGeometryParams params_;
  Moments sums_;
  ShapeSums means_;
  Symmetric3 variance_{};
  double best_ = -1;
  std::uint32_t best_k_ = 0;
};

LocalGeometryFeatures room_for(std::size_t n, const LocalGeometryParams& params) {
  const std::size_t means = params.means ? n : 0;
  return {BulkVector<float>(n),    BulkVector<float>(n),         BulkVector<float>(n),
          BulkVector<float>(n),    BulkVector<std::uint16_t>(n), BulkVector<std::uint32_t>(n * params.listed),
          params.listed,           BulkVector<float>(means),     BulkVector<float>(means),
          BulkVector<float>(means)};
}

void put(const Chooser& chooser, std::uint64_t row, LocalGeometryFeatures& out) {
  const Shape shape = chooser.shape();
  out.verticality[row] = shape.verticality;
  out.linearity[row] = shape.linearity;
  out.planarity[row] = shape.planarity;
  out.sphericity[row] = shape.sphericity;
  out.k[row] = static_cast<std::uint16_t>(chooser.size());
  if (out.mean_flatness.empty()) return;
  const ShapeSums& means = chooser.means();
  out.mean_flatness[row] = means.mean(means.flatness);
  out.mean_verticality[row] = means.mean(means.verticality);
  out.mean_linearity[row] = means.mean(means.linearity);
}

}  // namespace

LocalGeometryFeatures local_geometry_features(Span<const Vec3d> points, const LocalGeometryParams& params,
                                              OpContext& ctx) {
  check(points.size, params);
  LocalGeometryFeatures out = room_for(points.size, params);
  if (points.size == 0) return out;
  ctx.begin_phase("Sorting points", 0);
  const KdTree tree(points, ctx);
  require(tree.size() == points.size, "local_geometry_features needs finite points");
  const std::uint32_t most = std::max(params.k_max - 1, params.listed);
  const auto k = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(points.size - 1, 1, most));
  const std::vector<std::size_t> blocks = tree.leaf_blocks(all_knn_block(k));
  ctx.begin_phase("Measuring shapes", blocks.size() - 1);
  const KdTreeView view = tree.view();
  all_knn(tree, {k, 0, KnnColumns::kAll}, {blocks.data(), blocks.size()}, ctx,
          [&](std::uint32_t number, const LeafKnn& found) {
            const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
            Chooser chooser(params);
            for (std::uint32_t p = 0; p < leaf.count; ++p) {
              const Span<const std::uint64_t> rows = found.rows(p);
              const std::uint64_t row = leaf.row[p];
              chooser.start();
              for (std::size_t j = 0; j < rows.size && j + 1 < params.k_max; ++j)
                chooser.add(static_cast<std::uint32_t>(j + 1), points[rows[j]] - points[row],
                            j + 1 == rows.size);
              put(chooser, row, out);
              for (std::uint32_t j = 0; j < params.listed; ++j)
                out.neighbors[row * params.listed + j] =
                    static_cast<std::uint32_t>(j < rows.size ? rows[j] : row);
            }
          });
  return out;
}

std::uint64_t local_geometry_bytes(std::uint64_t points, const LocalGeometryParams& params) {
  return points * (18 + 4 * std::uint64_t{params.listed} + (params.means ? 12 : 0) + 48);
}

}  // namespace pc
