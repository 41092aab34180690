#include "io/e57_write.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "core/error.h"
#include "io/cloud_view_checks.h"
#include "io/e57_page_writer.h"
#include "io/e57_record.h"
#include "io/e57_xml_write.h"
#include "io/ordered_output.h"

namespace pc::io {

namespace {

using e57::PacketEncoder;
using e57::PageWriter;
using e57::WrittenFrame;
using e57::WrittenScan;

constexpr std::size_t kBlockRows = 1 << 14, kBlockPackets = 16;
constexpr std::size_t kSectionHeaderBytes = 32, kIndexHeaderBytes = 16, kIndexEntryBytes = 16;
constexpr std::uint64_t kMaxIndexEntries = 2048;
constexpr std::size_t kMaxE57Scans = 65535;

template <class T>
void put(std::vector<char>& out, T value) {
  const auto at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

/// Writes the binary section of a scan: its header, the data packets, and an index of them.
///
/// | offset | size | type | meaning |
/// |---|---|---|---|
/// | 0  | 1 | u8 | section type, 1 |
/// | 1  | 7 | | reserved, 0 |
/// | 8  | 8 | u64 | logical length of the section, header included |
/// | 16 | 8 | u64 | physical offset of the first data packet |
/// | 24 | 8 | u64 | physical offset of the index packet |
class SectionWriter {
 public:
  SectionWriter(PageWriter& pages, const PacketEncoder& encoder) : pages_(pages), encoder_(encoder) {
    begin_ = pages.position();
    packets_ = encoder.packet_count();
    packet_bytes_ = encoder.packet_bytes(0);
    index_begin_ = packet_begin(packets_ - 1) + encoder.packet_bytes(packets_ - 1);
    stride_ = (packets_ + kMaxIndexEntries - 1) / kMaxIndexEntries;
    entries_ = (packets_ + stride_ - 1) / stride_;
  }

  void write(const ScanRowTable& rows, const ScanRowTable::Scan& scan, OpContext& ctx) {
    write_header();
    append_in_order(
        static_cast<std::size_t>(packets_), kBlockPackets, ctx,
        [&](std::size_t begin, std::size_t end, BlockBuffer& buffer) {
          encode(rows, scan, begin, end, buffer);
        },
        [&](const char* data, std::size_t bytes) { pages_.append(data, bytes); });
    require(pages_.position() == index_begin_, "the packets of an E57 scan do not have the planned length");
    write_index();
  }

 private:
  std::uint64_t packet_begin(std::uint64_t packet) const {
    return begin_ + kSectionHeaderBytes + packet * packet_bytes_;
  }
  std::uint64_t index_bytes() const { return kIndexHeaderBytes + kIndexEntryBytes * entries_; }

  void write_header() {
    std::vector<char> header;
    put<std::uint64_t>(header, 1);
    put(header, index_begin_ + index_bytes() - begin_);
    put(header, e57::Pages::to_physical(packet_begin(0)));
    put(header, e57::Pages::to_physical(index_begin_));
    pages_.append(header.data(), header.size());
  }

  void encode(const ScanRowTable& table, const ScanRowTable::Scan& scan, std::size_t begin, std::size_t end,
              BlockBuffer& buffer) const {
    const std::uint64_t first = encoder_.first_record(begin);
    const std::uint64_t last = encoder_.first_record(end - 1) + encoder_.record_count(end - 1);
    std::vector<std::size_t> rows;
    table.rows(scan.first + first, static_cast<std::size_t>(last - first), rows);
    const std::size_t* at = rows.data();
    for (std::size_t packet = begin; packet < end; ++packet) {
      const std::size_t bytes = encoder_.packet_bytes(packet), count = encoder_.record_count(packet);
      char* const out = buffer.room(bytes);
      encoder_.encode({at, count}, out);
      buffer.end_at(out + bytes);
      at += count;
    }
  }

  /// | offset | size | type | meaning |
  /// |---|---|---|---|
  /// | 0 | 1 | u8 | packet type, 0 = index |
  /// | 1 | 1 | u8 | flags, 0 |
  /// | 2 | 2 | u16 | packet length - 1 |
  /// | 4 | 2 | u16 | number of entries |
  /// | 6 | 1 | u8 | level, 0: the entries are data packets |
  /// | 7 | 9 | | reserved, 0 |
  /// | 16 | 16 n | 2 x u64 | first record and physical offset of every packet, or of every stride-th |
  void write_index() {
    std::vector<char> index;
    put<std::uint16_t>(index, 0);
    put(index, static_cast<std::uint16_t>(index_bytes() - 1));
    put(index, static_cast<std::uint16_t>(entries_));
    put<std::uint16_t>(index, 0);
    put<std::uint64_t>(index, 0);
    for (std::uint64_t packet = 0; packet < packets_; packet += stride_) {
      put(index, encoder_.first_record(packet));
      put(index, e57::Pages::to_physical(packet_begin(packet)));
    }
    pages_.append(index.data(), index.size());
  }

  PageWriter& pages_;
  const PacketEncoder& encoder_;
  std::uint64_t begin_, packets_, packet_bytes_, index_begin_, stride_, entries_;
};

/// Positions of the scanners, stored frame.
class Scanners {
 public:
  Scanners(const E57WriteParams& params, bool numbered) : params_(params), numbered_(numbered) {
    for (const E57ScanOrigin& known : params.origins)
      by_number_.emplace(known.scan_index, known.origin_stored);
  }

  std::optional<Vec3d> position_of(const ScanRowTable::Scan& scan) const {
    if (numbered_ && !scan.number) return std::nullopt;
    if (by_number_.empty()) return params_.origin_stored;
    if (!numbered_) return by_number_.size() == 1 ? std::optional(by_number_.begin()->second) : std::nullopt;
    const auto known = by_number_.find(*scan.number);
    return known == by_number_.end() ? std::nullopt : std::optional(known->second);
  }

 private:
  const E57WriteParams& params_;
  bool numbered_;  ///< the cloud has a scan_index
  std::map<std::uint32_t, Vec3d> by_number_;
};

void check_params(const E57WriteParams& params, const ScanRowTable& rows) {
  if (rows.selection().selected_count() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "an E57 file needs at least one point");
  }
  if (rows.scans().size() > kMaxE57Scans) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "an E57 file can have 65,535 scans at most; give the points without a scan_index one of the numbers");
  }
  bool finite = !params.origin_stored || is_finite(*params.origin_stored);
  for (const E57ScanOrigin& known : params.origins) finite = finite && is_finite(known.origin_stored);
  require(finite && std::isfinite(params.creation_time_s), "scanner positions and the time must be finite");
}

/// Aligns the next section to 4 bytes.
void align(PageWriter& pages) {
  const char zeros[4] = {};
  pages.append(zeros, static_cast<std::size_t>((4 - pages.position() % 4) % 4));
}

void warn_of_reals(const std::vector<e57::WrittenField>& fields, std::vector<std::string>& warnings) {
  for (const e57::WrittenField& field : fields) {
    if (field.source != e57::Source::kScalar || field.field.type != E57FieldType::kFloat64) continue;
    if (field.scalar->dtype() != DType::kU64) continue;
    std::string text =
        "the column '" + field.field.name +
        "' has integers above 2^63, which E57 cannot store; it is written as float64, exact up to 2^53";
    if (std::find(warnings.begin(), warnings.end(), text) == warnings.end())
      warnings.push_back(std::move(text));
  }
}

class CloudWriter {
 public:
  CloudWriter(const CloudView& view, const E57WriteParams& params, const ScanRowTable& rows,
              E57WriteResult& result)
      : view_(view),
        params_(params),
        rows_(rows),
        result_(result),
        scanners_(params, find_scalar(view, "scan_index") != nullptr),
        source_(e57::name_columns(view, result.warnings)) {}

  WrittenScan write(const ScanRowTable::Scan& scan, std::size_t index, PageWriter& pages, OpContext& ctx) {
    const std::optional<Vec3d> position = scanners_.position_of(scan);
    const WrittenFrame frame =
        position ? WrittenFrame{*position, {0, 0, 0}} : WrittenFrame{{0, 0, 0}, view_.offset};
    ctx.begin_phase("Looking at the columns", scan.count);
    const e57::RecordRange range = e57::measure(source_, rows_, scan, frame, ctx);
    const PacketEncoder encoder(source_, frame, e57::fields_of(source_, range), scan.count);
    align(pages);
    WrittenScan written;
    written.section_offset = e57::Pages::to_physical(pages.position());
    ctx.begin_phase("Writing points", encoder.packet_count());
    SectionWriter(pages, encoder).write(rows_, scan, ctx);
    written.name = rows_.scans().size() == 1 ? params_.name : params_.name + " " + std::to_string(index);
    if (position) written.position = *position + view_.offset;
    written.bounds = range.bounds;
    written.fields = encoder.fields();
    written.records = scan.count;
    result_.misses += range.misses;
    result_.directionless += range.directionless;
    if (!position) result_.misses_from_zero += range.misses - range.directionless;
    warn_of_reals(written.fields, result_.warnings);
    return written;
  }

 private:
  const CloudView& view_;
  const E57WriteParams& params_;
  const ScanRowTable& rows_;
  E57WriteResult& result_;
  Scanners scanners_;
  e57::RecordSource source_;
};

}  // namespace

E57WriteResult write_e57(const CloudView& view, const E57WriteParams& params, const std::string& path,
                         OpContext& ctx) {
  check_columns(view);
  E57WriteResult result;
  const ScanRowTable rows(view, kBlockRows, ctx);
  check_params(params, rows);
  result.colors_cut = colors_need_16_bits(view, rows.selection(), ctx);
  platform::File file = platform::File::create(path);
  PageWriter pages(file);
  CloudWriter writer(view, params, rows, result);
  std::vector<WrittenScan> scans;
  for (std::size_t i = 0; i < rows.scans().size(); ++i) {
    const ScanRowTable::Scan& scan = rows.scans()[i];
    scans.push_back(writer.write(scan, i, pages, ctx));
    const bool numbered = find_scalar(view, "scan_index") != nullptr;
    if (numbered && !scan.number) result.without_scan = scan.count;
    result.renumbered = result.renumbered || (scan.number && *scan.number != i);
  }
  align(pages);
  const std::uint64_t xml_begin = pages.position();
  const std::string xml = e57::xml_section(params, scans);
  pages.append(xml.data(), xml.size());
  result.bytes = pages.finish(xml_begin);
  file.close_checked();
  result.rows = rows.selection().selected_count();
  result.scans = scans.size();
  return result;
}

}  // namespace pc::io
