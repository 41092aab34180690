#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/vec3.h"

namespace pc::io {

/// A scalar column of an export, with its slug.
struct ScalarView {
  std::string slug;
  std::string label;
  const AnyColumn* values = nullptr;  ///< (rows), scalar
};

/// The rows and columns to write. Writers add `offset` to every position and beam origin (stored -> file frame). They
/// leave out rows whose `skip` is non-zero, and write the first and then every `stride`-th of the remaining rows.
struct CloudView {
  Span<const Vec3d> positions;          ///< (rows) stored frame
  Vec3d offset{0, 0, 0};                ///< world_shift + translation
  Span<const Rgb16> colors;             ///< (rows) or empty
  Span<const std::uint16_t> intensity;  ///< (rows) 0..65535, or empty
  Span<const double> timestamps;        ///< (rows) or empty
  Span<const Vec3d> beam_origins;       ///< (rows) or empty
  std::vector<ScalarView> scalars;
  Span<const std::uint8_t> skip;  ///< (rows) non-zero = leave out, or empty = write all rows
  std::size_t stride = 1;
};

}  // namespace pc::io
