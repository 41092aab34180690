#pragma once
#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/ground/ground_cells.h"
#include "ops/ground/ground_constants.h"

namespace pc {

/// The layer of returns that bare ground makes.
struct LayerNoise {
  double deviation_m;  ///< standard deviation of its returns across the surface; 0 = not measured
  double middle_m;     ///< typical height of its middle above the surface through the lowest points
};

/// Measures the noise of ground returns in clouds with 16 and more points per m2. The lowest of n returns with noise lies
/// below the ground, and the more so the denser the cloud: with 8 cm of noise and 25 returns per cell by 16 cm.
///
/// Model: the returns of bare ground are normally distributed about a smooth surface, with one deviation throughout the
/// cloud; what is not ground lies above. Up to 4096 windows of 64 returns or more, spread over the cloud, are examined.
/// In each the heights above `planes` are counted. The middle of the layer is the mean of the returns within 1.5
/// deviations of it, the deviation that of the returns below the middle (plants are above it), starting from the shortest
/// interval with a quarter of the returns. A window shows a layer if
///
///     thin         the deviation is at most noise_max_m: thicker layers are plants
///     symmetric    as many returns lie within 1.5 deviations above the middle as below, within three deviations of that
///                  difference
///     bounded      2.5 to 3.5 deviations above the middle there are at most a third as many returns as in the middle
///     consistent   the middle lies as high above the lowest points as expected for this deviation (expected_depth),
///                  within one deviation; that of plants depends on their height
///
/// The result is the median deviation of these windows if those within a factor of 1.35 of it are at least noise_share
/// of all; otherwise noise and plants cannot be told apart, and nothing is reported.
///
/// planes   of every cell of `lattice`, through the lowest points of ground cells
/// Order    Does not depend on threads or the order of the points.
/// Cost     One pass over the points; up to 15 MB, and 10 us per window. Cancel within 50 ms.
/// Source   Own. Shortest interval: the shorth (Andrews et al. 1972, Robust Estimates of Location).
LayerNoise layer_noise(HitPoints points, const Lattice& lattice, const BulkVector<CellPlane>& planes,
                       double point_spacing_m, const GroundConstants& constants, OpContext& ctx);

/// How far the lowest of n values from a standard normal distribution is expected below its mean; 0 for n <= 1.
/// Source   Blom 1958, Statistical Estimates and Transformed Beta Variables: quantile (n - 3/8) / (n + 1/4).
double expected_depth(double n);

/// Height of the middle of the layer above `planes` in every cell: the noise times expected_depth of the number of
/// returns of the layer per cell, mean over the 3 x 3 cells that the planes depend on most.
///
/// Order    Does not depend on threads or the order of the points.
/// Cost     One pass over the points; 8 bytes per cell. Cancel within 50 ms.
BulkVector<float> layer_middles(HitPoints points, const Lattice& lattice, const BulkVector<CellPlane>& planes,
                                const LayerNoise& noise, OpContext& ctx);

}  // namespace pc
