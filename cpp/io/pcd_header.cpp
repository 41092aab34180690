#include <algorithm>
#include <charconv>
#include <optional>

#include "io/header_lines.h"
#include "io/pcd.h"
#include "io/record_table.h"
#include "io/record_value.h"

namespace pc::io {

namespace {

constexpr std::uint32_t kMaxPadding = 1 << 16;

using Words = std::vector<std::string>;

/// The header's entries as read; checked at the DATA entry, which ends the header.
struct Entries {
  Words fields, sizes, types, counts;
  std::optional<std::uint64_t> width, height, points;
  Words viewpoint;
};

template <class T>
T whole_number(const HeaderLines& lines, const std::string& key, const std::string& word) {
  T value{};
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || stop != word.data() + word.size()) {
    lines.fail(key + " " + quoted(word) + " must be a whole number, 0 or more");
  }
  return value;
}

std::uint64_t single(const HeaderLines& lines, const Words& words) {
  if (words.size() != 2) lines.fail(words[0] + " must have one value");
  return whole_number<std::uint64_t>(lines, words[0], words[1]);
}

DType type_of(const HeaderLines& lines, const std::string& type, const std::string& size) {
  static constexpr struct {
    char type;
    char size;
    DType dtype;
  } kTypes[] = {{'I', '1', DType::kI8},  {'U', '1', DType::kU8},  {'I', '2', DType::kI16},
                {'U', '2', DType::kU16}, {'I', '4', DType::kI32}, {'U', '4', DType::kU32},
                {'I', '8', DType::kI64}, {'U', '8', DType::kU64}, {'F', '4', DType::kF32},
                {'F', '8', DType::kF64}};
  for (const auto& entry : kTypes) {
    if (type.size() == 1 && size.size() == 1 && type[0] == entry.type && size[0] == entry.size)
      return entry.dtype;
  }
  lines.fail("TYPE " + quoted(type) + " with SIZE " + quoted(size) +
             " is not a PCD type (I U with 1 2 4 8, F with 4 8)");
}

/// Reads one entry. False at DATA.
bool read_entry(const HeaderLines& lines, const Words& words, Entries& entries, PcdHeader& header) {
  const std::string& key = words[0];
  const Words values(words.begin() + 1, words.end());
  if (key == "VERSION") {
    header.version = values.empty() ? "" : values[0];
    static constexpr const char* kVersions[] = {".7", "0.7", ".6", "0.6", ".5", "0.5"};
    if (std::find(std::begin(kVersions), std::end(kVersions), header.version) == std::end(kVersions)) {
      throw Error(ErrorCode::kUnsupported, lines.path() + ", line " + std::to_string(lines.line_number()) +
                                               ": PCD version " + quoted(header.version) +
                                               " is not supported, only .5, .6 and .7");
    }
  } else if (key == "FIELDS" || key == "COLUMNS") {
    entries.fields = values;
  } else if (key == "SIZE") {
    entries.sizes = values;
  } else if (key == "TYPE") {
    entries.types = values;
  } else if (key == "COUNT") {
    entries.counts = values;
  } else if (key == "WIDTH") {
    entries.width = single(lines, words);
  } else if (key == "HEIGHT") {
    entries.height = single(lines, words);
  } else if (key == "POINTS") {
    entries.points = single(lines, words);
  } else if (key == "VIEWPOINT") {
    entries.viewpoint = values;
  } else if (key == "DATA") {
    const std::string kind = values.empty() ? "" : values[0];
    if (kind != "ascii" && kind != "binary" && kind != "binary_compressed") {
      lines.fail("DATA " + quoted(kind) + " is not known (ascii, binary, binary_compressed)");
    }
    header.data = kind == "ascii"    ? PcdData::kAscii
                  : kind == "binary" ? PcdData::kBinary
                                     : PcdData::kBinaryCompressed;
    return false;
  } else {
    lines.fail(quoted(key) +
               " is not a PCD header entry; a PCD file starts with VERSION, FIELDS, SIZE, TYPE, COUNT, " +
               "WIDTH, HEIGHT, VIEWPOINT, POINTS and DATA");
  }
  return true;
}

void check_fields(const HeaderLines& lines, const Entries& entries, PcdHeader& header) {
  const std::size_t n = entries.fields.size();
  if (n == 0) lines.fail("the header has no FIELDS");
  if (entries.sizes.size() != n || entries.types.size() != n ||
      (!entries.counts.empty() && entries.counts.size() != n)) {
    lines.fail("FIELDS has " + std::to_string(n) + " entries, SIZE " + std::to_string(entries.sizes.size()) +
               ", TYPE " + std::to_string(entries.types.size()) + ", COUNT " +
               std::to_string(entries.counts.size()) + "; they must be as many");
  }
  std::uint64_t values = 0;
  for (std::size_t i = 0; i < n; ++i) {
    PcdField field;
    field.name = entries.fields[i];
    field.type = type_of(lines, entries.types[i], entries.sizes[i]);
    if (!entries.counts.empty()) field.count = whole_number<std::uint32_t>(lines, "COUNT", entries.counts[i]);
    const std::uint64_t limit = field.padding() ? kMaxPadding : kMaxColumns;
    values += field.padding() ? 0 : field.count;
    if (field.count > limit || values > kMaxColumns || i >= 2 * kMaxColumns) {
      lines.fail("more than " + std::to_string(kMaxColumns) + " values per point are declared (at field " +
                 quoted(field.name) + ", COUNT " + std::to_string(field.count) + ")");
    }
    header.fields.push_back(std::move(field));
  }
}

void check_counts(const HeaderLines& lines, const Entries& entries, PcdHeader& header) {
  header.height = entries.height.value_or(1);
  if (!entries.width && !entries.points) lines.fail("the header has neither POINTS nor WIDTH");
  header.width = entries.width ? *entries.width : *entries.points;
  const bool fits = header.height == 0 || header.width <= kAllRows / header.height;
  const std::uint64_t grid = fits ? header.width * header.height : kAllRows;
  header.points = entries.points.value_or(grid);
  if (entries.width && header.points != grid) {
    header.warnings.push_back("POINTS is " + std::to_string(header.points) + ", WIDTH x HEIGHT is " +
                              std::to_string(header.width) + " x " + std::to_string(header.height) +
                              "; POINTS is used");
  }
}

void check_viewpoint(const HeaderLines& lines, const Words& words, PcdHeader& header) {
  if (words.empty()) return;
  double values[7] = {};
  bool good = words.size() == 7;
  for (std::size_t i = 0; good && i < 7; ++i) {
    const std::string& word = words[i];
    good = record_value::parse_double(word.data(), word.data() + word.size(), values[i]) &&
           std::isfinite(values[i]);
  }
  if (!good) lines.fail("VIEWPOINT must be seven finite numbers: tx ty tz qw qx qy qz");
  header.has_viewpoint = true;
  header.viewpoint = {values[0], values[1], values[2]};
  header.orientation = {values[3], values[4], values[5], values[6]};
}

}  // namespace

PcdHeader read_pcd_header(const platform::File& file) {
  HeaderLines lines(file, "PCD header");
  PcdHeader header;
  Entries entries;
  for (;;) {
    const std::string line = lines.next();
    if (line.empty() || line[0] == '#') continue;
    if (!read_entry(lines, split_words(line), entries, header)) break;
  }
  check_fields(lines, entries, header);
  check_counts(lines, entries, header);
  check_viewpoint(lines, entries.viewpoint, header);
  header.body_offset = lines.offset();
  header.line_count = lines.line_number();
  header.line_end = lines.line_end() == 0 ? '\n' : lines.line_end();
  return header;
}

PcdHeader read_pcd_header(const std::string& path) {
  return read_pcd_header(platform::File::open_read(path));
}

}  // namespace pc::io
