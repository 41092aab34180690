#pragma once
#include <cstddef>
#include <cstdint>

namespace pc {

/// Columns of single precision coordinates.
struct LocalPoints {
  const float* x;
  const float* y;
  const float* z;
};

struct LocalBox {
  float min[3], max[3];
};

/// Columns of the corners of boxes.
struct LocalBoxes {
  const float* min[3];
  const float* max[3];
};

/// The inner loops of LeafKnn, once in plain C++ and once with AVX2 (1.5 times as fast over all), with the same results.
/// Loops run in steps of kStep: columns are readable and outputs writable up to kStep elements beyond their end.
struct KnnKernels {
  static constexpr std::size_t kStep = 8;

  /// Indices of `count` boxes whose squared distance to `box` is <= limit, ascending; how many.
  std::size_t (*near_boxes)(const LocalBoxes& boxes, std::size_t count, const LocalBox& box, float limit,
                            std::uint32_t* index);
  /// Appends the points [begin, end) whose squared distance to the box is <= limit to the columns x, y, z and their
  /// indices to `index`, from element `at` on; the new end.
  std::size_t (*filter)(const LocalPoints& points, std::size_t begin, std::size_t end, const LocalBox& box,
                        float limit, float* x, float* y, float* z, std::uint32_t* index, std::size_t at);
  /// Squared distances of `count` points to (x, y, z), count a multiple of kStep.
  void (*distances)(const LocalPoints& points, std::size_t count, float x, float y, float z, float* squared);
  /// How many of `count` values are <= limit, count a multiple of kStep.
  std::uint32_t (*count_below)(const float* values, std::size_t count, float limit);
  /// Indices of the values <= limit, ascending; how many. `count` is a multiple of kStep.
  std::size_t (*pick_below)(const float* values, std::size_t count, float limit, std::uint32_t* index);
  /// How many of `keys` each of them exceeds, count a multiple of kStep.
  void (*rank)(const std::int32_t* keys, std::size_t count, std::int32_t* rank);
};

const KnnKernels& portable_knn_kernels();
/// nullptr where the processor has no AVX2.
const KnnKernels* avx2_knn_kernels();
inline const KnnKernels& fastest_knn_kernels() {
  const KnnKernels* const avx2 = avx2_knn_kernels();
  return avx2 != nullptr ? *avx2 : portable_knn_kernels();
}

}  // namespace pc
