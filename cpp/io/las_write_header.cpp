#include <algorithm>
#include <cmath>

#include "io/las_encode.h"
#include "io/laz/laz_items.h"

namespace pc::io::las {

namespace {

bool is_14(const LasWriteParams& params) { return params.version == LasVersion::k14; }
/// The GeoTIFF records to write: the given ones, or a directory for the EPSG code; in addition to WKT only if that
/// does not name the code.
GeotiffRecords geotiff_of(const LasWriteParams& params) {
  if (writes_wkt(params) && (params.epsg == 0 || parse_wkt_crs(params.wkt).epsg == params.epsg)) return {};
  if (writes_verbatim_geotiff(params)) return params.geotiff;
  if (params.epsg == 0) return {};
  return {geotiff_directory(params.epsg, params.epsg_is_geographic), {}, {}};
}

void put_text(std::uint8_t* to, const std::string& text, std::size_t bytes) {
  std::memcpy(to, text.data(), std::min(text.size(), bytes));
}

void append_vlr(std::vector<std::uint8_t>& out, const char* user, std::uint16_t id, const char* description,
                const std::vector<std::uint8_t>& payload) {
  const std::size_t at = out.size();
  out.resize(at + kVlrHeaderBytes);
  put_text(out.data() + at + 2, user, 16);
  store(out.data() + at + 18, id);
  store(out.data() + at + 20, static_cast<std::uint16_t>(payload.size()));
  put_text(out.data() + at + 22, description, 32);
  out.insert(out.end(), payload.begin(), payload.end());
}

/// Data types 1 to 10 of the Extra Bytes record.
std::uint8_t extra_type(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return 1;
    case DType::kI8:
      return 2;
    case DType::kU16:
      return 3;
    case DType::kI16:
      return 4;
    case DType::kU32:
      return 5;
    case DType::kI32:
      return 6;
    case DType::kU64:
      return 7;
    case DType::kI64:
      return 8;
    case DType::kF32:
      return 9;
    default:
      return 10;
  }
}

std::vector<std::uint8_t> extra_descriptors(const std::vector<ExtraDimension>& extras) {
  std::vector<std::uint8_t> bytes(extras.size() * kExtraBytesRecord);
  for (std::size_t i = 0; i < extras.size(); ++i) {
    std::uint8_t* at = bytes.data() + i * kExtraBytesRecord;
    at[2] = extra_type(extras[i].dtype);
    put_text(at + 4, extras[i].name, 32);
    put_text(at + 160, extras[i].description, 32);
    if (!extras[i].record) continue;
    const LasExtraRecord& record = *extras[i].record;
    at[3] = static_cast<std::uint8_t>((record.no_data_bits ? 1 : 0) | (record.scale ? 8 : 0) |
                                      (record.offset ? 16 : 0));
    if (record.no_data_bits) store(at + 40, *record.no_data_bits);
    if (record.scale) store(at + 112, *record.scale);
    if (record.offset) store(at + 136, *record.offset);
  }
  return bytes;
}

std::vector<std::uint8_t> records(const LasWriteParams& params, const RecordPlan& plan) {
  std::vector<std::uint8_t> out;
  if (writes_wkt(params)) {
    std::vector<std::uint8_t> text(params.wkt.begin(), params.wkt.end());
    text.push_back(0);
    append_vlr(out, kProjectionUser, kWktId, "OGC coordinate system WKT", text);
  }
  const GeotiffRecords geotiff = geotiff_of(params);
  const auto append_keys = [&](std::uint16_t id, const char* description,
                               const std::vector<std::uint8_t>& payload) {
    if (!payload.empty()) append_vlr(out, kProjectionUser, id, description, payload);
  };
  append_keys(kGeoKeysId, "GeoTIFF key directory", geotiff.directory);
  append_keys(kGeoDoublesId, "GeoTIFF double parameters", geotiff.doubles);
  append_keys(kGeoAsciiId, "GeoTIFF ASCII parameters", geotiff.ascii);
  if (!plan.extras.empty())
    append_vlr(out, kSpecUser, kExtraBytesId, "extra bytes", extra_descriptors(plan.extras));
  if (params.compressed) {
    append_vlr(out, laz::kVlrUser, laz::kVlrId, "compression of the points",
               laz::items_payload(plan.point_format, plan.record_bytes));
  }
  return out;
}

void put_counts(std::uint8_t* header, const HeaderFacts& facts) {
  if (is_14(facts.params)) {
    store(header + 247, facts.point_count);
    for (std::size_t i = 0; i < 15; ++i) store(header + 255 + 8 * i, facts.returns[i + 1]);
    // The legacy counts stay zero if they are not defined: formats 6 to 8, or a count above 32 bits.
    if (facts.plan.point_format >= 6 || facts.point_count > 0xFFFFFFFFULL) return;
  }
  store(header + 107, static_cast<std::uint32_t>(facts.point_count));
  for (std::size_t i = 0; i < 5; ++i)
    store(header + 111 + 4 * i, static_cast<std::uint32_t>(facts.returns[i + 1]));
}

std::uint32_t count_vlrs(const std::vector<std::uint8_t>& records) {
  std::uint32_t count = 0;
  for (std::size_t at = 0; at < records.size(); ++count)
    at += kVlrHeaderBytes + load<std::uint16_t>(records.data() + at + 20);
  return count;
}

}  // namespace

bool writes_wkt(const LasWriteParams& params) {
  return is_14(params) && !params.wkt.empty() && params.wkt.size() <= kMaxWktBytes;
}

bool writes_verbatim_geotiff(const LasWriteParams& params) {
  const auto fits = [](const std::vector<std::uint8_t>& payload) { return payload.size() <= 65535; };
  return !params.geotiff.directory.empty() && fits(params.geotiff.directory) &&
         fits(params.geotiff.doubles) && fits(params.geotiff.ascii);
}

std::size_t header_length(const LasWriteParams& params, const RecordPlan& plan) {
  return (is_14(params) ? kHeaderBytes14 : kHeaderBytes12) + records(params, plan).size();
}

std::vector<std::uint8_t> header_bytes(const HeaderFacts& facts) {
  const LasWriteParams& params = facts.params;
  const auto length = is_14(params) ? kHeaderBytes14 : kHeaderBytes12;
  const std::vector<std::uint8_t> vlrs = records(params, facts.plan);
  std::vector<std::uint8_t> out(length);
  std::uint8_t* at = out.data();
  std::memcpy(at, "LASF", 4);
  // Global encoding (1.4 table 4): bit 0 GPS time type, bit 3 synthetic return numbers, bit 4 CRS is WKT (always set
  // for formats 6+, which readers otherwise reject).
  const bool synthetic = !facts.plan.has_return_number && !facts.plan.has_return_count;
  const bool wkt_flag = writes_wkt(params) || facts.plan.point_format >= 6;
  store(at + 6, static_cast<std::uint16_t>((params.adjusted_standard_time ? 1 : 0) | (wkt_flag ? 16 : 0) |
                                           (is_14(params) && synthetic ? 8 : 0)));
  at[24] = 1;
  at[25] = is_14(params) ? 4 : 2;
  put_text(at + 26, params.system_identifier, 32);
  put_text(at + 58, params.generating_software, 32);
  store(at + 90, static_cast<std::uint16_t>(params.creation_day_of_year));
  store(at + 92, static_cast<std::uint16_t>(params.creation_year));
  store(at + 94, static_cast<std::uint16_t>(length));
  store(at + 96, static_cast<std::uint32_t>(length + vlrs.size()));
  store(at + 100, count_vlrs(vlrs));
  at[104] = static_cast<std::uint8_t>(facts.plan.point_format | (params.compressed ? kCompressedBit : 0));
  store(at + 105, static_cast<std::uint16_t>(facts.plan.record_bytes));
  store(at + 131, facts.scale);
  store(at + 155, facts.offset);
  const Box3d& b = facts.bounds;
  const double extrema[6] = {b.max.x, b.min.x, b.max.y, b.min.y, b.max.z, b.min.z};
  std::memcpy(at + 179, extrema, sizeof extrema);
  put_counts(at, facts);
  out.insert(out.end(), vlrs.begin(), vlrs.end());
  return out;
}

}  // namespace pc::io::las
