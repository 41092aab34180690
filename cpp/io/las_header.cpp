#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "io/las_format.h"

namespace pc::io {

namespace las {

namespace {

/// Records beyond this number are counted but not listed.
constexpr std::size_t kMaxListedRecords = 65536;
/// Longest record payload that is read as text or keys.
constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{1} << 20;
constexpr std::uint16_t kGpsTimeBit = 1, kWktBit = 16, kTimeOffsetBit = 64;

[[noreturn]] void refuse(const platform::File& file, const std::string& why) {
  throw Error(ErrorCode::kInvalidFile, file.path() + ": " + why);
}

/// The point counts: the 64-bit ones of 1.4 if they are set, otherwise the legacy ones.
void read_point_counts(const std::uint8_t* raw, LasHeader& header) {
  header.legacy_point_count = load<std::uint32_t>(raw + 107);
  header.declared_point_count = header.legacy_point_count;
  for (std::size_t i = 0; i < 5; ++i) header.points_by_return[i] = load<std::uint32_t>(raw + 111 + 4 * i);
  if (header.version_minor >= 4) {
    const auto count = load<std::uint64_t>(raw + 247);
    if (count != 0 && header.legacy_point_count != 0 && count != header.legacy_point_count) {
      header.warnings.push_back("the header counts " + std::to_string(count) + " points at byte 247 but " +
                                std::to_string(header.legacy_point_count) +
                                " at byte 107; the first one is used");
    }
    if (count != 0) {
      header.declared_point_count = count;
      for (std::size_t i = 0; i < 15; ++i)
        header.points_by_return[i] = load<std::uint64_t>(raw + 255 + 8 * i);
    }
  }
}

/// Reads the public header block. Fields beyond the header's own length stay zero.
void read_public_header(const platform::File& file, LasHeader& header) {
  std::uint8_t raw[512] = {};
  const std::size_t got = file.read_at(0, raw, sizeof raw);
  if (got < 4 || std::memcmp(raw, "LASF", 4) != 0)
    refuse(file, "not a LAS file: it does not start with 'LASF'");
  if (got < kMinHeaderBytes) {
    refuse(file, "the file ends after " + std::to_string(got) + " bytes, inside the LAS header of 227");
  }
  header.version_major = raw[24];
  header.version_minor = raw[25];
  if (header.version_major != 1 || header.version_minor > 5) {
    throw Error(ErrorCode::kUnsupported, file.path() + ": LAS version " + std::to_string(raw[24]) + "." +
                                             std::to_string(raw[25]) +
                                             " (byte 24); versions 1.0 to 1.5 are read");
  }
  header.header_bytes = load<std::uint16_t>(raw + 94);
  if (header.header_bytes < kMinHeaderBytes) {
    refuse(file, "the header length at byte 94 is " + std::to_string(header.header_bytes) +
                     "; at least 227 is needed");
  }
  if (header.header_bytes < sizeof raw)
    std::memset(raw + header.header_bytes, 0, sizeof raw - header.header_bytes);
  const std::uint64_t usual = header.version_minor >= 5   ? 393
                              : header.version_minor == 4 ? 375
                              : header.version_minor == 3 ? 235
                                                          : 227;
  if (header.header_bytes < usual) {
    header.warnings.push_back("the header is " + std::to_string(header.header_bytes) + " bytes, LAS 1." +
                              std::to_string(header.version_minor) + " has " + std::to_string(usual) +
                              "; the missing fields count as zero");
  }
  header.file_source_id = load<std::uint16_t>(raw + 4);
  header.global_encoding = load<std::uint16_t>(raw + 6);
  header.system_identifier = fixed_text(raw + 26, 32);
  header.generating_software = fixed_text(raw + 58, 32);
  header.creation_day_of_year = load<std::uint16_t>(raw + 90);
  header.creation_year = load<std::uint16_t>(raw + 92);
  header.points_offset = load<std::uint32_t>(raw + 96);
  header.compressed = (raw[104] & 0xC0) != 0;
  header.point_format = raw[104] & 0x3F;
  header.record_bytes = load<std::uint16_t>(raw + 105);
  header.scale = {load<double>(raw + 131), load<double>(raw + 139), load<double>(raw + 147)};
  header.offset = {load<double>(raw + 155), load<double>(raw + 163), load<double>(raw + 171)};
  header.declared_bounds.max = {load<double>(raw + 179), load<double>(raw + 195), load<double>(raw + 211)};
  header.declared_bounds.min = {load<double>(raw + 187), load<double>(raw + 203), load<double>(raw + 219)};
  if (header.version_minor >= 3) header.waveform_offset = load<std::uint64_t>(raw + 227);
  read_point_counts(raw, header);
  if (header.version_minor >= 5) header.time_offset_megaseconds = load<std::uint16_t>(raw + 391);
}

void check_points_readable(const platform::File& file, const LasHeader& header) {
  if (header.point_format > kMaxPointFormat) {
    throw Error(ErrorCode::kUnsupported, file.path() + ": point format " +
                                             std::to_string(header.point_format) +
                                             " (byte 104); formats 0 to 10 are read");
  }
  const auto needed = kPointLayouts[header.point_format].bytes;
  if (header.record_bytes < needed) {
    refuse(file, "the record length at byte 105 is " + std::to_string(header.record_bytes) +
                     "; point format " + std::to_string(header.point_format) + " needs " +
                     std::to_string(needed) + " bytes");
  }
  if (header.points_offset < kMinHeaderBytes) {
    refuse(file, "the point data offset at byte 96 is " + std::to_string(header.points_offset) +
                     ", inside the header; the points cannot be found");
  }
  const double scales[3] = {header.scale.x, header.scale.y, header.scale.z};
  const double offsets[3] = {header.offset.x, header.offset.y, header.offset.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double reach = std::abs(scales[axis]) * 2147483648.0 + std::abs(offsets[axis]);
    if (!std::isfinite(reach) || scales[axis] == 0.0) {
      refuse(file, std::string("the ") + "xyz"[axis] + " scale " + number_text(scales[axis]) + " (byte " +
                       std::to_string(131 + 8 * axis) + ") or offset " + number_text(offsets[axis]) +
                       " (byte " + std::to_string(155 + 8 * axis) +
                       ") is zero, not finite or too large; no coordinate can be computed");
    }
  }
}

void read_vlrs(const platform::File& file, LasHeader& header) {
  std::uint8_t raw[kVlrHeaderBytes];
  std::uint8_t count_raw[4] = {};
  file.read_at(100, count_raw, sizeof count_raw);
  const auto declared = load<std::uint32_t>(count_raw);
  const std::uint64_t end = std::min<std::uint64_t>(header.points_offset, file.size());
  std::uint64_t at = header.header_bytes;
  std::uint32_t done = 0;
  for (; done < declared && done < kMaxListedRecords; ++done) {
    if (at > end || end - at < kVlrHeaderBytes || file.read_at(at, raw, sizeof raw) != sizeof raw) break;
    LasVlr vlr;
    vlr.payload_bytes = load<std::uint16_t>(raw + 20);
    vlr.payload_offset = at + kVlrHeaderBytes;
    if (vlr.payload_bytes > end - vlr.payload_offset) break;
    vlr.user_id = fixed_text(raw + 2, 16);
    vlr.record_id = load<std::uint16_t>(raw + 18);
    vlr.description = fixed_text(raw + 22, 32);
    at = vlr.payload_offset + vlr.payload_bytes;
    header.vlrs.push_back(std::move(vlr));
  }
  if (done < declared) {
    header.warnings.push_back("the header declares " + std::to_string(declared) +
                              " variable length records, but only " + std::to_string(done) +
                              " could be listed before byte " + std::to_string(at) +
                              "; the others are ignored");
  }
}

/// Lists the EVLRs. Returns the start of the first one if the whole chain is inside the file and after the start of the
/// points, otherwise 0.
std::uint64_t read_evlrs(const platform::File& file, LasHeader& header) {
  if (header.version_minor < 4 || header.header_bytes < 247) return 0;
  std::uint8_t raw[kEvlrHeaderBytes] = {};
  file.read_at(235, raw, 12);
  const auto start = load<std::uint64_t>(raw);
  const auto declared = load<std::uint32_t>(raw + 8);
  if (declared == 0) return 0;
  std::uint64_t at = start;
  std::uint32_t done = 0;
  bool sound = start >= header.points_offset && start <= file.size();
  for (; sound && done < declared && done < kMaxListedRecords; ++done) {
    sound = file.size() - at >= kEvlrHeaderBytes && file.read_at(at, raw, sizeof raw) == sizeof raw;
    if (!sound) break;
    LasVlr vlr;
    vlr.extended = true;
    vlr.payload_bytes = load<std::uint64_t>(raw + 20);
    vlr.payload_offset = at + kEvlrHeaderBytes;
    sound = vlr.payload_bytes <= file.size() - vlr.payload_offset;
    if (!sound) break;
    vlr.user_id = fixed_text(raw + 2, 16);
    vlr.record_id = load<std::uint16_t>(raw + 18);
    vlr.description = fixed_text(raw + 28, 32);
    at = vlr.payload_offset + vlr.payload_bytes;
    header.vlrs.push_back(std::move(vlr));
  }
  if (done < declared) {
    header.warnings.push_back("the header declares " + std::to_string(declared) +
                              " extended variable length records from byte " + std::to_string(start) +
                              ", but only " + std::to_string(done) +
                              " could be listed; the others are ignored");
  }
  return sound ? start : 0;
}

void count_points(const platform::File& file, std::uint64_t evlr_start, Opened& opened) {
  LasHeader& header = opened.header;
  std::uint64_t end = std::max<std::uint64_t>(file.size(), header.points_offset);
  if (evlr_start != 0) end = evlr_start;
  opened.points_end = end;
  if (header.compressed) return;
  const std::uint64_t fits = (end - header.points_offset) / header.record_bytes;
  header.present_point_count = std::min(fits, header.declared_point_count);
  if (header.present_point_count < header.declared_point_count) {
    header.warnings.push_back(
        "the file is incomplete: the header declares " + std::to_string(header.declared_point_count) +
        " points, but only " + std::to_string(fits) + " complete records of " +
        std::to_string(header.record_bytes) + " bytes lie between byte " +
        std::to_string(header.points_offset) + " and byte " + std::to_string(end) + "; " +
        std::to_string(header.declared_point_count - fits) + " points are missing");
  } else if (fits > header.declared_point_count && header.waveform_offset == 0) {
    header.warnings.push_back(
        std::to_string(end - header.points_offset - header.declared_point_count * header.record_bytes) +
        " bytes follow the last of the " + std::to_string(header.declared_point_count) +
        " declared points, room for " + std::to_string(fits - header.declared_point_count) +
        " more; they are not read");
  }
}

const LasVlr* find_record(const LasHeader& header, const char* user, std::uint16_t id) {
  for (const LasVlr& vlr : header.vlrs) {
    if (vlr.record_id == id && vlr.user_id == user) return &vlr;
  }
  return nullptr;
}

std::vector<std::uint8_t> payload(const platform::File& file, LasHeader& header, const LasVlr& vlr) {
  if (vlr.payload_bytes > kMaxPayloadBytes) {
    header.warnings.push_back("record " + vlr.user_id + " " + std::to_string(vlr.record_id) + " has " +
                              std::to_string(vlr.payload_bytes) + " bytes, more than 1 MiB; it is ignored");
    return {};
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(vlr.payload_bytes));
  bytes.resize(file.read_at(vlr.payload_offset, bytes.data(), bytes.size()));
  return bytes;
}

/// Of the first record of this kind.
std::vector<std::uint8_t> payload(const platform::File& file, LasHeader& header, const char* user,
                                  std::uint16_t id) {
  const LasVlr* vlr = find_record(header, user, id);
  return vlr == nullptr ? std::vector<std::uint8_t>{} : payload(file, header, *vlr);
}

/// The descriptors of all Extra Bytes records: the format allows one, but some programs append their dimensions in a
/// record of their own. A repeated record counts once; one that describes more bytes than the points have is left out.
std::vector<std::uint8_t> extra_descriptors(const platform::File& file, LasHeader& header) {
  const std::size_t present = header.record_bytes - kPointLayouts[header.point_format].bytes;
  std::vector<std::uint8_t> all;
  std::vector<std::vector<std::uint8_t>> seen;
  for (const LasVlr& vlr : std::vector<LasVlr>(header.vlrs)) {
    if (vlr.user_id != kSpecUser || vlr.record_id != kExtraBytesId) continue;
    std::vector<std::uint8_t> own = payload(file, header, vlr);
    own.resize(own.size() / kExtraBytesRecord * kExtraBytesRecord);
    if (std::find(seen.begin(), seen.end(), own) != seen.end()) continue;
    std::vector<std::uint8_t> both = all;
    both.insert(both.end(), own.begin(), own.end());
    if (!all.empty() && described_bytes({both.data(), both.size()}).value_or(present + 1) > present) {
      header.warnings.push_back(
          "a further Extra Bytes record describes more bytes than the points have; it is ignored");
      continue;
    }
    all = std::move(both);
    seen.push_back(std::move(own));
  }
  return all;
}

void read_crs(const platform::File& file, LasHeader& header) {
  const auto view = [](const std::vector<std::uint8_t>& bytes) {
    return Span<const std::uint8_t>{bytes.data(), bytes.size()};
  };
  LasCrs wkt, geotiff;
  const auto text = payload(file, header, kProjectionUser, kWktId);
  if (const auto end = std::find(text.begin(), text.end(), std::uint8_t{0}); end != text.begin()) {
    wkt = parse_wkt_crs(fixed_text(text.data(), text.size()));
  }
  const auto keys = payload(file, header, kProjectionUser, kGeoKeysId);
  if (!keys.empty()) {
    const auto doubles = payload(file, header, kProjectionUser, kGeoDoublesId);
    const auto ascii = payload(file, header, kProjectionUser, kGeoAsciiId);
    geotiff = parse_geotiff_crs(view(keys), view(doubles), view(ascii));
    geotiff.geotiff = {keys, doubles, ascii};
  }
  const bool wkt_first = (header.global_encoding & kWktBit) != 0 && header.version_minor >= 4;
  header.crs = wkt_first ? merge_crs(std::move(wkt), geotiff) : merge_crs(std::move(geotiff), wkt);
  for (auto& warning : header.crs.warnings) header.warnings.push_back(warning);
}

void read_gps_encoding(LasHeader& header) {
  if (header.point_format > kMaxPointFormat || kPointLayouts[header.point_format].gps_time == 0) return;
  const bool standard = header.version_minor >= 2 && (header.global_encoding & kGpsTimeBit) != 0;
  const bool offset_bit = header.version_minor >= 5 && (header.global_encoding & kTimeOffsetBit) != 0;
  header.gps_time_encoding = standard ? "adjusted_standard" : "gps_week";
  if (offset_bit && !standard) {
    header.warnings.push_back(
        "the header sets the time offset flag without the GPS time flag, which has no meaning;"
        " times are taken as GPS week time");
  }
  if (!(offset_bit && standard)) header.time_offset_megaseconds = 0;
}

void plan_fields(const platform::File& file, Opened& opened) {
  LasHeader& header = opened.header;
  for (const StandardField& standard : standard_fields(header.point_format)) {
    Field field;
    field.dimension = {standard.name, standard.description, false, standard.dtype, {}};
    field.stored = standard.dtype;
    field.offset = standard.offset;
    field.shift = standard.shift;
    field.bits = standard.bits;
    // LAS 1.5 offset time = standard GPS time - 10^6 x offset; adjusted standard time = standard GPS time - 10^9.
    if (field.dimension.name == "gps_time" && header.time_offset_megaseconds != 0) {
      field.scaled = true;
      field.shift_by = header.time_offset_megaseconds * 1e6 - 1e9;
    }
    opened.fields.push_back(std::move(field));
  }
  const auto descriptors = extra_descriptors(file, header);
  append_extra_fields({descriptors.data(), descriptors.size()}, kPointLayouts[header.point_format].bytes,
                      header.record_bytes, opened.fields, header.warnings);
  header.dimensions.reserve(opened.fields.size());
  for (const Field& field : opened.fields) header.dimensions.push_back(field.dimension);
}

}  // namespace

Opened open_las(const platform::File& file) {
  Opened opened;
  LasHeader& header = opened.header;
  read_public_header(file, header);
  check_points_readable(file, header);
  read_vlrs(file, header);
  const std::uint64_t evlr_start = read_evlrs(file, header);
  count_points(file, evlr_start, opened);
  read_crs(file, header);
  read_gps_encoding(header);
  plan_fields(file, opened);
  return opened;
}

}  // namespace las

LasHeader read_las_header(const std::string& path) {
  const auto file = platform::File::open_read(path);
  return std::move(las::open_las(file).header);
}

}  // namespace pc::io
