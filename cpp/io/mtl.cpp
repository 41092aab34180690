#include "io/mtl.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"
#include "core/polygon_mesh.h"
#include "io/header_lines.h"
#include "io/record_value.h"

namespace pc::io {

namespace {

using record_value::skip_blanks;
using record_value::token_end;

std::string_view trimmed(const char* p, const char* end) {
  p = skip_blanks(p, end);
  while (end != p && record_value::is_blank(end[-1])) --end;
  return {p, static_cast<std::size_t>(end - p)};
}

bool is_number(std::string_view token) {
  double value;
  return record_value::parse_double(token.data(), token.data() + token.size(), value);
}

/// An option of a texture statement and its arguments.
struct Option {
  std::string_view name;
  int least, most;
};
constexpr Option kOptions[] = {{"-blendu", 1, 1}, {"-blendv", 1, 1}, {"-boost", 1, 1},   {"-bm", 1, 1},
                               {"-cc", 1, 1},     {"-clamp", 1, 1},  {"-imfchan", 1, 1}, {"-mm", 2, 2},
                               {"-o", 1, 3},      {"-s", 1, 3},      {"-t", 1, 3},       {"-texres", 1, 1},
                               {"-type", 1, 1}};

/// The text after the options at its start.
std::string_view without_options(std::string_view text) {
  const char *p = text.data(), *const end = p + text.size();
  while (p != end && *p == '-') {
    const char* const stop = token_end(p, end);
    const std::string_view word(p, static_cast<std::size_t>(stop - p));
    const auto* option = std::find_if(std::begin(kOptions), std::end(kOptions),
                                      [&](const Option& o) { return o.name == word; });
    if (option == std::end(kOptions)) break;
    p = skip_blanks(stop, end);
    for (int i = 0; i < option->most && p != end; ++i) {
      const char* const argument_end = token_end(p, end);
      if (i >= option->least && !is_number({p, static_cast<std::size_t>(argument_end - p)})) break;
      p = skip_blanks(argument_end, end);
    }
  }
  return {p, static_cast<std::size_t>(end - p)};
}

class MtlParser {
 public:
  explicit MtlParser(const std::string& path) : path_(path) {}

  void parse(const char* p, const char* end, std::uint64_t line) {
    const std::string_view text = trimmed(p, end);
    if (text.empty() || text[0] == '#') return;
    const char* const word_end = token_end(text.data(), text.data() + text.size());
    const std::string_view word(text.data(), static_cast<std::size_t>(word_end - text.data()));
    const std::string_view rest = trimmed(word_end, text.data() + text.size());
    if (word == "newmtl") {
      if (file_.materials.size() == kMaxMeshMaterials) {
        throw Error(ErrorCode::kUnsupported,
                    path_ + " defines more than " + std::to_string(kMaxMeshMaterials) + " materials");
      }
      if (rest.size() > kMaxMaterialNameBytes) {
        throw Error(ErrorCode::kUnsupported, path_ + ", line " + std::to_string(line) + ": the name " +
                                                 quoted(std::string(rest)) + " is longer than " +
                                                 std::to_string(kMaxMaterialNameBytes) + " bytes");
      }
      file_.materials.push_back({std::string(rest), std::nullopt, "", ""});
    } else if (word == "Kd") {
      color(rest, line);
    } else if (word == "map_Kd" || word == "map_kd") {
      texture(rest, line);
    }
  }

  MtlFile take() { return std::move(file_); }

 private:
  void warn(std::uint64_t line, const std::string& problem) {
    constexpr std::size_t kMost = 20;
    if (file_.warnings.size() < kMost)
      file_.warnings.push_back("line " + std::to_string(line) + ": " + problem);
  }

  bool named(std::uint64_t line, const char* statement) {
    if (!file_.materials.empty()) return true;
    warn(line, std::string(statement) + " before the first newmtl is ignored");
    return false;
  }

  void color(std::string_view rest, std::uint64_t line) {
    if (!named(line, "Kd")) return;
    const std::vector<std::string> words = split_words(std::string(rest));
    std::array<double, 3> rgb{};
    const bool grey = words.size() == 1 || words.size() == 2;  // r alone: g and b are the same
    bool good = grey || words.size() == 3;
    for (std::size_t i = 0; good && i < 3; ++i) {
      const std::string& word = words[grey ? 0 : i];
      good =
          record_value::parse_double(word.data(), word.data() + word.size(), rgb[i]) && std::isfinite(rgb[i]);
    }
    if (!good) return warn(line, "the colour " + quoted(std::string(rest)) + " is not three numbers");
    for (double& channel : rgb) {
      if (channel < 0 || channel > 1)
        warn(line, "the colour " + quoted(std::string(rest)) + " is limited to 0..1");
      channel = std::clamp(channel, 0.0, 1.0);
    }
    file_.materials.back().color = rgb;
  }

  void texture(std::string_view rest, std::uint64_t line) {
    if (!named(line, "map_Kd")) return;
    std::string_view name = without_options(rest);
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    if (name.empty()) return warn(line, "map_Kd names no file");
    const std::vector<std::string> words = split_words(std::string(rest));
    file_.materials.back().texture = std::string(name);
    file_.materials.back().last_token = words.back();
  }

  const std::string& path_;
  MtlFile file_;
};

}  // namespace

MtlFile read_mtl(const std::string& path, OpContext& ctx) {
  const auto file = platform::File::open_read(path);
  if (file.size() > kMaxMtlBytes) {
    throw Error(ErrorCode::kInvalidFile, path + " is larger than 16 MiB: not a material library");
  }
  BulkVector<char> text(static_cast<std::size_t>(file.size()));
  text.resize(file.read_at(0, text.data(), text.size()));
  if (std::find(text.begin(), text.end(), '\0') != text.end()) {
    throw Error(ErrorCode::kInvalidFile, path + " contains NUL bytes: not a material library");
  }
  MtlParser parser(path);
  const char *p = text.begin(), *const end = text.end();
  if (text.size() >= 3 && std::string_view(p, 3) == "\xef\xbb\xbf") p += 3;
  for (std::uint64_t line = 1; p != end; ++line) {
    if (line % 4096 == 0) ctx.checkpoint();
    const char* const stop = std::find_if(p, end, [](char c) { return c == '\n' || c == '\r'; });
    parser.parse(p, stop, line);
    p = stop == end ? end : stop + (stop[0] == '\r' && stop + 1 != end && stop[1] == '\n' ? 2 : 1);
  }
  return parser.take();
}

}  // namespace pc::io
