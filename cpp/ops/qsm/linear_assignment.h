#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/op_context.h"

namespace pc {

/// Writes the costs of one row, one per column.
using CostRow = std::function<void(std::size_t row, double* costs)>;

/// Assigns each of n rows to one of n columns of its own with the smallest sum of costs, exactly.
///
/// n        any; 0 gives an empty list.
/// cost_row gives finite costs, the same ones each time: rows are asked for repeatedly instead of being stored.
/// Errors   kInvalidArgument for a cost that is not finite.
/// Returns  the column of each row.
/// Order    Equal costs are decided by the lowest column; does not depend on threads. Costs are sums of double: two
///          assignments within 1e-12 of each other, relative, count as equal.
/// Cost     O(n^3) time at worst; 45 n bytes.
/// Cancel   Within the time of two rows.
/// Source   Jonker & Volgenant 1987, "A shortest augmenting path algorithm for dense and sparse linear assignment problems":
///          column reduction, two augmenting row reductions, augmentation. Deviations: prices start near their final values
///          from an auction with shrinking steps (Bertsekas 1988, "The auction algorithm"), which takes the place of the
///          reduction transfer (4,000 normals: 58 to 67 reads of a row each instead of 100); a row reduction ends after 8 n
///          reads, since rounding can make it long. Neither touches the optimum, which the augmentation ensures.
std::vector<std::uint32_t> linear_assignment(std::size_t n, const CostRow& cost_row, OpContext& ctx);

}  // namespace pc
