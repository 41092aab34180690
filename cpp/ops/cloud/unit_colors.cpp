#include "ops/cloud/unit_colors.h"

#include <cmath>

#include "core/parallel.h"

namespace pc {

namespace {

std::uint16_t channel(double value) {
  if (!(value > 0)) return 0;
  return static_cast<std::uint16_t>(std::round((value < 1 ? value : 1) * 65535));
}

}  // namespace

Column<Rgb16> unit_colors(Span<const Vec3d> colors, OpContext& ctx) {
  ctx.begin_phase("Reading colours", colors.size);
  Column<Rgb16> out(colors.size);
  parallel_for(ctx, colors.size, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      out[i] = {channel(colors[i].x), channel(colors[i].y), channel(colors[i].z)};
  });
  return out;
}

}  // namespace pc
