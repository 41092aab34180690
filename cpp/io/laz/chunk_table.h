#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/memory.h"
#include "core/platform.h"
#include "io/laz/laz_items.h"

namespace pc::io::laz {

/// One chunk of the point data: independent of the others.
struct Chunk {
  std::uint64_t at = 0;   ///< byte in the file
  std::uint64_t end = 0;  ///< byte after it; an upper limit in files without a chunk table
  std::uint64_t first_row = 0;
  std::uint64_t rows = 0;
};

/// Where the chunks of a file are.
struct ChunkPlan {
  BulkVector<Chunk> chunks;
  std::uint64_t rows = 0;  ///< of all chunks, at most the declared ones
  bool open_ended =
      false;  ///< the ends of the chunks are not known: they are decoded one after the other from the
              ///< first one's start; `chunks` holds that one only
  std::string
      missing;  ///< why rows < declared or the table could not be used, for the user; "" = all is well
};

/// Finds the chunks through the chunk table; in layered files without a usable one through the chunks themselves.
///
/// The first 8 bytes of the point data say where the table is; -1 or 0: the last 8 bytes of the file do (writers that
/// cannot seek). The table: version (u32, 0), number of chunks (u32), then range-coded for each chunk the rows (in files
/// with chunks of any size) and the bytes, each as an integer predicted by the one before.
///
/// file_points  first byte of the point data
/// points_end   the point data lies before this byte (EVLRs, end of the file)
/// declared     rows the header declares
/// Errors       kInvalidFile when there are points and none can be found; kUnsupported when chunks of any size have no
///              table in a pointwise file.
/// Source       LASzip specification, "Chunk table".
ChunkPlan find_chunks(const platform::File& file, const LazItems& items, std::uint64_t file_points,
                      std::uint64_t points_end, std::uint64_t declared);

/// The table of chunks that follow each other, `bytes[i]` each.
std::vector<std::uint8_t> chunk_table_bytes(const BulkVector<std::uint32_t>& bytes);

/// Sizes of a layered chunk's layers, 4 bytes each, lie after its first record and its number of rows.
constexpr std::size_t kChunkCountBytes = 4;
inline std::size_t layered_head_bytes(const LazItems& items, std::size_t layers) {
  return items.record_bytes + kChunkCountBytes + 4 * layers;
}

}  // namespace pc::io::laz
