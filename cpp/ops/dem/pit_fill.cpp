#include "ops/dem/pit_fill.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

Column<double> pit_fill(std::uint32_t nx, std::uint32_t ny, Span<const double> values, OpContext& ctx) {
  require(values.size == static_cast<std::size_t>(nx) * ny, "one value per cell is needed");
  // The maxima are on a grid with a rim of one cell, because windows at the edge extend beyond it.
  const std::size_t wide = std::size_t{nx} + 2, high = std::size_t{ny} + 2;
  BulkVector<double> largest(wide * high);
  parallel_for(ctx, high, 1 + 16384 / wide, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      for (std::size_t i = 0; i < wide; ++i) {
        double top = -std::numeric_limits<double>::infinity();
        for (std::size_t y = j < 2 ? 0 : j - 2; y < std::min<std::size_t>(ny, j + 1); ++y) {
          for (std::size_t x = i < 2 ? 0 : i - 2; x < std::min<std::size_t>(nx, i + 1); ++x) {
            const double value = values[y * nx + x];
            if (value > top) top = value;  // never for NaN
          }
        }
        largest[j * wide + i] = top;
      }
    }
  });
  Column<double> filled(values.size);
  parallel_for(ctx, ny, 1 + 16384 / wide, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      for (std::size_t i = 0; i < nx; ++i) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t y = j; y < j + 3; ++y) {
          for (std::size_t x = i; x < i + 3; ++x) least = std::min(least, largest[y * wide + x]);
        }
        const double value = values[j * nx + i];
        filled[j * nx + i] = std::isnan(value) ? value : least;
      }
    }
  });
  return filled;
}

}  // namespace pc
