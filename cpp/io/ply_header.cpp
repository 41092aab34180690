#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "io/header_lines.h"
#include "io/ply.h"
#include "io/record_lines.h"
#include "io/record_table.h"
#include "io/record_value.h"

namespace pc::io {

namespace {

constexpr std::size_t kMaxElements = 1024;

std::optional<DType> type_of(const std::string& word) {
  static constexpr struct {
    const char* name;
    DType type;
  } kTypes[] = {
      {"char", DType::kI8},   {"int8", DType::kI8},     {"uchar", DType::kU8},   {"uint8", DType::kU8},
      {"short", DType::kI16}, {"int16", DType::kI16},   {"ushort", DType::kU16}, {"uint16", DType::kU16},
      {"int", DType::kI32},   {"int32", DType::kI32},   {"uint", DType::kU32},   {"uint32", DType::kU32},
      {"float", DType::kF32}, {"float32", DType::kF32}, {"double", DType::kF64}, {"float64", DType::kF64},
      {"int64", DType::kI64}, {"long", DType::kI64},    {"uint64", DType::kU64}, {"ulong", DType::kU64}};
  for (const auto& entry : kTypes) {
    if (word == entry.name) return entry.type;
  }
  return std::nullopt;
}

/// Joins the words from `first` on to one name: some writers use blanks in property names.
std::string joined(const std::vector<std::string>& words, std::size_t first) {
  std::string name;
  for (std::size_t i = first; i < words.size(); ++i) name += (i == first ? "" : " ") + words[i];
  return name;
}

DType known_type(const HeaderLines& lines, const std::string& word) {
  const std::optional<DType> type = type_of(word);
  if (!type) lines.fail(quoted(word) + " is not a PLY type (char uchar short ushort int uint float double)");
  return *type;
}

void read_format(const HeaderLines& lines, const std::vector<std::string>& words, PlyHeader& header) {
  if (words.size() != 3) lines.fail("expected: format ascii|binary_little_endian|binary_big_endian 1.0");
  if (words[1] == "ascii") {
    header.format = PlyFormat::kAscii;
  } else if (words[1] == "binary_little_endian") {
    header.format = PlyFormat::kBinaryLittleEndian;
  } else if (words[1] == "binary_big_endian") {
    header.format = PlyFormat::kBinaryBigEndian;
  } else {
    lines.fail("unknown PLY format " + quoted(words[1]));
  }
  if (words[2] != "1.0") lines.fail("PLY version " + quoted(words[2]) + " is not supported, only 1.0");
}

void read_element(const HeaderLines& lines, const std::vector<std::string>& words, PlyHeader& header) {
  if (words.size() < 3) lines.fail("expected: element <name> <count>");
  PlyElement element;
  element.name = words[1];
  const std::string& count = words[2];
  const auto [stop, error] = std::from_chars(count.data(), count.data() + count.size(), element.count);
  if (error != std::errc{} || stop != count.data() + count.size()) {
    lines.fail("the count of element " + quoted(element.name) + " is " + quoted(count) +
               ", it must be a whole number, 0 or more");
  }
  if (header.elements.size() == kMaxElements) lines.fail("more than 1024 elements are declared");
  header.elements.push_back(std::move(element));
}

void read_property(const HeaderLines& lines, const std::vector<std::string>& words, PlyHeader& header) {
  if (header.elements.empty()) lines.fail("a property before the first element");
  PlyElement& element = header.elements.back();
  PlyProperty property;
  property.is_list = words.size() > 1 && words[1] == "list";
  const std::size_t name_at = property.is_list ? 4 : 2;
  if (words.size() <= name_at) {
    lines.fail("expected: property <type> <name> or property list <count type> <type> <name>, not " +
               quoted(joined(words, 0)));
  }
  property.type = known_type(lines, words[name_at - 1]);
  if (property.is_list) {
    property.count_type = known_type(lines, words[2]);
    if (property.count_type == DType::kF32 || property.count_type == DType::kF64) {
      lines.fail("the count of list " + quoted(words[4]) + " must have an integer type");
    }
  }
  property.name = joined(words, name_at);
  if (element.properties.size() == kMaxColumns) {
    lines.fail("element " + quoted(element.name) + " declares more than " + std::to_string(kMaxColumns) +
               " properties");
  }
  element.properties.push_back(std::move(property));
}

}  // namespace

const PlyElement* PlyHeader::vertex() const {
  for (const PlyElement& element : elements) {
    if (same_name(element.name, "vertex")) return &element;
  }
  return nullptr;
}

PlyHeader read_ply_header(const platform::File& file) {
  char magic[4] = {};
  const std::size_t got = file.read_at(0, magic, 4);
  if (got < 3 || std::string_view(magic, 3) != "ply" || (got == 4 && !record_value::is_blank(magic[3]))) {
    throw Error(ErrorCode::kInvalidFile,
                file.path() + ", line 1: a PLY file starts with \"ply\", this one does not");
  }
  HeaderLines lines(file, "PLY header");
  PlyHeader header;
  lines.next();
  bool format_seen = false;
  for (;;) {
    const std::string line = lines.next();
    const std::vector<std::string> words = split_words(line);
    if (words.empty()) continue;
    if (words[0] == "end_header") break;
    if (words[0] == "comment" || words[0] == "obj_info") {
      header.comments.push_back(joined(words, 1));
    } else if (words[0] == "format") {
      read_format(lines, words, header);
      format_seen = true;
    } else if (words[0] == "element") {
      read_element(lines, words, header);
    } else if (words[0] == "property") {
      read_property(lines, words, header);
    } else {
      lines.fail(quoted(words[0]) + " is not a PLY header keyword");
    }
  }
  if (!format_seen) lines.fail("the header has no format line");
  header.body_offset = lines.offset();
  header.line_count = lines.line_number();
  header.line_end = lines.line_end() == 0 ? '\n' : lines.line_end();
  return header;
}

PlyHeader read_ply_header(const std::string& path) {
  return read_ply_header(platform::File::open_read(path));
}

}  // namespace pc::io
