#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "io/e57.h"
#include "io/e57_pages.h"

/// The binary section of a scan's points: packets with one byte stream per field, in which values are packed from the
/// low bit up, without gaps (ASTM E2807-11, binary sections).
namespace pc::io::e57 {

/// Logical bytes [begin, end) of a binary section.
struct Section {
  std::uint64_t begin = 0, end = 0;
};

/// Position of the values of every field: the number of bytes of each stream before each packet.
class PacketIndex {
 public:
  /// Walks the packet headers of a scan that has points.
  ///
  /// Cost    One read of 2 KiB per packet; 8 + 10 f bytes of memory per packet of at least 6 + 2 f bytes (f fields).
  /// Errors  kInvalidFile: wrong section or packet header, a packet that extends beyond its section, a stream shorter
  ///         than the declared points need.
  PacketIndex(const Pages& pages, const E57Scan& scan, OpContext& ctx);

  const Section& section() const { return section_; }
  std::size_t packet_count() const { return packet_.size(); }

  /// Calls visit(logical offset, bytes) for the pieces that contain bytes [begin, end) of a stream, in order.
  template <class Visit>
  void for_each_piece(std::size_t stream, std::uint64_t begin, std::uint64_t end, Visit&& visit) const {
    for (std::size_t p = find(stream, begin); begin < end; ++p) {
      const std::uint64_t before = before_[p * streams_ + stream],
                          after = before_[(p + 1) * streams_ + stream];
      const std::uint64_t stop = after < end ? after : end;
      if (begin >= stop) continue;
      visit(packet_[p] + start_[p * streams_ + stream] + (begin - before),
            static_cast<std::size_t>(stop - begin));
      begin = stop;
    }
  }

 private:
  std::size_t find(std::size_t stream, std::uint64_t byte) const;
  void read_section_header(const Pages& pages, const E57Scan& scan, std::uint64_t& first_packet);
  void add_packet(const Pages& pages, std::uint64_t at, const std::byte* packet, std::uint32_t bytes);
  void check_streams(const Pages& pages, const E57Scan& scan) const;

  std::size_t streams_;
  Section section_;
  BulkVector<std::uint64_t> packet_;  ///< logical offset of each data packet
  BulkVector<std::uint16_t> start_;   ///< per packet and stream: its first byte, relative to the packet
  BulkVector<std::uint64_t>
      before_;  ///< per packet and stream: bytes of the stream before it; one more packet at the end
};

/// Reads the values of some fields for a block of points. One per thread.
class BlockReader {
 public:
  /// fields  indexes into scan.fields.
  BlockReader(const Pages& pages, const E57Scan& scan, const PacketIndex& index,
              std::vector<std::size_t> fields);

  /// Loads points [first, first + count); first is a multiple of 8, count at most block_points(scan).
  ///
  /// Errors  kInternal for more points than a block holds.
  void load(std::uint64_t first, std::size_t count);
  /// Values [begin, begin + count) of the block for field fields[slot], with scale and offset applied.
  void decode(std::size_t slot, std::size_t begin, std::size_t count, double* out) const;
  /// As decode, for a field of type kInteger, exact: T holds every value of the field.
  template <class T>
  void decode_integers(std::size_t slot, std::size_t begin, std::size_t count, T* out) const;
  /// As decode, for a field of type kFloat32.
  void decode_floats(std::size_t slot, std::size_t begin, std::size_t count, float* out) const;

 private:
  void load_window(std::uint64_t first, std::size_t count);
  void set_window(std::uint64_t begin, std::uint64_t end);
  void copy(std::uint64_t logical, std::size_t bytes, std::byte* out);

  const Pages& pages_;
  const E57Scan& scan_;
  const PacketIndex& index_;
  std::vector<std::size_t> fields_;
  std::size_t capacity_;                             ///< number of points that fit in bytes_
  std::vector<std::size_t> start_;                   ///< per slot, first byte in bytes_
  std::vector<std::byte> bytes_, window_, scratch_;  // below 1 MiB each
  std::uint64_t window_begin_ = 0;
  std::size_t window_bytes_ = 0;
};

/// Number of points per block: a multiple of 8, at most 768 KiB of the file, so that a thread's buffers stay small and
/// a cancel takes effect in time.
std::size_t block_points(const E57Scan& scan);

}  // namespace pc::io::e57
