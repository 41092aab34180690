#include "io/e57_xml_write.h"

#include <charconv>

#include "core/error.h"
#include "io/xml_reader.h"

namespace pc::io::e57 {

namespace {

std::string exact(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// Character data; control characters, which XML cannot represent, become blanks.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

/// Appends elements of the standard's types.
class Xml {
 public:
  explicit Xml(std::string& out) : out_(out) {}

  void open(const std::string& name, const std::string& attributes) {
    out_ += "<" + name + " " + attributes + ">";
  }
  void structure(const std::string& name) { open(name, "type=\"Structure\""); }
  void vector(const std::string& name) { open(name, "type=\"Vector\" allowHeterogeneousChildren=\"1\""); }
  void close(const std::string& name) { out_ += "</" + name + ">\n"; }
  void text(const std::string& name, const std::string& value) {
    out_ += "<" + name + " type=\"String\">" + escaped(value) + "</" + name + ">\n";
  }
  void integer(const std::string& name, std::int64_t value) {
    out_ += "<" + name + " type=\"Integer\">" + std::to_string(value) + "</" + name + ">\n";
  }
  void real(const std::string& name, double value) {
    out_ += "<" + name + " type=\"Float\">" + exact(value) + "</" + name + ">\n";
  }
  /// An element of the prototype. A value lies within its own limits, which the reference implementation checks.
  void field(const E57Field& field) {
    if (field.type == E57FieldType::kInteger) {
      const std::string low = std::to_string(field.minimum);
      out_ += "<" + field.name + " type=\"Integer\" minimum=\"" + low + "\" maximum=\"" +
              std::to_string(field.maximum) + "\">" + low + "</" + field.name + ">\n";
      return;
    }
    const char* const precision = field.type == E57FieldType::kFloat32 ? " precision=\"single\"" : "";
    out_ += "<" + field.name + " type=\"Float\"" + precision + "/>\n";
  }

 private:
  std::string& out_;
};

void write_pose(Xml& xml, const Vec3d& position) {
  xml.structure("pose");
  xml.structure("rotation");
  xml.real("w", 1);
  xml.real("x", 0);
  xml.real("y", 0);
  xml.real("z", 0);
  xml.close("rotation");
  xml.structure("translation");
  xml.real("x", position.x);
  xml.real("y", position.y);
  xml.real("z", position.z);
  xml.close("translation");
  xml.close("pose");
}

const E57Field* find(const std::vector<WrittenField>& fields, const std::string& name) {
  for (const WrittenField& field : fields) {
    if (field.field.name == name) return &field.field;
  }
  return nullptr;
}

/// The limits of integer fields, as children of an element of their own.
void write_limits(Xml& xml, const std::string& element, const std::vector<WrittenField>& fields,
                  std::initializer_list<std::pair<const char*, const char*>> wanted) {
  bool opened = false;
  for (const auto& [name, prefix] : wanted) {
    const E57Field* field = find(fields, name);
    if (field == nullptr) continue;
    if (!opened) xml.structure(element);
    opened = true;
    xml.integer(std::string(prefix) + "Minimum", field->minimum);
    xml.integer(std::string(prefix) + "Maximum", field->maximum);
  }
  if (opened) xml.close(element);
}

void write_bounds(Xml& xml, const WrittenScan& scan) {
  if (!scan.bounds.empty()) {
    const Vec3d &low = scan.bounds.min, &high = scan.bounds.max;
    xml.structure("cartesianBounds");
    xml.real("xMinimum", low.x);
    xml.real("xMaximum", high.x);
    xml.real("yMinimum", low.y);
    xml.real("yMaximum", high.y);
    xml.real("zMinimum", low.z);
    xml.real("zMaximum", high.z);
    xml.close("cartesianBounds");
  }
  write_limits(xml, "indexBounds", scan.fields,
               {{"rowIndex", "row"}, {"columnIndex", "column"}, {"returnIndex", "return"}});
  write_limits(xml, "intensityLimits", scan.fields, {{"intensity", "intensity"}});
  write_limits(xml, "colorLimits", scan.fields,
               {{"colorRed", "colorRed"}, {"colorGreen", "colorGreen"}, {"colorBlue", "colorBlue"}});
}

void write_scan(Xml& xml, const WrittenScan& scan, const std::string& guid) {
  xml.structure("vectorChild");
  xml.text("guid", guid);
  xml.text("name", scan.name);
  if (scan.position) write_pose(xml, *scan.position);
  write_bounds(xml, scan);
  xml.open("points", "type=\"CompressedVector\" fileOffset=\"" + std::to_string(scan.section_offset) +
                         "\" recordCount=\"" + std::to_string(scan.records) + "\"");
  xml.structure("prototype");
  for (const WrittenField& field : scan.fields) xml.field(field.field);
  xml.close("prototype");
  xml.vector("codecs");
  xml.close("codecs");
  xml.close("points");
  xml.close("vectorChild");
}

}  // namespace

std::string xml_section(const E57WriteParams& params, const std::vector<WrittenScan>& scans) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  Xml xml(out);
  xml.open("e57Root",
           std::string("type=\"Structure\" xmlns=\"http://www.astm.org/COMMIT/E57/2010-e57-v1.0\" xmlns:") +
               std::string(kOwnPrefix, std::char_traits<char>::length(kOwnPrefix) - 1) + "=\"" +
               kOwnNamespace + "\"");
  xml.text("formatName", "ASTM E57 3D Imaging Data File");
  xml.text("guid", params.guid);
  xml.integer("versionMajor", 1);
  xml.integer("versionMinor", 0);
  xml.text("e57LibraryVersion", params.writer);
  xml.structure("creationDateTime");
  xml.real("dateTimeValue", params.creation_time_s);
  xml.integer("isAtomicClockReferenced", 0);
  xml.close("creationDateTime");
  if (!params.coordinate_metadata.empty()) xml.text("coordinateMetadata", params.coordinate_metadata);
  xml.vector("data3D");
  for (std::size_t i = 0; i < scans.size(); ++i) {
    write_scan(xml, scans[i], params.guid + "-" + std::to_string(i));
    if (out.size() <= XmlDocument::kMaxBytes) continue;
    throw Error(
        ErrorCode::kInvalidArgument,
        "the description of " + std::to_string(scans.size()) +
            " scans is larger than 64 MiB, which readers refuse; export fewer scans or columns at a time");
  }
  xml.close("data3D");
  xml.vector("images2D");
  xml.close("images2D");
  xml.close("e57Root");
  return out;
}

}  // namespace pc::io::e57
