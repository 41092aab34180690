#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/plant_structure.h"
#include "core/vec3.h"

namespace pc {

/// A point of an axis. Tangent and normal are unit vectors, perpendicular to each other.
struct AxisFrame {
  Vec3d point;  ///< metres, frame of PlantStructure::base_position
  Vec3d
      tangent;  ///< direction of the segment that ends here; at the start of a shoot that of its first segment
  Vec3d normal;  ///< azimuth 0; azimuths turn toward cross(tangent, normal)
};

/// A phytomer on its axis.
struct AxisNode {
  std::size_t first_frame;  ///< start of the internode
  std::size_t last_frame;   ///< its tip, where the petioles are: first_frame + number of segments
  double azimuth_deg;       ///< of petiole 0, round the frame at the tip; petiole k of n: + 360 k / n
};

/// The axes of all shoots, shoot after shoot.
struct PlantAxes {
  std::vector<AxisFrame> frames;
  std::vector<AxisNode> nodes;           ///< one per phytomer
  std::vector<std::size_t> first_node;   ///< (shoots + 1) index in nodes
  std::vector<std::size_t> first_frame;  ///< (shoots + 1) index in frames

  const AxisNode& node(std::size_t shoot, std::size_t phytomer) const {
    return nodes[first_node[shoot] + phytomer];
  }
};

/// The unit vector across the axis at an azimuth.
Vec3d across_axis(const AxisFrame& frame, double azimuth_deg);
/// `frame` tilted by `pitch_deg` from its tangent toward the direction across the axis at `azimuth_deg`.
AxisFrame pitched(const AxisFrame& frame, double azimuth_deg, double pitch_deg);
/// `frame` bent toward the vertical over a length in one go, without moving its point. With the curvature g [degrees per
/// metre] the angle t from the vertical follows dt/ds = -g (1 - cos t) / 2: nothing on an upright axis, half on a
/// horizontal one, all on a hanging one; exactly: cot(t/2) grows by g s / 2. Negative values droop until the axis hangs.
AxisFrame bent(const AxisFrame& frame, double curvature_deg_per_m, double length_m);

/// Points and directions of all axes. The one place that says how the values of a structure become places:
/// - A base shoot starts at base_position with tangent +z and normal +x, a lateral one at the tip of its parent's node
///   with the frame there, turned about the tangent by the azimuth of its petiole (none if it grew from no axil).
/// - base_rotation: turned about the tangent by yaw, then tilted by pitch toward azimuth 0. Roll is the azimuth at which
///   the shoot's phyllotaxis starts.
/// - Each internode first pitches: the first one toward azimuth 0, later ones away from petiole 0 of the node below. Then
///   each of its segments bends by its curvature (`bent`), turns about the normal by its yaw perturbation, and goes on by
///   internode_length / segments. At its tip the azimuth grows by internode_phyllotactic_angle.
/// - A segment that would end below the ground (z of base_position) is raised until it ends on it.
///
/// Order    Does not depend on the thread count; sin, cos, tan and atan of the C library.
/// Cost     O(segments); 72 bytes per segment, 24 per phytomer.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: a parent that comes later or has no such node or petiole, no segments, lists of another
///          length, numbers that are not finite.
PlantAxes walk_axes(const PlantStructure& plant, OpContext& ctx);

/// Largest z of the axes above the base, metres; 0 without shoots.
double axis_height(const PlantStructure& plant, const PlantAxes& axes);

}  // namespace pc
