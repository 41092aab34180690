#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "io/cloud_view.h"

namespace pc::io {

enum class TextFormat : std::uint8_t { kXyz, kTxt, kCsv, kPly, kObj };

/// First line of xyz, txt and csv files; ply and obj have their own headers.
enum class TextHeader : std::uint8_t {
  kNone,
  kTitles,          ///< X Y Z R G B Intensity, then slugs
  kSlugs,           ///< x y z r255 g255 b255 intensity, then slugs
  kCommentedSlugs,  ///< "# " and the same slugs
};

/// What a text file carries. A flag lets a column in, the view must also have it; obj carries positions only.
struct TextWriteParams {
  TextFormat format;
  TextHeader header;
  bool colors;        ///< 0..255, three columns
  bool intensity;     ///< 0..1
  bool timestamps;    ///< seconds, column "timestamp"
  bool beam_origins;  ///< columns origin_x origin_y origin_z
  bool scalars;       ///< under their slugs, in the view's order
};

/// The layout of POST /api/pointcloud/export: xyz has positions only and no header; txt and csv have titles and every
/// column of the view; ply has no intensity; obj has positions only.
TextWriteParams cloud_export_layout(TextFormat format);
/// The layout of the data files of a scan export: every column under its slug; "# slugs" in xyz and txt, a plain header
/// in csv.
TextWriteParams scan_export_layout(TextFormat format);

struct TextWriteResult {
  std::uint64_t rows = 0;             ///< points written
  std::uint64_t bytes = 0;            ///< size of the file
  std::vector<std::string> warnings;  ///< columns under other names
  std::vector<std::string> rounded;   ///< columns with a value that six decimals change
  bool colors_cut = false;            ///< a written colour has a channel that 8 bits change
};

/// Writes the selected rows of a view as text: `\n` between lines, none after the last; blanks between values, commas
/// in csv; the header alone when there are no rows.
///
/// view     Positions and origins in the stored frame, metres; view.offset is added. Columns of view.positions.size
///          rows or empty; stride >= 1.
/// Numbers  Positions, origins and timestamps: 6 decimals, rounded as printf does, zero without sign. Colours:
///          the high byte of the u16. Intensity: u16 / 65535 with 4 decimals (6 in ply). Scalars: integers when the
///          column is an integer one or every written value is integral, else 6 decimals; NaN is "nan", in csv empty.
/// ply      ASCII 1.0; x y z are "float", or "double" when a coordinate exceeds 1e4, beyond which float32 steps by
///          a millimetre; scalars have their own type, 64-bit whole numbers "double".
/// csv      Header cells are quoted where needed; one that starts with = + - @ gets a ' in front, so that a
///          spreadsheet shows it and does not run it.
/// Order    Row order; the bytes do not depend on threads.
/// Cost     O(rows x columns) time; a few MiB per thread.
/// Cancel   Within 250 ms. The file at `path` is then incomplete, as after any error: write to a temporary name and
///          rename.
/// Errors   kInvalidArgument (column lengths, stride 0), kNoSpace, kIo.
TextWriteResult write_text(const CloudView& view, const TextWriteParams& params, const std::string& path,
                           OpContext& ctx);

}  // namespace pc::io
