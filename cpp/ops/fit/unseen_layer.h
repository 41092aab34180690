#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/fit/crown_mesh.h"

namespace pc {

/// What is known of the points in a solid that was wrapped around them.
struct WrappedPoints {
  std::uint64_t count;  ///< in the solid and on its surface
  double volume_m3;     ///< of the solid
  double hollow_m3;     ///< part of it that is closed to the ball although the ball fits in
};

/// Volume of the layer between a mesh through the outermost of evenly spread points and the surface of the solid that
/// they fill: each outermost point stands for as much space outside as a point has inside. Zero for points that do
/// not fill the mesh: more than kMostHollow of it is hollow, or the layer would be thicker than kMostLayer spacings.
///
/// mesh     vertices and triangles, closed
/// Order    Does not depend on the thread count. Cost O(V + T) time. Cancel within 50 ms.
/// Source   Baldin & Reiss 2016, Stochastic Processes and their Applications 126; for wrapping hulls that are not convex:
///          Baldin 2017, arXiv:1703.01658. A vertex counts as outermost if it lies above the mean of its neighbours.
double unseen_volume(const CrownMesh& mesh, const WrappedPoints& inside, OpContext& ctx);

/// Moves the vertices of a closed mesh along their normals by one distance, so that it encloses a volume. Where no distance
/// of at most twice `volume_m3 - own volume` over the area does, the mesh stays as it is: false.
///
/// Order    Does not depend on the thread count. Cost O(V + T) time. Cancel within 50 ms.
bool widen(CrownMesh& mesh, double volume_m3, OpContext& ctx);

inline constexpr double kMostHollow = 0.05;
inline constexpr double kMostLayer = 0.5;

}  // namespace pc
