#pragma once
#include <array>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// p' = A p + b, in float64: ((a0 x + a1 y) + a2 z) + b per component, each step rounded.
///
/// positions  (n) metres, any frame; NaN stays NaN.
/// matrix   (3, 4) row-major [A | b], finite.
/// Order    Input order; does not depend on threads.
/// Cost     O(n) time: one pass, 24 n bytes for the result.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument if the matrix is not finite.
/// Source   contract sessions section 12; no fused multiply-add (ADR 0004).
Column<Vec3d> transform_positions(Span<const Vec3d> positions, const std::array<double, 12>& matrix,
                                  OpContext& ctx);

/// Normals as three columns of equal length.
struct NormalColumns {
  AnyColumn nx, ny, nz;
};

/// n' = A^-T n, normalised; for a rotation that is A n.
///
/// nx ny nz (n) f32 or f64 each; types are kept. Zero vectors stay as they are; a vector that is not finite becomes
/// NaN.
/// linear   (3, 3) row-major A, finite, determinant > 0.
/// Order    Input order; does not depend on threads.
/// Cost     One pass, as many bytes as the input.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: integer types (a rounded direction is meaningless), lengths that differ, a matrix that is
///          not finite or whose determinant is not positive.
/// Source   Normals transform by the inverse transpose (Turkowski 1990, "Properties of surface-normal
///          transformations", Graphics Gems). A^-T = cofactors(A) / det(A); normalising makes the division unnecessary.
NormalColumns transform_normals(const AnyColumn& nx, const AnyColumn& ny, const AnyColumn& nz,
                                const std::array<double, 9>& linear, OpContext& ctx);

/// acos(|nz|) in degrees: 0 = horizontal surface, 90 = vertical surface.
///
/// nz       (n) scalar, z component of unit normals; |nz| > 1 counts as 1, NaN stays NaN.
/// Order    Input order; does not depend on threads. Computed in float64, rounded once.
/// Cost     One pass, 4 n bytes for the result.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument for triples.
/// Source   contract sessions section 12.
Column<float> verticality(const AnyColumn& nz, OpContext& ctx);

/// value * factor; f64 stays f64, every other type becomes f32 (computed in float64, rounded once).
///
/// column   (n) scalar; NaN stays NaN.
/// factor   finite.
/// Order    Input order; does not depend on threads.
/// Cost     One pass, 4 n or 8 n bytes for the result.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument for triples or a factor that is not finite.
/// Source   contract sessions section 12: the distance column under a similarity.
AnyColumn scale_column(const AnyColumn& column, double factor, OpContext& ctx);

/// value * factor + offset of 16-bit values as 16-bit values, rounded and clamped (computed in float64).
///
/// column   (n) u16
/// factor, offset  finite
/// Order    Input order; does not depend on threads.
/// Cost     One pass, 2 n bytes for the result.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument for another type or numbers that are not finite.
/// Source   own: intensities that two files stretched to 16 bits in their own ways, in one unit.
AnyColumn rescale_u16(const AnyColumn& column, double factor, double offset, OpContext& ctx);

}  // namespace pc
