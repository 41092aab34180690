#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/span.h"
#include "spatial/kd_tree_view.h"
#include "spatial/knn_kernels.h"

namespace pc {

/// Where a point of a KdTree is, in 8 bytes: the first slot of its leaf, its index there and the leaf's point count.
class KnnPlace {
 public:
  static std::uint64_t leaf(std::uint64_t begin, std::uint32_t count) { return begin << 11 | count; }
  static std::uint64_t index(std::uint32_t i) { return std::uint64_t{i} << 6; }

  explicit KnnPlace(std::uint64_t leaf_and_index) : bits_(leaf_and_index) {}
  std::uint64_t slot() const { return (bits_ >> 11) + (bits_ >> 6 & 31); }
  Vec3d point(const kd_tree::Item* items) const {
    const double* const x = first(items);
    return {x[0], x[count()], x[2 * count()]};
  }
  std::uint64_t row(const kd_tree::Item* items) const {
    return reinterpret_cast<const std::uint64_t*>(first(items))[3 * count()];
  }

 private:
  std::uint64_t count() const { return bits_ & 63; }
  const double* first(const kd_tree::Item* items) const {
    return reinterpret_cast<const double*>(items + (bits_ >> 11)) + (bits_ >> 6 & 31);
  }

  std::uint64_t bits_;
};
static_assert(kd_tree::kLeafPoints <= 32);

/// The points of all leaves that reach into a box enlarged by a radius, in single precision.
struct KnnField {
  using Box = kd_tree::Node;  ///< only the corners are used

  struct Part {
    std::uint64_t first_slot;  ///< of the leaf
    std::uint32_t begin, end;  ///< indices of its points in the columns
  };
  std::vector<Part> parts;
  std::vector<std::uint64_t> place;                    ///< KnnPlace of each point
  std::vector<float> local_x, local_y, local_z;        ///< offset from `middle`, in units of the radius
  std::array<std::vector<float>, 3> box_min, box_max;  ///< corners of each part, in the same units
  std::size_t most = 0, count = 0;                     ///< capacity and number of points
  Box box{};                                           ///< the box that was enlarged
  double squared_radius = 0;                           ///< 0 = no points gathered
  Vec3d middle{};
  double scale = 0;
  float error = 0;  ///< error bound of squared distances up to 1, in squared radii

  void reserve(std::size_t points);
  /// Returns false and gathers nothing if there are too many points or single precision is too coarse for them.
  bool gather(const Box& around, double squared, const KdTreeView& tree, const KnnKernels& kernels);
  bool covers(const Box& inner) const;
  LocalPoints points() const { return {local_x.data(), local_y.data(), local_z.data()}; }
  LocalBoxes boxes() const {
    return {{box_min[0].data(), box_min[1].data(), box_min[2].data()},
            {box_max[0].data(), box_max[1].data(), box_max[2].data()}};
  }
  LocalBox local(const Box& of) const;

 private:
  void append(const kd_tree::Node& node, const kd_tree::Leaf& leaf, const KnnKernels& kernels);
};

}  // namespace pc
