#pragma once
#include <cstdint>

namespace pc {

/// The constants of path_trees. They are no parameters of a request; the accuracy part `trees-auto` shows what other
/// values change.
struct PathConstants {
  double finest_node_m;      ///< edge of a voxel: about a twig with its leaves
  std::uint64_t most_nodes;  ///< voxels are larger where there would be more
  double neighbors;          ///< of a node, at most kMostPathNeighbors
  double most_gap_m;         ///< longest step of a path
  double exponent;           ///< of the length of a step
  double turn_cost;          ///< of turning back, in costs of the step
  double memory_m;           ///< length over which a path remembers its direction
  double scatter_cost;       ///< of a step among scattered points (leaves), in costs of the step
  double root_top_m;         ///< paths start below this height of stems
  double root_margin_m;      ///< around the circle of a stem
  double root_margin_part;   ///< the same in radii, of thick stems
  double limb_cost_m;  ///< paths of stems that are not seen near the ground start at the cost of such a step
  double low_m;        ///< plants without a stem start below this height
  double base_gap_m;   ///< such starts within this distance are one plant
  double widest_base_m;      ///< of a plant: starts that are joined further are a carpet of plants
  double carpet_height_m;    ///< least height of a plant in a carpet
  double least_height_m;     ///< of a tree without a stem
  double base_start_cost_m;  ///< paths of such trees start at the cost of one step of this length
  double least_points;       ///< of a tree that was found, in points
};

constexpr std::uint32_t kMostPathNeighbors = 32;

inline constexpr PathConstants kPathConstants{
    .finest_node_m = 0.03,
    .most_nodes = 4'000'000,
    .neighbors = 12,
    .most_gap_m = 1.0,
    .exponent = 2,
    .turn_cost = 100,
    .memory_m = 0.5,
    .scatter_cost = 10,
    .root_top_m = 2.0,
    .root_margin_m = 0.1,
    .root_margin_part = 0.2,
    .limb_cost_m = 5.0,
    .low_m = 0.3,
    .base_gap_m = 0.45,
    .widest_base_m = 2.5,
    .carpet_height_m = 1.3,
    .least_height_m = 0.7,
    .base_start_cost_m = 0.1,
    .least_points = 30,
};

}  // namespace pc
