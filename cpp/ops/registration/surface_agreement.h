#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "ops/registration/icp_system.h"
#include "ops/registration/rigid_transform.h"

namespace pc {

/// How well the surfaces of two sides agree where they overlap at a pose.
struct SurfaceAgreement {
  std::uint32_t flat_count;   ///< flat places of the moving side, whether they face something or not
  std::uint32_t place_count;  ///< flat places of both sides that face a flat place of the other side
  double covered;             ///< share 0 .. 1 of the flat surface of the moving side that does
  double agreement;  ///< share 0 .. 1 of those, of both sides, that lie on the other side; 0 without any
};

/// Compares places of either side with the other side at a pose. Where nothing of the other side is near, a place says
/// nothing: the sides may overlap in part only. Where a surface of the other side is near, it must be the same surface.
///
/// scale    voxel means of both sides: their neighbours span the surface evenly, and noise is averaged
/// Place    A point whose 20 neighbours are flat (surface variation below 5 %, Pauly et al. 2002, and no line). It faces the
///          plane of the neighbours of the nearest point of the other side, if that is flat, within three radii of these neighbours, and
///          not beyond their border. It lies on it if it is within a fifth of the radius, or twice the thickness, of that
///          plane and the normals agree to 25 degrees.
/// Shares   A place counts in inverse proportion to the number of places with its direction, so that ground or a wall, which
///          lies on itself in many poses, does not outvote what stands on it (as in pose_judge.h).
/// Order    Bit-identical for any thread count.
/// Cost     At most 2000 places of a side, three searches each.
/// Cancel   Within 250 ms.
SurfaceAgreement surface_agreement(const IcpScale& scale, const RigidTransform& pose, OpContext& ctx);

}  // namespace pc
