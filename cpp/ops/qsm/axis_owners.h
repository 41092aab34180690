#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/qsm.h"
#include "core/span.h"

namespace pc {

constexpr std::uint32_t kNoAxis = ~std::uint32_t{0};

/// The cylinder with the nearest sample of its axis (one each 0.03 m) to each point, or kNoAxis where none is within reach.
///
/// points   in the frame of the cylinders
/// Order    A function of point and cylinders; of samples equally far the first.
/// Cost     O(n log n). Cancel within 250 ms.
BulkVector<std::uint32_t> axis_owners(const std::vector<QsmCylinder>& cylinders, Span<const Vec3d> points,
                                      double reach_m, OpContext& ctx);

}  // namespace pc
