#include "ops/wood/voxel_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace pc {

namespace {

constexpr std::array<std::uint32_t, 2> kNeighbors{16, 48};
constexpr double kNearest = 0.4, kTube = 0.16;
constexpr int kEighths = 8;

/// A straight line through the voxel and what is near to it.
struct Line {
  std::size_t toward = 0;  ///< the neighbour that it goes through
  int eighths = 0;
  std::size_t voxels = 0;
  unsigned filled = 0;
};

int bits(unsigned filled) {
  int count = 0;
  for (; filled != 0; filled &= filled - 1) ++count;
  return count;
}

Vec3d way_to(const Surroundings& all, std::size_t j) {
  return Vec3d{all.x[j], all.y[j], all.z[j]} * (1 / std::sqrt(all.squared[j]));
}

/// Positions along a line and squared distances from it. Columns, so that the compiler uses wide registers.
struct Offsets {
  double along[Surroundings::kMost], off[Surroundings::kMost];

  void measure(const Surroundings& all, std::size_t count, const Vec3d& way) {
    for (std::size_t j = 0; j < count; ++j) {
      const double at = all.x[j] * way.x + all.y[j] * way.y + all.z[j] * way.z;
      along[j] = at;
      off[j] = all.squared[j] - at * at;
    }
  }
};

/// The best line among those through the first `count` neighbours. A line that can no longer win is not looked at.
Line best_line(const Surroundings& all, std::size_t count, double size) {
  Line best;
  Offsets offsets;
  std::uint8_t inside[Surroundings::kMost];
  const double most = kTube * kTube * size * size;
  for (std::size_t j = 0; j < count; ++j) {
    if (std::sqrt(all.squared[j]) < kNearest * size) continue;
    offsets.measure(all, count, way_to(all, j));
    Line line{.toward = j};
    for (std::size_t i = 0; i < count; ++i) {
      inside[line.voxels] = static_cast<std::uint8_t>(i);
      line.voxels += offsets.off[i] > most ? 0 : 1;
    }
    const int reachable = static_cast<int>(std::min<std::size_t>(line.voxels, kEighths));
    if (reachable < best.eighths || (reachable == best.eighths && line.voxels <= best.voxels)) continue;
    for (std::size_t i = 0; i < line.voxels; ++i) {
      const double share = (offsets.along[inside[i]] / size + 1) / 2 * kEighths;
      line.filled |= 1U << static_cast<unsigned>(std::clamp(static_cast<int>(share), 0, kEighths - 1));
    }
    line.eighths = bits(line.filled);
    const bool is_better =
        line.eighths > best.eighths || (line.eighths == best.eighths && line.voxels > best.voxels);
    if (is_better) best = line;
  }
  return best;
}

/// Sum of the squared distances of the voxels of a line from it.
double scatter_of(const Surroundings& all, std::size_t count, double size, const Vec3d& way) {
  Offsets offsets;
  offsets.measure(all, count, way);
  double sum = 0;
  for (std::size_t j = 0; j < count; ++j)
    if (!(offsets.off[j] > kTube * kTube * size * size)) sum += std::max(0.0, offsets.off[j]);
  return sum;
}

int longest_run(unsigned filled) {
  int longest = 0;
  for (int run = 0, k = 0; k < kEighths; ++k) {
    run = (filled >> static_cast<unsigned>(k) & 1U) != 0 ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

void write_line(const Surroundings& all, std::size_t count, float* out) {
  const double size = count > 0 ? std::sqrt(all.squared[count - 1]) : 0;
  if (!(size > 0) || !std::isfinite(size)) return;
  const Line line = best_line(all, count, size);
  const Vec3d way = way_to(all, line.toward);
  const auto set = [&](int column, double value) { out[column] = static_cast<float>(value); };
  set(0, static_cast<double>(line.eighths) / kEighths);
  set(1, 2.0 * std::min(bits(line.filled & 0xFU), bits(line.filled >> 4U)) / kEighths);
  set(2, static_cast<double>(longest_run(line.filled)) / kEighths);
  const double voxels = static_cast<double>(std::max<std::size_t>(1, line.voxels));
  set(3, static_cast<double>(line.voxels) / static_cast<double>(count));
  set(4, std::sqrt(scatter_of(all, count, size, way) / voxels) / (kTube * size));
  set(5, std::abs(way.z));
}

}  // namespace

void write_lines(const Surroundings& near, std::uint32_t points, float* out) {
  for (const std::uint32_t count : kNeighbors) {
    write_line(near, std::min<std::size_t>(near.count, count), out);
    out += kLineWidth;
  }
  *out = static_cast<float>(std::log2(static_cast<double>(points)));
}

}  // namespace pc
