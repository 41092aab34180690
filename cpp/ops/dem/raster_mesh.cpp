#include "ops/dem/raster_mesh.h"

#include <cmath>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::uint32_t kNoVertex = 0xFFFFFFFF;

struct Mesher {
  const RasterFrame& frame;
  Span<const double> z;
  std::size_t nx = frame.nx, ny = frame.ny;

  /// True if all cells of the block with lower-left cell (i, j) have values; false outside the grid, also for i or j
  /// that wrapped below 0.
  bool block(std::size_t i, std::size_t j) const {
    if (i >= nx - 1 || j >= ny - 1) return false;
    const std::size_t c = j * nx + i;
    return !std::isnan(z[c] + z[c + 1] + z[c + nx] + z[c + nx + 1]);
  }
  bool used(std::size_t i, std::size_t j) const {
    return block(i, j) || block(i - 1, j) || block(i, j - 1) || block(i - 1, j - 1);
  }
  /// Twice the vector area of the lower (right) and of the upper (left) triangle of a block.
  Vec3d lower(std::size_t i, std::size_t j) const {
    const std::size_t c = j * nx + i;
    const double a = z[c + 1] - z[c], b = z[c + nx + 1] - z[c + 1];
    return {-a * frame.cell, -b * frame.cell, frame.cell * frame.cell};
  }
  Vec3d upper(std::size_t i, std::size_t j) const {
    const std::size_t c = j * nx + i;
    const double a = z[c + nx + 1] - z[c + nx], b = z[c + nx] - z[c];
    return {-a * frame.cell, -b * frame.cell, frame.cell * frame.cell};
  }
  Vec3d normal(std::size_t i, std::size_t j) const {
    Vec3d sum{0, 0, 0};
    if (block(i, j)) sum = sum + lower(i, j) + upper(i, j);
    if (block(i - 1, j - 1)) sum = sum + lower(i - 1, j - 1) + upper(i - 1, j - 1);
    if (block(i - 1, j)) sum = sum + lower(i - 1, j);
    if (block(i, j - 1)) sum = sum + upper(i, j - 1);
    return sum * (1 / std::sqrt(squared_distance(sum, {0, 0, 0})));
  }
  double area(std::size_t i, std::size_t j) const {
    if (!block(i, j)) return 0;
    const Vec3d a = lower(i, j), b = upper(i, j), none{0, 0, 0};
    return (std::sqrt(squared_distance(a, none)) + std::sqrt(squared_distance(b, none))) / 2;
  }
};

}  // namespace

RasterMesh raster_mesh(const RasterFrame& frame, Span<const double> z, OpContext& ctx) {
  check_raster(frame);
  require(z.size == frame.cells(), "one value per cell is needed");
  const Mesher mesher{frame, z};
  const std::size_t nx = frame.nx, ny = frame.ny, grain = 1 + 16384 / nx;
  ctx.begin_phase("Building surface mesh", 4 * ny);
  BulkVector<std::uint64_t> vertices(ny + 1), blocks(ny + 1);
  parallel_for(ctx, ny, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      for (std::size_t i = 0; i < nx; ++i) {
        vertices[j + 1] += mesher.used(i, j);
        blocks[j + 1] += mesher.block(i, j);
      }
    }
  });
  for (std::size_t j = 0; j < ny; ++j) {
    vertices[j + 1] += vertices[j];
    blocks[j + 1] += blocks[j];
  }
  RasterMesh mesh{Column<float>(3 * vertices[ny]), Column<float>(3 * vertices[ny]),
                  Column<std::uint32_t>(6 * blocks[ny]), Column<std::uint32_t>(vertices[ny]), 0};
  BulkVector<std::uint32_t> number(frame.cells());
  parallel_for(ctx, ny, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      std::size_t at = vertices[j];
      for (std::size_t i = 0; i < nx; ++i) {
        const std::size_t c = j * nx + i;
        number[c] = kNoVertex;
        if (!mesher.used(i, j)) continue;
        const Vec3d normal = mesher.normal(i, j);
        const double xyz[] = {frame.center_x(i), frame.center_y(j), z[c]},
                     n[] = {normal.x, normal.y, normal.z};
        for (std::size_t k = 0; k < 3; ++k) {
          mesh.vertices[3 * at + k] = static_cast<float>(xyz[k]);
          mesh.normals[3 * at + k] = static_cast<float>(n[k]);
        }
        mesh.cell[at] = static_cast<std::uint32_t>(c);
        number[c] = static_cast<std::uint32_t>(at++);
      }
    }
  });
  parallel_for(ctx, ny, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      std::size_t at = 6 * blocks[j];
      for (std::size_t i = 0; i < nx; ++i) {
        if (!mesher.block(i, j)) continue;
        const std::size_t c = j * nx + i;
        for (const std::size_t corner : {c, c + 1, c + nx + 1, c, c + nx + 1, c + nx})
          mesh.indices[at++] = number[corner];
      }
    }
  });
  mesh.area = parallel_sum(ctx, frame.cells(), [&](std::size_t c) { return mesher.area(c % nx, c / nx); });
  return mesh;
}

}  // namespace pc
