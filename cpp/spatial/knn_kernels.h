#pragma once
#include <cstddef>
#include <cstdint>

namespace pc {

/// Columns of single-precision coordinates.
struct LocalPoints {
  const float* x;
  const float* y;
  const float* z;
};

struct LocalBox {
  float min[3], max[3];
};

/// Columns of box corners.
struct LocalBoxes {
  const float* min[3];
  const float* max[3];
};

/// The inner loops of LeafKnn. There are two implementations with equal results: plain C++, and AVX2, with which the
/// search is 1.5 times as fast. Loops advance in steps of kStep, so inputs must be readable and outputs writable up to
/// kStep elements past their end.
struct KnnKernels {
  static constexpr std::size_t kStep = 8;

  /// Writes the ascending indices of those of `count` boxes whose squared distance to `box` is <= limit; returns how
  /// many.
  std::size_t (*near_boxes)(const LocalBoxes& boxes, std::size_t count, const LocalBox& box, float limit,
                            std::uint32_t* index);
  /// Appends the points of [begin, end) whose squared distance to the box is <= limit to the columns x, y, z, and their
  /// indices to `index`, starting at element `at`. Returns the new end.
  std::size_t (*filter)(const LocalPoints& points, std::size_t begin, std::size_t end, const LocalBox& box,
                        float limit, float* x, float* y, float* z, std::uint32_t* index, std::size_t at);
  /// Squared distances of `count` points to (x, y, z); count is a multiple of kStep.
  void (*distances)(const LocalPoints& points, std::size_t count, float x, float y, float z, float* squared);
  /// Number of values <= limit; count is a multiple of kStep.
  std::uint32_t (*count_below)(const float* values, std::size_t count, float limit);
  /// Writes the ascending indices of the values <= limit; returns how many. `count` is a multiple of kStep.
  std::size_t (*pick_below)(const float* values, std::size_t count, float limit, std::uint32_t* index);
  /// For each key the number of smaller keys; count is a multiple of kStep.
  void (*rank)(const std::int32_t* keys, std::size_t count, std::int32_t* rank);
};

const KnnKernels& portable_knn_kernels();
/// nullptr if the processor has no AVX2.
const KnnKernels* avx2_knn_kernels();
inline const KnnKernels& fastest_knn_kernels() {
  const KnnKernels* const avx2 = avx2_knn_kernels();
  return avx2 != nullptr ? *avx2 : portable_knn_kernels();
}

}  // namespace pc
