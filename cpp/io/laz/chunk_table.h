#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/memory.h"
#include "core/platform.h"
#include "io/laz/laz_items.h"

namespace pc::io::laz {

/// One chunk of the point data, independent of the others.
struct Chunk {
  std::uint64_t at = 0;   ///< byte in the file
  std::uint64_t end = 0;  ///< byte after it; an upper bound in files without a chunk table
  std::uint64_t first_row = 0;
  std::uint64_t rows = 0;
};

/// Positions of the chunks of a file.
struct ChunkPlan {
  BulkVector<Chunk> chunks;
  std::uint64_t rows = 0;  ///< rows of all chunks, at most the declared ones
  bool open_ended =
      false;  ///< the ends of the chunks are not known: they are decoded one after the other from the
              ///< first one's start; `chunks` holds that one only
  std::string
      missing;  ///< why rows < declared or the table could not be used, for the user; "" = all is well
};

/// Finds the chunks by the chunk table, or in layered files without a usable table by walking through the chunks.
///
/// The first 8 bytes of the point data give the position of the table; if they are -1 or 0, the last 8 bytes of the
/// file do (written by programs that cannot seek). The table consists of version (u32, 0) and number of chunks (u32),
/// then, range-coded, for each chunk the rows (in files with chunks of variable size) and the bytes, each as an integer
/// predicted by the previous one.
///
/// file_points  first byte of the point data
/// points_end   end of the point data (EVLRs, end of the file)
/// declared     number of rows in the header
/// Errors       kInvalidFile if there are points but no chunk can be found; kUnsupported if a pointwise file has
///              chunks of variable size but no table.
/// Source       LASzip specification, "Chunk table".
ChunkPlan find_chunks(const platform::File& file, const LazItems& items, std::uint64_t file_points,
                      std::uint64_t points_end, std::uint64_t declared);

/// Encodes the table of consecutive chunks of `bytes[i]` bytes each.
std::vector<std::uint8_t> chunk_table_bytes(const BulkVector<std::uint32_t>& bytes);

/// Size of a layered chunk's number of rows. The sizes of its layers, 4 bytes each, follow its first record and this.
constexpr std::size_t kChunkCountBytes = 4;
inline std::size_t layered_head_bytes(const LazItems& items, std::size_t layers) {
  return items.record_bytes + kChunkCountBytes + 4 * layers;
}

}  // namespace pc::io::laz
