#pragma once
#include <array>

namespace pc {

/// The constants of find_low_outliers; low_outliers.h says what they do.
struct LowOutlierConstants {
  double points_per_cell;       ///< on average, in cells with points
  double support;               ///< neighbours that make a height credible
  double layer_per_cell;        ///< thickness of the layer, in cells
  double layer_per_spread;      ///< and in typical spreads of the lowest heights of a cell
  double min_layer, max_layer;  ///< metres: range noise; less than a storey
  double coherent_cells;        ///< largest deviation of a surface that is terrain, in cells
  double max_depth;             ///< metres below such a surface that are enough
};

/// The constants of ground_auto. They are no parameters of a request; `npm run accuracy -- ground-sensitivity` shows
/// what other values change.
struct GroundConstants {
  LowOutlierConstants low;
  double cells_per_spacing, min_cell, max_cell;  ///< edge of a cell, in point spacings; metres
  double coarsest_cell;                          ///< metres: wider than most houses, narrower than most hills
  double tolerance_m;                            ///< for noise and grass
  double tolerance_per_metre;                    ///< between points, because the slope is known no better
  double slope_share;  ///< of the plane's rise within a cell, added to the tolerance
  double
      roughness_share;  ///< of the typical distance of nearby ground from its neighbours' planes, added too
  double max_roughness_m;    ///< most that roughness adds
  double plane_neighbors;    ///< ground around a cell that makes a plane, at most kMostPlaneNeighbors
  double near_weight, pull;  ///< of these planes: weight of near neighbours, squared cells
  double
      side_scatter;  ///< deviations of the ground of one side from its plane: crowns and bushes are no terraces
  double side_fewest;  ///< cells that make a plane of one side
  double side_cone;    ///< sine: neighbours this near to the dividing line are on neither side
  double side_falloff, side_pull,
      side_slope;      ///< weight of far neighbours; squared cells; steepest, 1 = 45 degrees
  double piece_above;  ///< largest share of a piece's edge that is above the ground
  double face_share;   ///< of the height difference that a face may rise above the line across it
  double
      face_slope;  ///< smallest, 1 = 45 degrees, as for the planes of one side, which cover less steep ground
  double layer_returns;  ///< in the lowest metre of a typical cell that tell a layer from plants
  double layer_fewest;   ///< of one cell; at most half of the typical number
  double layer_share;    ///< of these returns that make a layer
  double layer_m;        ///< its thickness: noise, and slopes within a cell
  double scattered_tolerance_m, scattered_per_metre;  ///< tolerance of points of cells without a layer
  double class_per_spacing, min_class, max_spacing_class,
      max_class;             ///< threshold, in point spacings; metres
  double class_slope_share;  ///< of the rise within a cell, added to the threshold
  double upper_slope_share, upper_face_slope,
      upper_scatter;      ///< as above, for points above the lowest of a cell
  double out_deviations;  ///< of the ground around a cell, beyond the threshold: points above that stand out
  double out_share;       ///< of the threshold above its own plane: lower cells are not looked at
  double noise_deviations;  ///< from the middle of the layer of ground returns that are ground
  double noise_max_m;       ///< largest deviation of such a layer
  double noise_share;       ///< of the windows that have to show it
};

inline constexpr GroundConstants kGroundConstants{
    .low = {.points_per_cell = 16,
            .support = 3,
            .layer_per_cell = 0.15,
            .layer_per_spread = 3,
            .min_layer = 0.03,
            .max_layer = 0.5,
            .coherent_cells = 0.75,
            .max_depth = 1.5},
    .cells_per_spacing = 0.85,
    .min_cell = 0.25,
    .max_cell = 5,
    .coarsest_cell = 16,
    .tolerance_m = 0.1,
    .tolerance_per_metre = 0.12,
    .slope_share = 0.25,
    .roughness_share = 1.75,
    .max_roughness_m = 1,
    .plane_neighbors = 8,
    .near_weight = 0.1,
    .pull = 0.01,
    .side_scatter = 2,
    .side_fewest = 4,
    .side_cone = 0.15,
    .side_falloff = 0.5,
    .side_pull = 0.05,
    .side_slope = 1,
    .piece_above = 0.7,
    .face_share = 0.25,
    .face_slope = 1,
    .layer_returns = 6,
    .layer_fewest = 8,
    .layer_share = 0.8,
    .layer_m = 0.12,
    .scattered_tolerance_m = 0.03,
    .scattered_per_metre = 0.06,
    .class_per_spacing = 0.25,
    .min_class = 0.05,
    .max_spacing_class = 0.3,
    .max_class = 0.5,
    .class_slope_share = 1.4,
    .upper_slope_share = 0.25,
    .upper_face_slope = 1,
    .upper_scatter = 1,
    .out_deviations = 3,
    .out_share = 0.5,
    .noise_deviations = 3,
    .noise_max_m = 0.12,
    .noise_share = 0.2,
};

/// How far a point may lie above ground that is `distance` metres away and still belong to the same surface: allows
/// for noise, low relief and slopes that cells do not resolve.
constexpr double tolerance_of(const GroundConstants& constants, double distance) {
  return constants.tolerance_m + constants.tolerance_per_metre * distance;
}

constexpr int kMostPlaneNeighbors = 12;

/// A constant by its name.
struct NamedGroundConstant {
  const char* name;
  double* value;
};

/// All of them; the ones of find_low_outliers have names that begin with `low_`.
std::array<NamedGroundConstant, 48> named_constants(GroundConstants& constants);

}  // namespace pc
