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

/// The inner loops of LeafKnn. There are two implementations with equal results: plain C++ and AVX2. Loops
/// advance in steps of up to kStep, so columns of 4-byte elements must be readable and writable up to kStep elements
/// past their end.
struct KnnKernels {
  static constexpr std::size_t kStep = 16;

  /// Writes (value - origin) * scale, rounded to single precision. Reads no value past the end.
  void (*localize)(const double* values, std::size_t count, double origin, double scale, float* local);
  /// Writes the ascending indices of those of `count` boxes whose squared distance to `box` is <= limit; returns how
  /// many.
  std::size_t (*near_boxes)(const LocalBoxes& boxes, std::size_t count, const LocalBox& box, float limit,
                            std::uint32_t* index);
  /// Appends the points of [begin, end) whose squared distance to the box is <= limit to the columns x, y, z, and their
  /// indices to `index`, starting at element `at`. Returns the new end.
  std::size_t (*filter)(const LocalPoints& points, std::size_t begin, std::size_t end, const LocalBox& box,
                        float limit, float* x, float* y, float* z, std::uint32_t* index, std::size_t at);
  /// Writes those squared distances of `count` points to (x, y, z) that are <= limit, and the ascending indices of
  /// these points; returns how many.
  std::size_t (*select)(const LocalPoints& points, std::size_t count, float x, float y, float z, float limit,
                        float* squared, std::uint32_t* index);
  /// Number of values <= limit.
  std::uint32_t (*count_below)(const float* values, std::size_t count, float limit);
  /// Keeps the values <= limit and their indices, in order; returns how many.
  std::size_t (*narrow)(float* values, std::uint32_t* index, std::size_t count, float limit);
  /// For each key the number of smaller keys.
  void (*rank)(const std::int32_t* keys, std::size_t count, std::int32_t* rank);
};

const KnnKernels& portable_knn_kernels();
/// nullptr if the processor has no AVX2.
const KnnKernels* avx2_knn_kernels();
const KnnKernels& fastest_knn_kernels();

}  // namespace pc
