#pragma once
#include <optional>

#include "core/column.h"
#include "core/op_context.h"
#include "core/vec3.h"

namespace pc {

/// Combines three scalar columns into one column of triples: value * unit_scale - shift, in float64.
///
/// x y z    (n) scalar columns of any types and equal length; NaN stays NaN.
/// Order    Input order; does not depend on threads.
/// Cost     One pass, 24 n bytes for the result.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument if lengths differ or a column is not scalar.
/// Source   Contract of the import: stored = file * unit_scale - world_shift.
Column<Vec3d> interleave_triple(const AnyColumn& x, const AnyColumn& y, const AnyColumn& z, double unit_scale,
                                const Vec3d& shift, OpContext& ctx);

struct FloatCopyParams {
  Vec3d shift;     ///< added to triples of float64 before the division; scalars take shift.x
  double divisor;  ///< e.g. 65535 for 16-bit channels, > 0
  bool clamp;      ///< results below 0 and NaN become 0, above 1 become 1
};

/// Float32 copy for the wire: (value + shift) / divisor in float64, rounded once. Triples are flattened to 3 n values.
///
/// column   (n) any type; colours ignore the shift.
/// Order    Input order; does not depend on threads.
/// Cost     One pass; 4 n bytes for the result, 12 n for triples.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument if divisor is not finite and positive.
/// Source   Contract: colours travel as 0..1, the full value of the source's range being 1.
Column<float> float_copy(const AnyColumn& column, const FloatCopyParams& params, OpContext& ctx);

/// Float64 copy of a scalar column, for timestamps stored as floats or integers.
///
/// column   (n) scalar of any type; NaN stays NaN.
/// Order    Input order; does not depend on threads.
/// Cost     One pass, 8 n bytes for the result.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument for triples.
/// Source   Plain conversion; exact up to 2^53.
Column<double> double_copy(const AnyColumn& column, OpContext& ctx);

/// The column in the first of u8, i8, u16, i16, u32, i32 that is smaller than its type and holds every value; nothing if
/// there is none.
///
/// column   (n) scalar of any type.
/// Order    Does not depend on threads.
/// Cost     One pass for each type tried, which ends early where a value does not fit; memory of the result.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument for triples.
/// Source   Exact conversions (exact_cast): NaN fits no integer, -0.0 becomes 0.
std::optional<AnyColumn> narrowest_integers(const AnyColumn& column, OpContext& ctx);

/// Largest channel value of a colour column; 0 for an empty one.
///
/// colors   (n) any values.
/// Order    Does not depend on threads.
/// Cost     One pass, no memory.
/// Cancel   Within 250 ms.
/// Errors   None.
/// Source   Contract: a colour column of zeros means that the cloud has no colour.
std::uint16_t max_channel(Span<const Rgb16> colors, OpContext& ctx);

}  // namespace pc
