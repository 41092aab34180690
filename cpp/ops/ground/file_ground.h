#pragma once
#include <array>
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Labels of the ground that the classes of a file name.
struct FileGround {
  Column<std::uint8_t> ground_class;  ///< (n) GroundClass, 0 where `skip` is set
  std::uint64_t ground_count, plant_count;
  std::uint64_t low_outlier_count;  ///< 0: none is looked for
};

/// Points of these classes are ground, all others plants, and those without a finite position.
///
/// positions  (n) metres
/// skip       (n) non-zero = no label, or empty
/// classes    (n) scalar; rounded
/// ground     the classes of the ground
/// Order    Does not depend on threads. Cost one streaming pass. Cancel within 50 ms.
/// Errors   kInvalidArgument for lengths that differ.
FileGround ground_of_file(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                          const AnyColumn& classes, Span<const std::uint8_t> ground, OpContext& ctx);

/// How many points of a class have the one and the other label.
struct ClassLabels {
  std::uint64_t ground, plant;
};

/// By class 0 to 255 of the file, the labels of its points; other values count nowhere.
///
/// labels   (n) GroundClass, 0 = none
/// classes  (n) scalar; rounded
/// Order, cost, cancel, errors   As above.
std::array<ClassLabels, 256> labels_by_class(Span<const std::uint8_t> labels, const AnyColumn& classes,
                                             OpContext& ctx);

}  // namespace pc
