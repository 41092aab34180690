#include "spatial/knn_kernels.h"

#include <array>

namespace pc {

namespace {

constexpr std::size_t kLanes = 8;  // per step

void localize(const double* values, std::size_t count, double origin, double scale, float* local) {
  for (std::size_t i = 0; i < count; ++i) local[i] = static_cast<float>((values[i] - origin) * scale);
}

float beyond(float value, float min, float max) {
  const float below = min - value, above = value - max;
  const float out = below > above ? below : above;
  return out > 0 ? out : 0;
}

float gap(float a_min, float a_max, float b_min, float b_max) {
  const float below = b_min - a_max, above = a_min - b_max;
  const float out = below > above ? below : above;
  return out > 0 ? out : 0;
}

/// In each kernel the first inner loop has no branches, so the compiler vectorises it; the second depends on its
/// counter and stays scalar.
std::size_t near_boxes(const LocalBoxes& boxes, std::size_t count, const LocalBox& box, float limit,
                       std::uint32_t* index) {
  std::size_t found = 0;
  for (std::size_t block = 0; block < count; block += kLanes) {
    std::array<float, kLanes> squared{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const float *const min = boxes.min[axis] + block, *const max = boxes.max[axis] + block;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const float out = gap(min[lane], max[lane], box.min[axis], box.max[axis]);
        squared[lane] += out * out;
      }
    }
    const std::size_t lanes = count - block < kLanes ? count - block : kLanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      index[found] = static_cast<std::uint32_t>(block + lane);
      found += squared[lane] <= limit ? 1 : 0;
    }
  }
  return found;
}

std::size_t filter(const LocalPoints& points, std::size_t begin, std::size_t end, const LocalBox& box,
                   float limit, float* x, float* y, float* z, std::uint32_t* index, std::size_t at) {
  for (std::size_t block = begin; block < end; block += kLanes) {
    std::array<float, kLanes> squared;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float dx = beyond(points.x[block + lane], box.min[0], box.max[0]),
                  dy = beyond(points.y[block + lane], box.min[1], box.max[1]),
                  dz = beyond(points.z[block + lane], box.min[2], box.max[2]);
      squared[lane] = dx * dx + dy * dy + dz * dz;
    }
    const std::size_t lanes = end - block < kLanes ? end - block : kLanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      x[at] = points.x[block + lane];
      y[at] = points.y[block + lane];
      z[at] = points.z[block + lane];
      index[at] = static_cast<std::uint32_t>(block + lane);
      at += squared[lane] <= limit ? 1 : 0;
    }
  }
  return at;
}

std::size_t select(const LocalPoints& points, std::size_t count, float x, float y, float z, float limit,
                   float* squared, std::uint32_t* index) {
  std::size_t selected = 0;
  for (std::size_t block = 0; block < count; block += kLanes) {
    std::array<float, kLanes> values;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float dx = points.x[block + lane] - x, dy = points.y[block + lane] - y,
                  dz = points.z[block + lane] - z;
      values[lane] = dx * dx + dy * dy + dz * dz;
    }
    const std::size_t lanes = count - block < kLanes ? count - block : kLanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      squared[selected] = values[lane];
      index[selected] = static_cast<std::uint32_t>(block + lane);
      selected += values[lane] <= limit ? 1 : 0;
    }
  }
  return selected;
}

std::uint32_t count_below(const float* values, std::size_t count, float limit) {
  std::int32_t below = 0;
  for (std::size_t i = 0; i < count; ++i) below += values[i] <= limit ? 1 : 0;
  return static_cast<std::uint32_t>(below);
}

std::size_t narrow(float* values, std::uint32_t* index, std::size_t count, float limit) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = values[i];
    index[kept] = index[i];
    values[kept] = value;
    kept += value <= limit ? 1 : 0;
  }
  return kept;
}

void rank(const std::int32_t* keys, std::size_t count, std::int32_t* rank) {
  for (std::size_t block = 0; block < count; block += kLanes) {
    std::array<std::int32_t, kLanes> below{};
    for (std::size_t j = 0; j < count; ++j)
      for (std::size_t lane = 0; lane < kLanes; ++lane) below[lane] += keys[j] < keys[block + lane] ? 1 : 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) rank[block + lane] = below[lane];
  }
}

}  // namespace

const KnnKernels& portable_knn_kernels() {
  static constexpr KnnKernels kKernels{localize, near_boxes, filter, select, count_below, narrow, rank};
  return kKernels;
}

const KnnKernels& fastest_knn_kernels() {
  if (const KnnKernels* const avx2 = avx2_knn_kernels()) return *avx2;
  return portable_knn_kernels();
}

}  // namespace pc
