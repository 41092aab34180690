#include <bit>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/e57_pages.h"
#include "io/header_lines.h"
#include "io/record_value.h"
#include "io/xml_reader.h"

namespace pc::io {

namespace e57 {

namespace {

constexpr std::size_t kMaxScans = 65535;  // scan_index is 16 bits wide
constexpr std::size_t kMaxWarnings = 100;

/// Reads values of the XML section; messages name the element and its byte.
class ValueReader {
 public:
  explicit ValueReader(const std::string& path) : path_(path) {}

  [[noreturn]] void fail(const XmlElement& element, const std::string& problem) const {
    throw Error(ErrorCode::kInvalidFile, path_ + ", XML byte " + std::to_string(element.offset()) +
                                             ", element " + quoted(std::string(element.name())) + ": " +
                                             problem);
  }
  double real(const XmlElement& element, const std::string& text) const {
    double value = 0;
    const std::string word = trimmed(text);
    if (word.empty()) return 0;  // an empty number element means zero (tables 2 to 4)
    if (!record_value::parse_double(word.data(), word.data() + word.size(), value) || !std::isfinite(value)) {
      fail(element, quoted(word) + " must be a finite number");
    }
    return value;
  }
  std::int64_t integer(const XmlElement& element, const std::string& text) const {
    std::int64_t value = 0;
    const std::string word = trimmed(text);
    if (word.empty()) return 0;
    if (!record_value::parse_integer(word.data(), word.data() + word.size(), value)) {
      fail(element, quoted(word) + " must be a 64-bit integer");
    }
    return value;
  }
  /// A number element of any type; ScaledInteger with scale and offset applied.
  double number(const XmlElement& element) const {
    const double value = real(element, element.text());
    if (element.attribute("type").value_or("") != "ScaledInteger") return value;
    return value * real(element, element.attribute("scale").value_or("1")) +
           real(element, element.attribute("offset").value_or("0"));
  }
  std::optional<double> number(const XmlElement& parent, const char* name) const {
    const auto element = parent.child(name);
    return element ? std::optional<double>(number(*element)) : std::nullopt;
  }
  /// As number(), for informative values: writers store "nan" and the like in them, and the points do not depend on
  /// them.
  std::optional<double> hint(const XmlElement& parent, const char* name) const {
    try {
      return number(parent, name);
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  std::optional<std::int64_t> whole_hint(const XmlElement& parent, const char* name) const {
    const auto value = hint(parent, name);
    const bool fits = value && std::abs(*value) < 0x1p53 && *value == std::floor(*value);
    return fits ? std::optional<std::int64_t>(static_cast<std::int64_t>(*value)) : std::nullopt;
  }
  std::optional<E57Limits> limits(const XmlElement& parent, const char* minimum, const char* maximum) const {
    const auto low = hint(parent, minimum), high = hint(parent, maximum);
    return low && high ? std::optional<E57Limits>({*low, *high}) : std::nullopt;
  }
  std::uint64_t unsigned_attribute(const XmlElement& element, const char* name) const {
    const auto text = element.attribute(name);
    std::uint64_t value = 0;
    if (!text) fail(element, std::string("attribute ") + name + " is missing");
    const std::string word = trimmed(*text);
    if (!record_value::parse_integer(word.data(), word.data() + word.size(), value)) {
      fail(element, std::string(name) + " " + quoted(word) + " must be a whole number, 0 or more");
    }
    return value;
  }

 private:
  static std::string trimmed(const std::string& text) {
    const char* const end = text.data() + text.size();
    const char* const first = record_value::skip_blanks(text.data(), end);
    const char* last = end;
    while (last != first && record_value::is_blank(last[-1])) --last;
    return {first, last};
  }
  const std::string& path_;
};

std::string string_of(const XmlElement& parent, const char* name) {
  const auto element = parent.child(name);
  return element ? element->text() : std::string();
}

E57Field field_of(const ValueReader& values, const XmlElement& element, std::string name) {
  E57Field field;
  field.name = std::move(name);
  const std::string type = element.attribute("type").value_or("");
  if (type == "Float") {
    const std::string precision = element.attribute("precision").value_or("double");
    if (precision != "single" && precision != "double") {
      values.fail(element, "precision " + quoted(precision) + " must be single or double");
    }
    field.type = precision == "single" ? E57FieldType::kFloat32 : E57FieldType::kFloat64;
    field.bits = precision == "single" ? 32 : 64;
    return field;
  }
  if (type == "String") {
    field.type = E57FieldType::kString;
    return field;
  }
  if (type != "Integer" && type != "ScaledInteger") {
    values.fail(element, "type " + quoted(type) +
                             " is not a type of a point's value (Integer, ScaledInteger, Float, String)");
  }
  field.type = type == "Integer" ? E57FieldType::kInteger : E57FieldType::kScaledInteger;
  const auto minimum = element.attribute("minimum"), maximum = element.attribute("maximum");
  field.minimum = minimum ? values.integer(element, *minimum) : std::numeric_limits<std::int64_t>::min();
  field.maximum = maximum ? values.integer(element, *maximum) : std::numeric_limits<std::int64_t>::max();
  if (field.maximum < field.minimum) values.fail(element, "its maximum is below its minimum");
  // The number of bits of the largest difference from the minimum (bitPackCodec).
  field.bits = static_cast<unsigned>(
      std::bit_width(static_cast<std::uint64_t>(field.maximum) - static_cast<std::uint64_t>(field.minimum)));
  if (field.type == E57FieldType::kScaledInteger) {
    field.scale = values.real(element, element.attribute("scale").value_or("1"));
    field.offset = values.real(element, element.attribute("offset").value_or("0"));
  }
  return field;
}

/// Appends the terminals below `parent` in document order, which is also the order of their byte streams. The
/// recursion is bounded because the depth of the XML is. own_columns: names lose kOwnPrefix.
void collect_fields(const ValueReader& values, const XmlElement& parent, const std::string& prefix,
                    bool own_columns, std::vector<E57Field>& fields) {
  for (auto child = parent.first_child(); child; child = child->next_sibling()) {
    std::string_view local = child->name();
    if (own_columns && local.starts_with(kOwnPrefix))
      local.remove_prefix(std::string_view(kOwnPrefix).size());
    std::string name = prefix + std::string(local);
    if (name.size() > kE57MaxNameBytes)
      values.fail(*child, "a field's name is longer than " + std::to_string(kE57MaxNameBytes) + " bytes");
    if (child->attribute("type") == "Structure" || child->attribute("type") == "Vector") {
      collect_fields(values, *child, name + "/", own_columns, fields);
      continue;
    }
    if (fields.size() == kE57MaxFields) values.fail(*child, "a point has more than 1024 fields");
    fields.push_back(field_of(values, *child, std::move(name)));
  }
}

void read_points(const ValueReader& values, const std::string& path, const XmlElement& points,
                 bool own_columns, E57Scan& scan) {
  scan.section_offset = values.unsigned_attribute(points, "fileOffset");
  scan.point_count = values.unsigned_attribute(points, "recordCount");
  const auto prototype = points.child("prototype");
  if (!prototype) values.fail(points, "it has no prototype, so the points cannot be decoded");
  collect_fields(values, *prototype, "", own_columns, scan.fields);
  std::set<std::string_view> names;
  for (const E57Field& field : scan.fields) {
    if (!names.insert(field.name).second) {
      values.fail(*prototype, "field " + quoted(field.name) + " is declared twice");
    }
  }
  const auto codecs = points.child("codecs");
  for (auto codec = codecs ? codecs->first_child() : std::nullopt; codec; codec = codec->next_sibling()) {
    for (auto part = codec->first_child(); part; part = part->next_sibling()) {
      if (part->name() == "inputs" || part->name() == "bitPackCodec") continue;
      throw Error(ErrorCode::kUnsupported,
                  path + ", XML byte " + std::to_string(part->offset()) + ": codec " +
                      quoted(std::string(part->name())) +
                      " is not supported, only bitPackCodec; export the file without it");
    }
  }
}

/// Limits the number of warnings: a damaged file may give one for each of its scans.
void warn(std::vector<std::string>& warnings, std::string text) {
  if (warnings.size() < kMaxWarnings) warnings.push_back(std::move(text));
  if (warnings.size() == kMaxWarnings) warnings.back() = "more warnings are left out";
}

void read_pose(const ValueReader& values, const XmlElement& pose, const std::string& scan_label,
               E57Scan& scan, std::vector<std::string>& warnings) {
  scan.has_pose = true;
  if (const auto place = pose.child("translation")) {
    scan.translation = {values.number(*place, "x").value_or(0), values.number(*place, "y").value_or(0),
                        values.number(*place, "z").value_or(0)};
  }
  const auto rotation = pose.child("rotation");
  if (!rotation) return;
  static constexpr const char* kParts[4] = {"w", "x", "y", "z"};
  double squares = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto part = values.number(*rotation, kParts[i]);
    if (!part)
      values.fail(*rotation, std::string("a quaternion needs w, x, y and z; ") + kParts[i] + " is missing");
    scan.rotation[i] = *part;
    squares += *part * *part;
  }
  const double norm = std::sqrt(squares);
  if (!(norm > 0) || !std::isfinite(norm)) {
    values.fail(*rotation, "the quaternion is zero or too large and turns nothing; correct the pose");
  }
  if (std::abs(norm - 1) > 1e-6) {
    warn(warnings, scan_label + ": the pose's quaternion has length " + std::to_string(norm) +
                       ", not 1; it was normalised");
  }
  for (double& part : scan.rotation) part /= norm;
}

void read_bounds(const ValueReader& values, const XmlElement& element, E57Scan& scan) {
  if (const auto box = element.child("cartesianBounds")) {
    const auto x = values.limits(*box, "xMinimum", "xMaximum"),
               y = values.limits(*box, "yMinimum", "yMaximum"),
               z = values.limits(*box, "zMinimum", "zMaximum");
    if (x && y && z) {
      scan.cartesian_bounds =
          Box3d{{x->minimum, y->minimum, z->minimum}, {x->maximum, y->maximum, z->maximum}};
    }
  }
  if (const auto bounds = element.child("sphericalBounds")) {
    scan.spherical_bounds =
        E57SphericalBounds{values.limits(*bounds, "rangeMinimum", "rangeMaximum"),
                           values.limits(*bounds, "elevationMinimum", "elevationMaximum"),
                           values.hint(*bounds, "azimuthStart"), values.hint(*bounds, "azimuthEnd")};
  }
  if (const auto bounds = element.child("indexBounds")) {
    scan.index_bounds = E57IndexBounds{
        values.whole_hint(*bounds, "rowMinimum"), values.whole_hint(*bounds, "rowMaximum"),
        values.whole_hint(*bounds, "columnMinimum"), values.whole_hint(*bounds, "columnMaximum")};
  }
  if (const auto limits = element.child("intensityLimits")) {
    scan.intensity_limits = values.limits(*limits, "intensityMinimum", "intensityMaximum");
  }
  if (const auto limits = element.child("colorLimits")) {
    const auto red = values.limits(*limits, "colorRedMinimum", "colorRedMaximum"),
               green = values.limits(*limits, "colorGreenMinimum", "colorGreenMaximum"),
               blue = values.limits(*limits, "colorBlueMinimum", "colorBlueMaximum");
    if (red && green && blue) scan.color_limits = std::array<E57Limits, 3>{*red, *green, *blue};
  }
}

E57Scan read_scan(const ValueReader& values, const std::string& path, const XmlElement& element,
                  const std::string& label, bool own_columns, std::vector<std::string>& warnings) {
  E57Scan scan;
  scan.name = string_of(element, "name");
  scan.guid = string_of(element, "guid");
  scan.description = string_of(element, "description");
  scan.sensor_vendor = string_of(element, "sensorVendor");
  scan.sensor_model = string_of(element, "sensorModel");
  if (const auto pose = element.child("pose")) read_pose(values, *pose, label, scan, warnings);
  read_bounds(values, element, scan);
  if (const auto start = element.child("acquisitionStart")) {
    scan.acquisition_start_s = values.hint(*start, "dateTimeValue");
  }
  const auto points = element.child("points");
  if (!points) {
    warn(warnings, label + " has no points element and is empty");
  } else {
    read_points(values, path, *points, own_columns, scan);
  }
  return scan;
}

XmlDocument parse_xml(const Pages& pages, std::uint64_t xml_offset, std::uint64_t xml_bytes) {
  const std::uint64_t begin = pages.to_logical(xml_offset, "the XML section");
  if (xml_bytes > pages.size() - begin) {
    throw Error(ErrorCode::kInvalidFile, pages.path() + ": the XML section has " + std::to_string(xml_bytes) +
                                             " bytes, " + std::to_string(pages.size() - begin) +
                                             " follow byte " + std::to_string(xml_offset) +
                                             "; the file is damaged or cut off, copy it again");
  }
  if (xml_bytes > XmlDocument::kMaxBytes) {
    throw Error(ErrorCode::kInvalidFile, pages.path() + ": the XML section has " + std::to_string(xml_bytes) +
                                             " bytes, at most " + std::to_string(XmlDocument::kMaxBytes) +
                                             " are read");
  }
  BulkVector<char> text(static_cast<std::size_t>(xml_bytes));
  std::vector<std::byte> scratch;
  pages.read(begin, text.size(), reinterpret_cast<std::byte*>(text.data()), scratch);
  return XmlDocument::parse(std::move(text), pages.path() + ", XML section");
}

/// Whether scans with times begin at different moments: timeStamp counts from the start of its scan (ASTM E2807, 8.4.3).
bool clocks_differ(const std::vector<E57Scan>& scans) {
  std::optional<double> first;
  for (const E57Scan& scan : scans) {
    if (scan.field("timeStamp") == nullptr || !scan.acquisition_start_s) continue;
    if (first && *first != *scan.acquisition_start_s) return true;
    first = scan.acquisition_start_s;
  }
  return false;
}

}  // namespace

E57Header read_header(const Pages& pages, const FileHeader& file_header) {
  const XmlDocument document = parse_xml(pages, file_header.xml_offset, file_header.xml_bytes);
  const XmlElement root = document.root();
  const ValueReader values(pages.path());
  if (root.name() != "e57Root") values.fail(root, "the root element of an E57 file is e57Root");
  E57Header header;
  header.version_major = file_header.version_major;
  header.version_minor = file_header.version_minor;
  header.guid = string_of(root, "guid");
  header.writer_version = string_of(root, "e57LibraryVersion");
  header.coordinate_metadata = string_of(root, "coordinateMetadata");
  if (const auto time = root.child("creationDateTime"))
    header.creation_time_s = values.hint(*time, "dateTimeValue");
  const std::string prefix(kOwnPrefix, std::string_view(kOwnPrefix).size() - 1);
  const bool own_columns = root.attribute("xmlns:" + prefix) == kOwnNamespace;
  const auto scans = root.child("data3D");
  std::size_t count = 0;
  for (auto scan = scans ? scans->first_child() : std::nullopt; scan; scan = scan->next_sibling()) {
    if (scan->attribute("type") != "Structure") values.fail(*scan, "an entry of data3D must be a Structure");
    if (++count > kMaxScans) values.fail(*scan, "the file has more than 65535 scans");
  }
  header.scans.reserve(count);
  for (auto scan = scans ? scans->first_child() : std::nullopt; scan; scan = scan->next_sibling()) {
    const std::string label = "scan " + std::to_string(header.scans.size());
    header.scans.push_back(read_scan(values, pages.path(), *scan, label, own_columns, header.warnings));
  }
  if (clocks_differ(header.scans))
    warn(header.warnings,
         "times count from the start of each scan, and the scans begin at different moments: times of "
         "different "
         "scans overlap and do not compare");
  const auto images = root.child("images2D");
  for (auto image = images ? images->first_child() : std::nullopt; image; image = image->next_sibling()) {
    ++header.image_count;
  }
  if (header.image_count != 0) {
    header.warnings.push_back(std::to_string(header.image_count) + " image(s) in the file are not imported");
  }
  return header;
}

}  // namespace e57

const E57Field* E57Scan::field(const std::string& name) const {
  for (const E57Field& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

E57Header read_e57_header(const std::string& path) {
  const auto file = platform::File::open_read(path);
  const e57::FileHeader file_header = e57::read_file_header(file);
  return e57::read_header(e57::Pages(file, file_header.physical_bytes), file_header);
}

}  // namespace pc::io
