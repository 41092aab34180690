#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/wood/local_geometry_features.h"

namespace pc {

/// Probability of wood by the shapes over all sizes of neighbourhoods, averaged along the plant.
///
/// shape    with its means
/// part     (n) of the plant: points with one number belong to one cross-section; or empty. Numbers < parts,
///          others: no part.
/// smooth_k neighbours that scores are averaged over; 0 = none
/// Method   score = flatness + 2 verticality (means over the sizes), averaged twice over the neighbours, half of it replaced
///          by the mean of the part, averaged twice over the neighbours again. The probability is logistic in the score,
///          0.6 (the default of wood_bias) at a score of 2.75.
/// Order    A function of the points in their order, for any thread count.
/// Cost     O(n smooth_k).
/// Source   Own; constants from scans of six trees of data/forest_reference, with leaves and without, then the weight of
///          verticality, the rounds and the even score with a look at data/leaf_wood.
BulkVector<float> wood_probability(const LocalGeometryFeatures& shape, Span<const std::uint32_t> part,
                                   std::uint32_t parts, std::uint32_t smooth_k, OpContext& ctx);

}  // namespace pc
