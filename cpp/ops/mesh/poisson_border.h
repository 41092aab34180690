#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/mesh/poisson_surface.h"
#include "spatial/kd_tree.h"

namespace pc::poisson_detail {

/// The samples that a surface was made of.
struct SampleTree {
  const KdTree& tree;
  Span<const Vec3d> place;     ///< by the rows of the tree
  Span<const double> spacing;  ///< distance to the kSupportNeighbors-th neighbour
};

/// What the samples around each vertex tell.
struct Support {
  BulkVector<std::uint8_t> unsupported;
  BulkVector<float> spacing;  ///< of the nearest sample
};

/// A vertex is loose where it is farther from its nearest sample than samples there are from their 10th neighbour (lower
/// quartile of the 10 around). Connected loose vertices have no support if one of them is more than twice as far.
Support support_of(const UnitMesh& mesh, const SampleTree& samples, OpContext& ctx);

/// The mesh without what lies beyond its samples.
struct BorderCut {
  BulkVector<std::uint8_t> dropped;  ///< (V) vertices in no triangle any more
  BulkVector<std::uint32_t>
      kept_end;  ///< of the edge that each added vertex divides; those follow the first V
};

/// Cuts the surface where its samples end.
///
/// Border   Around every place without support there is a ball without samples. From there the surface is cut back to where
///          it is as deep in such a ball as samples are apart: the square root of the area per sample. So a border ends one
///          spacing beyond the samples, gaps that hold no such place stay closed, and nothing within one spacing of a
///          sample is cut.
/// Mesh     Triangles across the border are divided there: where each edge had two triangles and each vertex one fan of
///          them, triangles do not touch in vertices alone.
/// Order    Bit-identical for any thread count.
/// Source   Own; in a plane the border of an alpha shape (Edelsbrunner, Kirkpatrick & Seidel 1983) moved out by one spacing.
BorderCut cut_borders(UnitMesh& mesh, const SampleTree& samples, const Support& support, OpContext& ctx);

}  // namespace pc::poisson_detail
