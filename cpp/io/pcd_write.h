#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "io/cloud_view.h"

namespace pc::io {

struct PcdWriteParams {
  std::optional<Vec3d>
      viewpoint_stored;  ///< scanner position, stored frame, metres; empty = the default line
};

struct PcdWriteResult {
  std::uint64_t rows = 0;             ///< points written
  std::uint64_t bytes = 0;            ///< size of the file
  std::vector<std::string> warnings;  ///< columns that were renamed; 64-bit coordinates
  bool colors_cut = false;            ///< a written colour has a channel that 8 bits change
};

/// Writes the selected rows of a view as PCD 0.7, DATA binary (little endian, not compressed), HEIGHT 1.
///
/// | field | type | present |
/// |---|---|---|
/// | x y z | F 4 if every coordinate is exactly a float32, otherwise F 8 | always |
/// | rgb | F 4, the bits 0x00RRGGBB | with colour |
/// | intensity | U 2, 0..65535 | with intensity |
/// | timestamp | F 8, seconds | with timestamps |
/// | origin_x origin_y origin_z | F 8 | with beam origins |
/// | the scalars | their own type | with their slugs as names, made one word and unique |
///
/// VIEWPOINT  viewpoint_stored + view.offset and no rotation; without it 0 0 0 1 0 0 0, which means unknown.
/// Rounding   Only colours: 8 bits per channel are kept.
/// Order      Row order; the bytes do not depend on threads.
/// Cost       O(rows x columns) time: two passes over the rows; some MiB per thread.
/// Cancel     Within one block of 1 MiB per thread; the file is then incomplete, as after any error.
/// Errors     kInvalidArgument (column lengths, stride 0, a viewpoint that is not finite), kNoSpace, kIo.
/// Source     "The PCD (Point Cloud Data) file format", Point Cloud Library documentation.
PcdWriteResult write_pcd(const CloudView& view, const PcdWriteParams& params, const std::string& path,
                         OpContext& ctx);

}  // namespace pc::io
