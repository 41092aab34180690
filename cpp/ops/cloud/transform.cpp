#include "ops/cloud/transform.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

bool all_finite(Span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

bool is_float(const AnyColumn& column) {
  return column.dtype() == DType::kF32 || column.dtype() == DType::kF64;
}

/// Cofactors of A, scaled to a magnitude near 1 so that neither small nor large matrices lose bits.
class NormalMatrix {
 public:
  explicit NormalMatrix(const std::array<double, 9>& linear) {
    require(all_finite({linear.data(), 9}), "the matrix of a transform must be finite");
    std::array<double, 9> a = linear;
    double largest = 0;
    for (const double v : a) largest = std::max(largest, std::abs(v));
    require(largest > 0, "the determinant of a transform must be positive");
    for (double& v : a) v /= largest;
    for (std::size_t r = 0; r < 3; ++r) {
      const std::size_t r1 = 3 * ((r + 1) % 3), r2 = 3 * ((r + 2) % 3);
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        m_[3 * r + c] = a[r1 + c1] * a[r2 + c2] - a[r1 + c2] * a[r2 + c1];
      }
    }
    require(a[0] * m_[0] + a[1] * m_[1] + a[2] * m_[2] > 0,
            "the determinant of a transform must be positive");
  }

  Vec3d apply(const Vec3d& n) const {
    const double size = std::max({std::abs(n.x), std::abs(n.y), std::abs(n.z)});
    if (n.x == 0 && n.y == 0 && n.z == 0) return n;
    if (!is_finite(n)) return nan_vector();
    const Vec3d u{n.x / size, n.y / size, n.z / size};
    const Vec3d v{m_[0] * u.x + m_[1] * u.y + m_[2] * u.z, m_[3] * u.x + m_[4] * u.y + m_[5] * u.z,
                  m_[6] * u.x + m_[7] * u.y + m_[8] * u.z};
    const double length = std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
    if (!(length > 0)) return nan_vector();
    return {v.x / length, v.y / length, v.z / length};
  }

 private:
  static Vec3d nan_vector() {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    return {kNaN, kNaN, kNaN};
  }
  std::array<double, 9> m_{};
};

/// Reads and writes a column of f32 or f64.
struct FloatIn {
  explicit FloatIn(const AnyColumn& column)
      : narrow(column.dtype() == DType::kF32 ? column.as<float>().data : nullptr),
        wide(narrow == nullptr ? column.as<double>().data : nullptr) {}
  double operator[](std::size_t i) const {
    return narrow != nullptr ? static_cast<double>(narrow[i]) : wide[i];
  }
  const float* narrow;
  const double* wide;
};
struct FloatOut {
  explicit FloatOut(AnyColumn& column)
      : narrow(column.dtype() == DType::kF32 ? column.as_mutable<float>().data : nullptr),
        wide(narrow == nullptr ? column.as_mutable<double>().data : nullptr) {}
  void put(std::size_t i, double value) const {
    if (narrow != nullptr)
      narrow[i] = static_cast<float>(value);
    else
      wide[i] = value;
  }
  float* narrow;
  double* wide;
};

template <class T, class Value>
Column<T> mapped(const AnyColumn& column, OpContext& ctx, const Value& value) {
  Column<T> out(column.size());
  const Span<T> to = out.view();
  visit_scalar(column, [&](auto values) {
    parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) to[i] = static_cast<T>(value(static_cast<double>(values[i])));
    });
  });
  return out;
}

}  // namespace

Column<Vec3d> transform_positions(Span<const Vec3d> positions, const std::array<double, 12>& matrix,
                                  OpContext& ctx) {
  require(all_finite({matrix.data(), matrix.size()}), "the matrix of a transform must be finite");
  ctx.begin_phase("Moving points", positions.size);
  Column<Vec3d> out(positions.size);
  parallel_for(
      ctx, positions.size, kGrain, [&, m = matrix, to = out.view()](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const Vec3d p = positions[i];
          to[i] = {m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3], m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
                   m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
        }
      });
  return out;
}

NormalColumns transform_normals(const AnyColumn& nx, const AnyColumn& ny, const AnyColumn& nz,
                                const std::array<double, 9>& linear, OpContext& ctx) {
  require(nx.size() == ny.size() && ny.size() == nz.size(), "the three columns of normals differ in length");
  require(is_float(nx) && is_float(ny) && is_float(nz), "normals must be columns of f32 or f64");
  const NormalMatrix matrix(linear);
  ctx.begin_phase("Turning normals", nx.size());
  NormalColumns out{{nx.dtype(), nx.size()}, {ny.dtype(), ny.size()}, {nz.dtype(), nz.size()}};
  const FloatIn x(nx), y(ny), z(nz);
  const FloatOut to_x(out.nx), to_y(out.ny), to_z(out.nz);
  parallel_for(ctx, nx.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d n = matrix.apply({x[i], y[i], z[i]});
      to_x.put(i, n.x);
      to_y.put(i, n.y);
      to_z.put(i, n.z);
    }
  });
  return out;
}

Column<float> verticality(const AnyColumn& nz, OpContext& ctx) {
  ctx.begin_phase("Measuring verticality", nz.size());
  return mapped<float>(nz, ctx, [](double v) {
    if (std::isnan(v)) return v;
    return std::acos(std::min(1.0, std::abs(v))) * (180.0 / std::numbers::pi);
  });
}

AnyColumn scale_column(const AnyColumn& column, double factor, OpContext& ctx) {
  require(std::isfinite(factor), "the factor of a column must be finite");
  ctx.begin_phase("Scaling a column", column.size());
  const auto scaled = [factor](double v) { return v * factor; };
  if (column.dtype() == DType::kF64) return mapped<double>(column, ctx, scaled);
  return mapped<float>(column, ctx, scaled);
}

AnyColumn rescale_u16(const AnyColumn& column, double factor, double offset, OpContext& ctx) {
  require(column.dtype() == DType::kU16, "16-bit values are needed");
  require(std::isfinite(factor) && std::isfinite(offset), "factor and offset must be finite");
  ctx.begin_phase("Scaling intensities", column.size());
  return mapped<std::uint16_t>(column, ctx, [factor, offset](double v) {
    return std::clamp(std::rint(v * factor + offset), 0.0, 65535.0);
  });
}

}  // namespace pc
