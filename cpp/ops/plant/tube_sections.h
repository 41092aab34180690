#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/span.h"
#include "core/vec3.h"
#include "ops/plant/organ_mesh.h"
#include "ops/plant/prototypes.h"
#include "ops/plant/tube.h"

namespace pc {

/// What one segment of a tube looks like up to an affine map: a prism of length 1 along +z from a regular polygon of
/// radius 1 at z = 0 to one whose radius is e^(taper kTaperStep) and whose plane is slanted, z = 1 + slope_x kSlopeStep x
/// + slope_y kSlopeStep y over the lower polygon. Every segment of every tube is the image of such a prism; the steps make
/// few of them.
struct TubeSection {
  std::int32_t taper = 0, slope_x = 0, slope_y = 0;
  std::uint8_t sides = 3;
  OrganCode organ = OrganCode::kShoot;
  bool is_bark = false;
  bool has_start = false, has_end = false;  ///< caps

  friend bool operator==(const TubeSection&, const TubeSection&) = default;
};

struct TubeSectionHash {
  std::size_t operator()(const TubeSection& section) const;
};

inline constexpr double kTaperStep = 1.0 / 256;
inline constexpr double kSlopeStep = 1.0 / (1 << 24);

/// A section in place: x, y, z axes of the prism and its origin.
struct PlacedSection {
  TubeSection section;
  std::array<Vec3d, 4> frame;
};

/// Puts the sections of one tube piece in place, segment after segment, each on the ring at which the one before ends, so
/// that they share their corners. Rounded tapers and slopes are made up for by the next segment: no ring's radius is off by
/// more than 0.2 %, no corner of a ring by more than 5 % of the radius along the tube.
class TubeSectionWalk {
 public:
  /// Begins a piece at its first ring.
  void start(const TubeRing& ring, std::uint32_t sides);
  /// The section from the ring of the last call to `next`; organ, colour and caps are left to the caller.
  PlacedSection step(const TubeRing& next);

 private:
  std::uint32_t sides_ = 3;
  double radius_ = 0;  ///< of the round tube at the ring that is reached
  Vec3d center_{0, 0, 0}, u_{0, 0, 0}, v_{0, 0, 0};
};

/// Triangles of a section, of one colour, counter-clockwise seen from outside.
OrganMesh section_mesh(const TubeSection& section, const UnitRgb& color);

}  // namespace pc
