#include "io/raster_grid.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/parse_double.h"

namespace pc::io {

namespace {

constexpr std::size_t kMaxNumberBytes = 32;  // -123456789012345678901.0000, -1.7976931348623157e+308
constexpr double kPlainLimit = 1e21;         // from here on, numbers have an exponent in JavaScript

void check_grid(const RasterGrid& grid) {
  require(
      grid.nx > 0 && grid.ny > 0 && grid.values.size % grid.nx == 0 && grid.values.size / grid.nx == grid.ny,
      "grid_z length must equal nx*ny");
}

/// The shortest digits that give the same double, as in ECMA-262 Number::toString: with an exponent below 1e-6 and from
/// 1e21 on.
char* all_digits(double value, char* p) {
  const double size = std::abs(value);
  if (size == 0) value = 0;  // no sign
  if (size == 0 || (size >= 1e-6 && size < kPlainLimit))
    return std::to_chars(p, p + kMaxNumberBytes, value, std::chars_format::fixed).ptr;
  char* const end = std::to_chars(p, p + kMaxNumberBytes, value, std::chars_format::scientific).ptr;
  char* const exponent = std::find(p, end, 'e') + 2;  // behind the sign
  const bool padded = exponent != end && *exponent == '0';
  if (padded) std::copy(exponent + 1, end, exponent);
  return padded ? end - 1 : end;
}

/// Number.prototype.toFixed(4): the decimal nearest to the value, ties away from zero. A tie is an odd number of 1/32,
/// so five decimals write it exactly; std::to_chars would round it to an even digit.
char* four_decimals(double value, char* p) {
  const double size = std::abs(value);
  if (!(size < kPlainLimit)) return all_digits(value, p);
  if (value < 0) *p++ = '-';
  const double steps = size * 32;
  const bool tie = steps < 0x1p53 && std::floor(steps) == steps && std::fmod(steps, 2) == 1;
  if (tie) {
    char* const end = std::to_chars(p, p + kMaxNumberBytes, size, std::chars_format::fixed, 5).ptr;
    char& last = end[-2];
    if ((last - '0') % 2 == 0) {
      ++last;
      return end - 1;
    }
  }
  return std::to_chars(p, p + kMaxNumberBytes, size, std::chars_format::fixed, 4).ptr;
}

/// Writes a height: with all digits if it is nodata or would read as nodata.
char* height_text(double value, double nodata, char* p) {
  if (value == nodata) return all_digits(value, p);
  char* const end = four_decimals(value, p);
  if (std::abs(value - nodata) > 1e-4) return end;
  return parse_double(p, end).value == nodata ? all_digits(value, p) : end;
}

/// Rows of about this many values become one block of text.
constexpr std::uint64_t kBlockValues = std::uint64_t{1} << 16;

}  // namespace

Column<std::uint8_t> raster_text(const RasterGrid& grid, double nodata, OpContext& ctx) {
  check_grid(grid);
  const std::uint64_t cells = grid.values.size;
  const std::uint64_t blocks = (cells + kBlockValues - 1) / kBlockValues;
  ctx.begin_phase("Writing the grid", blocks);
  std::vector<BulkVector<char>> texts(blocks);
  // Value k of the text lies in row ny - 1 - k / nx.
  parallel_for(ctx, blocks, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t block = first; block < last; ++block) {
      const std::uint64_t begin = block * kBlockValues, end = std::min(cells, begin + kBlockValues);
      BulkVector<char> text(static_cast<std::size_t>(end - begin) * (kMaxNumberBytes + 1));
      char* p = text.data();
      for (std::uint64_t k = begin; k < end; ++k) {
        const std::uint64_t row = grid.ny - 1 - k / grid.nx, column = k % grid.nx;
        p = height_text(grid.values[row * grid.nx + column], nodata, p);
        *p++ = column + 1 == grid.nx ? '\n' : ' ';
      }
      BulkVector<char> exact(static_cast<std::size_t>(p - text.data()));
      std::memcpy(exact.data(), text.data(), exact.size());
      texts[block] = std::move(exact);
    }
  });
  std::size_t bytes = 0;
  for (const auto& text : texts) bytes += text.size();
  Column<std::uint8_t> out(bytes);
  std::size_t at = 0;
  for (auto& text : texts) {
    std::memcpy(out.view().data + at, text.data(), text.size());
    at += text.size();
    text.reset();
    ctx.checkpoint();
  }
  return out;
}

RasterFloats raster_floats(const RasterGrid& grid, OpContext& ctx) {
  check_grid(grid);
  constexpr double kMost = std::numeric_limits<float>::max();
  ctx.begin_phase("Writing the grid", grid.values.size);
  RasterFloats out;
  out.values = Column<float>(grid.values.size);
  std::atomic<std::uint64_t> first_refused{grid.values.size};
  parallel_for(ctx, grid.values.size, kBlockValues, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const double value = grid.values[k];
      if (std::abs(value) > kMost) {
        std::uint64_t known = first_refused.load();
        while (k < known && !first_refused.compare_exchange_weak(known, k)) {
        }
        continue;
      }
      const std::uint64_t row = grid.ny - 1 - k / grid.nx;
      out.values[row * grid.nx + k % grid.nx] = static_cast<float>(value);
    }
  });
  if (first_refused.load() < grid.values.size) {
    out.refused = true;
    out.refused_value = grid.values[first_refused.load()];
    out.values = Column<float>();
  }
  return out;
}

}  // namespace pc::io
