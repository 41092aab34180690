#pragma once
#include <cstdint>
#include <optional>

#include "core/op_context.h"
#include "core/span.h"
#include "spatial/predicates.h"

namespace pc {

/// A stem that is seen twice.
struct PlacedLayers {
  Vec2d at;     ///< where it stands, metres
  Vec2d apart;  ///< see stem_layers: which layer is whose is not known
};

/// How scans lie beside others.
struct LayerMotion {
  Vec2d middle;         ///< of the stems that show it, metres
  Vec2d apart;          ///< there; x > 0, or x = 0 and y > 0
  double turn;          ///< about the middle, radians
  std::uint32_t stems;  ///< that show it
  std::uint32_t of;     ///< stems that are seen twice

  Vec2d at(const Vec2d& place) const {
    return {apart.x - turn * (place.y - middle.y), apart.y + turn * (place.x - middle.x)};
  }
};

/// One motion in the plane by which many stems are seen twice: what single stems show (forks, stems in leaves) has any direction.
///
/// Motion   From each stem that is seen twice (of more than 1,000 an even choice), and from up to 4,000 pairs of them at least 3 m apart
///          (turned by up to 3 degrees), whichever has the most stems that agree within 4 mm or a tenth; then least squares of all of these.
/// Sure     At least four stems, which chance makes once in 1,000 lists: by chance a stem's direction is as near, and every
///          second one as long; so many are by the binomial distribution, without those that define the motion, times the number of motions tried.
/// Order    The same for any thread count. Below 0.3 s for 1,000 stems. Cancel within 250 ms.
/// Source   Ours.
std::optional<LayerMotion> layer_motion(Span<const PlacedLayers> stems, OpContext& ctx);

}  // namespace pc
