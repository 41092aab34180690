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

io::JsonShape shape() {
  const io::JsonShape dem{Kind::kObject, {{"grid_z", {Kind::kHeights, {}}}, {"nx", {}}}};
  return {Kind::kObject,
          {{"points", {Kind::kPoints, {}}},
           {"labels", {Kind::kNumbers, {}}},
           {"flags", {Kind::kFlags, {}}},
           {"dem", dem},
           {"name", {}}}};
}

std::vector<std::vector<std::uint8_t>> json_seeds() {
  std::vector<std::vector<std::uint8_t>> seeds;
  for (const std::string text : {
           R"({"points":[[1,2,3],[-4.5e1,0.1,123456789012345678]],"name":"a\u00e9\ud83d\ude00\n"})",
           R"({"labels":[1,2,1e400],"flags":[true,false],"dem":{"grid_z":[[1,null],[2.5,-0]],"nx":2}})",
           R"({"dem":{"grid_z":[1,null,3]},"other":{"deep":[[[{"a":[]}]],"x"]},"points":null,"points":[]})",
           "\xef\xbb\xbf [1, 2, {\"points\": [[1]]}]",
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
