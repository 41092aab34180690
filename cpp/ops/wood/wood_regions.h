#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/wood/local_geometry_features.h"

namespace pc {

/// Wood (1) or not (0) per point of a cloud with its listed neighbours.
using WoodFlags = BulkVector<std::uint8_t>;

/// Each point takes the label of the majority of its first `k` listed neighbours and itself, `rounds` times; a draw
/// keeps the label. Points change together.
void majority_smooth(const LocalGeometryFeatures& shape, std::uint32_t k, std::uint32_t rounds,
                     WoodFlags& wood, OpContext& ctx);

/// Points of which `joins` says so become wood if they are among the first `k` listed neighbours of a seed or of a point
/// that joined. Returns their number.
///
/// Order    The set does not depend on the order of growth.
std::uint64_t grow_wood(const LocalGeometryFeatures& shape, std::uint32_t k, Span<const std::uint8_t> seed,
                        Span<const std::uint8_t> joins, WoodFlags& wood, OpContext& ctx);

/// Wood that is connected over the first `k` listed neighbours and has fewer than `least` points becomes leaf. Returns the
/// number of points.
std::uint64_t drop_speckle(const LocalGeometryFeatures& shape, std::uint32_t k, std::uint64_t least,
                           WoodFlags& wood, OpContext& ctx);

/// Mean of the values of each point and its first `k` listed neighbours.
BulkVector<float> neighbor_mean(const LocalGeometryFeatures& shape, std::uint32_t k, Span<const float> values,
                                OpContext& ctx);

}  // namespace pc
