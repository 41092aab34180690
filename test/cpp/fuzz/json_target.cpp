#include <string>
#include <vector>

#include "core/error.h"
#include "core/platform.h"
#include "fuzz/fuzz_target.h"
#include "io/decimal.h"
#include "io/json_lists.h"

namespace pc::fuzz {

namespace {

using Kind = io::JsonShape::Kind;

/// Rows of four: an id, a radius and the lengths of two lists.
std::vector<io::RecordField> shoot_fields() {
  using FieldKind = io::RecordField::Kind;
  std::vector<io::RecordField> fields(4);
  fields[0].name = "id";
  fields[0].whole = true;
  fields[1].name = "ids";
  fields[1].kind = FieldKind::kNumbers;
  fields[2].name = "radius";
  fields[2].min = 0;
  fields[2].above_min = true;
  fields[2].fallback = 0.5;
  fields[3].name = "more";
  fields[3].kind = FieldKind::kNumbers;
  fields[3].fallback = 0;
  return fields;
}

/// A valid table has whole rows, and its lists the lengths that the rows say.
void check_records(const io::JsonList& list) {
  const auto rows = list.column.as<double>();
  double items = 0;
  for (std::size_t i = 0; i < rows.size; ++i)
    if (i % 4 >= 2) items += rows[i];
  if (rows.size != 4 * list.length || items != static_cast<double>(list.items.size()))
    throw Error(ErrorCode::kInternal, "a table of records has another shape than its list");
}

io::JsonShape shape() {
  const io::JsonShape dem{Kind::kObject, {{"grid_z", {Kind::kHeights, {}}}, {"nx", {}}}};
  return {Kind::kObject,
          {{"points", {Kind::kPoints, {}}},
           {"labels", {Kind::kNumbers, {}}},
           {"flags", {Kind::kFlags, {}}},
           {"dem", dem},
           {"shoots", {Kind::kRecords, {}, shoot_fields()}},
           {"name", {}}}};
}

std::vector<std::vector<std::uint8_t>> json_seeds() {
  std::vector<std::vector<std::uint8_t>> seeds;
  for (const std::string text : {
           R"({"points":[[1,2,3],[-4.5e1,0.1,123456789012345678]],"name":"a\u00e9\ud83d\ude00\n"})",
           R"({"labels":[1,2,1e400],"flags":[true,false],"dem":{"grid_z":[[1,null],[2.5,-0]],"nx":2}})",
           R"({"dem":{"grid_z":[1,null,3]},"other":{"deep":[[[{"a":[]}]],"x"]},"points":null,"points":[]})",
           "\xef\xbb\xbf [1, 2, {\"points\": [[1]]}]",
           R"({"shoots":[{"id":1,"ids":[2,3],"radius":1e-3},{"more":[],"ids":[],"id":-7,"hue":{"a":[1]}}]})",
           R"({"points":[["a"],{"b":[1,2]},[1,2,3,4]],"labels":["["],"labels":[0.1234567890123456789012]})",
       }) {
    seeds.emplace_back(text.begin(), text.end());
  }
  return seeds;
}

/// Reads the text, and checks what every result promises.
void read_json_file(const std::string& path, OpContext& ctx) {
  const auto file = platform::File::open_read(path);
  const auto bytes = static_cast<std::size_t>(file.size());
  std::vector<char> text(bytes + io::kDecimalPadding);
  if (bytes != 0) file.read_at(0, text.data(), bytes);
  const std::string token = "token";
  const io::JsonLimits limits{bytes / 2 + 100, 64};
  const io::JsonDocument found = io::read_json_lists({text.data(), bytes}, shape(), token, limits, ctx);
  require(found.rest.size() <= limits.rest_bytes, "the rest exceeds its limit");
  for (const io::JsonList& list : found.lists) {
    if (!list.valid && list.column.size() != 0)
      throw Error(ErrorCode::kInternal, "a list that is not valid has a column");
    if (list.valid && list.items.dtype() == DType::kF64) check_records(list);
    const bool heights = list.column.dtype() == DType::kF64;  // rows count as one
    if (list.valid && !heights && list.column.size() != list.length)
      throw Error(ErrorCode::kInternal, "a column has another length than its list");
  }
  if (found.blank || found.too_large) return;
  std::vector<char> again(found.rest.begin(), found.rest.end());
  again.resize(again.size() + io::kDecimalPadding);
  io::read_json_lists({again.data(), found.rest.size()}, {}, token, {bytes + 1000, 64},
                      ctx);  // it is valid JSON
}

}  // namespace

FuzzTarget json_target() { return {"json", json_seeds, read_json_file}; }

}  // namespace pc::fuzz
