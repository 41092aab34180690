#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "io/e57.h"
#include "io/e57_pages.h"
#include "io/scan_rows.h"

/// The point records of the E57 writer; not part of the interface of e57_write.h.
namespace pc::io::e57 {

/// Where the values of a field come from.
enum class Source : std::uint8_t {
  kX,
  kY,
  kZ,
  kMissState,
  kRed,
  kGreen,
  kBlue,
  kIntensity,
  kTime,
  kTimeInvalid,
  kOriginX,
  kOriginY,
  kOriginZ,
  kScalar,
};

struct WrittenField {
  E57Field field;
  Source source = Source::kScalar;
  const AnyColumn* scalar = nullptr;
};

/// The frame of a scan: written position = (stored position - subtracted) + added, one of which is zero.
struct WrittenFrame {
  Vec3d subtracted{0, 0, 0}, added{0, 0, 0};
  Vec3d apply(const Vec3d& p) const { return (p - subtracted) + added; }
};

/// A scalar column with the name that it has in the file.
struct NamedScalar {
  std::string name;
  const AnyColumn* values;
  std::string
      element{};  ///< rowIndex, columnIndex, returnIndex or returnCount if all its values are whole; else ""
};

/// What a scan's fields are made of, the same for all scans of a file.
struct RecordSource {
  const CloudView& view;
  const AnyColumn* is_miss = nullptr;
  std::vector<NamedScalar> scalars;
};

/// Names the columns of a view as E57 does: standard elements where one exists, otherwise the slug with the prefix
/// kOwnPrefix. Renamed columns are reported.
RecordSource name_columns(const CloudView& view, std::vector<std::string>& warnings);

/// Properties of the rows of a scan that decide its fields.
struct RecordRange {
  struct Integers {
    std::int64_t minimum = INT64_MAX, maximum = INT64_MIN;
    bool exact = true;  ///< every value is an integer of 64 bits
    void add(const Integers& other);
  };
  std::vector<Integers> scalars;  ///< per scalar of the source
  Box3d bounds;                   ///< written frame, hits only
  bool positions_fit_float = true, time_missing = false;
  std::uint64_t misses = 0, directionless = 0;  ///< directionless: misses at the scanner itself
  void add(const RecordRange& other);
};

RecordRange measure(const RecordSource& source, const ScanRowTable& rows, const ScanRowTable::Scan& scan,
                    const WrittenFrame& frame, OpContext& ctx);

/// The fields of a scan's record.
std::vector<WrittenField> fields_of(const RecordSource& source, const RecordRange& range);

/// Writes the data packets of a scan.
///
/// | offset | size | type | meaning |
/// |---|---|---|---|
/// | 0 | 1 | u8 | packet type, 1 = data |
/// | 1 | 1 | u8 | flags, 0 |
/// | 2 | 2 | u16 | packet length - 1; a multiple of 4 in total |
/// | 4 | 2 | u16 | number of byte streams f |
/// | 6 | 2 f | u16 | length of each stream's piece; the pieces follow in that order |
class PacketEncoder {
 public:
  /// Errors  kInvalidArgument if a record does not fit a packet of 64 KiB.
  PacketEncoder(const RecordSource& source, const WrittenFrame& frame, std::vector<WrittenField> fields,
                std::uint64_t records);

  std::uint64_t packet_count() const { return (records_ + packet_records_ - 1) / packet_records_; }
  std::uint64_t first_record(std::uint64_t packet) const { return packet * packet_records_; }
  std::size_t record_count(std::uint64_t packet) const;
  std::size_t packet_bytes(std::uint64_t packet) const { return bytes_of(record_count(packet)); }
  /// Encodes a packet of the given rows into packet_bytes() bytes.
  void encode(Span<const std::size_t> rows, char* out) const;
  const std::vector<WrittenField>& fields() const { return fields_; }

 private:
  std::size_t bytes_of(std::size_t records) const;
  char* encode_field(const WrittenField& field, Span<const std::size_t> rows, char* out) const;

  const RecordSource& source_;
  WrittenFrame frame_;
  std::vector<WrittenField> fields_;
  std::uint64_t records_;
  std::size_t packet_records_ = 0;
};

}  // namespace pc::io::e57
