#include "ops/cloud/convert.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/dtype_fit.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 65536;

void fill_axis(const AnyColumn& from, Span<Vec3d> to, double Vec3d::*axis, double scale, double shift,
               OpContext& ctx) {
  visit_scalar(from, [&](auto values) {
    parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) to[i].*axis = static_cast<double>(values[i]) * scale - shift;
    });
  });
}

/// The float of one value before the division.
float converted(double value, const FloatCopyParams& params) {
  const auto result = static_cast<float>(value / params.divisor);
  if (!params.clamp) return result;
  return result > 0 ? std::min(result, 1.0F) : 0.0F;
}

Column<float> copy_points(Span<const Vec3d> points, const FloatCopyParams& params, OpContext& ctx) {
  Column<float> out(checked_bytes(points.size, 3));
  const auto to = out.view();
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d p = points[i] + params.shift;
      to[3 * i] = converted(p.x, params);
      to[3 * i + 1] = converted(p.y, params);
      to[3 * i + 2] = converted(p.z, params);
    }
  });
  return out;
}

Column<float> copy_colors(Span<const Rgb16> colors, const FloatCopyParams& params, OpContext& ctx) {
  Column<float> out(checked_bytes(colors.size, 3));
  const auto to = out.view();
  parallel_for(ctx, colors.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      to[3 * i] = converted(colors[i].r, params);
      to[3 * i + 1] = converted(colors[i].g, params);
      to[3 * i + 2] = converted(colors[i].b, params);
    }
  });
  return out;
}

}  // namespace

Column<Vec3d> interleave_triple(const AnyColumn& x, const AnyColumn& y, const AnyColumn& z, double unit_scale,
                                const Vec3d& shift, OpContext& ctx) {
  require(x.size() == y.size() && y.size() == z.size(), "the three columns of a triple must have one length");
  Column<Vec3d> out(x.size());
  ctx.begin_phase("Joining columns", 3 * x.size());
  fill_axis(x, out.view(), &Vec3d::x, unit_scale, shift.x, ctx);
  fill_axis(y, out.view(), &Vec3d::y, unit_scale, shift.y, ctx);
  fill_axis(z, out.view(), &Vec3d::z, unit_scale, shift.z, ctx);
  return out;
}

Column<float> float_copy(const AnyColumn& column, const FloatCopyParams& params, OpContext& ctx) {
  require(std::isfinite(params.divisor) && params.divisor > 0, "divisor must be finite and positive");
  ctx.begin_phase("Packing points", column.size());
  if (column.dtype() == DType::kVec3d) return copy_points(column.as<Vec3d>(), params, ctx);
  if (column.dtype() == DType::kRgb16) return copy_colors(column.as<Rgb16>(), params, ctx);
  Column<float> out(column.size());
  const auto to = out.view();
  visit_scalar(column, [&](auto values) {
    parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        to[i] = converted(static_cast<double>(values[i]) + params.shift.x, params);
      }
    });
  });
  return out;
}

Column<double> double_copy(const AnyColumn& column, OpContext& ctx) {
  Column<double> out(column.size());
  const auto to = out.view();
  ctx.begin_phase("Converting a column", column.size());
  visit_scalar(column, [&](auto values) {
    parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) to[i] = static_cast<double>(values[i]);
    });
  });
  return out;
}

std::optional<AnyColumn> narrowest_integers(const AnyColumn& column, OpContext& ctx) {
  const std::size_t size = dtype_size(column.dtype());
  for (const DType to : {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kU32, DType::kI32}) {
    const ConvertRows convert = row_converter(column.dtype(), to);
    if (dtype_size(to) >= size) continue;
    AnyColumn out(to, column.size());
    std::atomic<bool> fits{true};
    parallel_for(ctx, column.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      if (!fits.load(std::memory_order_relaxed)) return;
      std::byte* const target = out.data() + begin * dtype_size(to);
      if (convert(column.data() + begin * size, nullptr, end - begin, target) != end - begin) fits = false;
    });
    if (fits) return out;
  }
  return std::nullopt;
}

std::uint16_t max_channel(Span<const Rgb16> colors, OpContext& ctx) {
  std::atomic<std::uint16_t> highest{0};
  ctx.begin_phase("Looking at colours", colors.size);
  parallel_for(ctx, colors.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint16_t block = 0;
    for (std::size_t i = begin; i < end; ++i)
      block = std::max({block, colors[i].r, colors[i].g, colors[i].b});
    std::uint16_t before = highest.load();
    while (block > before && !highest.compare_exchange_weak(before, block)) {
    }
  });
  return highest;
}

}  // namespace pc
