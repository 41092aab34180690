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

/// Contents of a text file. A column is written if its flag is set and the view has it; obj has positions only.
struct TextWriteParams {
  TextFormat format;
  TextHeader header;
  bool colors;        ///< 0..255, three columns
  bool intensity;     ///< 0..1
  bool timestamps;    ///< seconds, column "timestamp"
  bool beam_origins;  ///< columns origin_x origin_y origin_z
  bool scalars;       ///< named by their slugs, in the view's order
};

/// The layout of POST /api/pointcloud/export: xyz has only positions and no header; txt and csv have titles and every
/// column of the view; ply has no intensity; obj has only positions.
TextWriteParams cloud_export_layout(TextFormat format);
/// The layout of the data files of a scan export: every column with its slug; header "# slugs" in xyz and txt, plain
/// slugs in csv.
TextWriteParams scan_export_layout(TextFormat format);

struct TextWriteResult {
  std::uint64_t rows = 0;             ///< points written
  std::uint64_t bytes = 0;            ///< size of the file
  std::vector<std::string> warnings;  ///< columns that were renamed
  std::vector<std::string> rounded;   ///< columns with a value that six decimals change
  bool colors_cut = false;            ///< a written colour has a channel that 8 bits change
  bool intensity_cut = false;  ///< a written intensity changes if its text is multiplied by 65535 and rounded
};

/// Writes the selected rows of a view as text: `\n` between lines, after the last one only in ply; blanks between
/// values, commas in csv; only the header if there are no rows.
///
/// view     Positions and origins in the stored frame, metres; view.offset is added. Columns have view.positions.size
///          rows or are empty; stride >= 1.
/// Numbers  Positions, origins and timestamps: 6 decimals, rounded as by printf, zero without sign. Colours: the high
///          byte of the u16. Intensity: u16 / 65535 with 4 decimals, as contract core-endpoints has it, of which most of the
///          65536 values do not come back (intensity_cut); 6 in ply, of which all do. Scalars: integers if the column
///          has an integer type or every written value is integral, otherwise 6 decimals; NaN is "nan", in csv empty.
/// ply      ASCII 1.0; x y z are "float", or "double" if a coordinate exceeds 1e4, above which float32 has steps of a
///          millimetre; scalars have their own type, 64-bit whole numbers "double". The last line has an end, against
///          contract core-endpoints: without it, VTK puts the last point where the one before is.
/// csv      Header cells are quoted where needed; cells that start with = + - @ get a leading ', so that a spreadsheet
///          shows them instead of evaluating them.
/// Order    Row order; the bytes do not depend on threads.
/// Cost     O(rows x columns) time; a few MiB per thread.
/// Cancel   Within 250 ms. The file at `path` is then incomplete, as after any error: callers should write to a
///          temporary name and rename.
/// Errors   kInvalidArgument (column lengths, stride 0), kNoSpace, kIo.
TextWriteResult write_text(const CloudView& view, const TextWriteParams& params, const std::string& path,
                           OpContext& ctx);

}  // namespace pc::io
