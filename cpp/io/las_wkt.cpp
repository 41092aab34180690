#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <locale>
#include <sstream>

#include "io/las_crs.h"

namespace pc::io {

namespace {

constexpr std::size_t kMaxNodes = 20000;
constexpr std::size_t kMaxDepth = 64;

/// KEYWORD[value, value, NODE[...], ...]; nodes are in one vector and refer to children by index.
struct Node {
  std::string keyword;              // upper case
  std::vector<std::string> values;  // texts without quotes, numbers as written
  std::vector<std::size_t> children;
};

class Tree {
 public:
  /// `nodes()` is empty if the text is not WKT.
  explicit Tree(const std::string& text) {
    if (!parse(text)) nodes_.clear();
  }
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '+' || c == '-';
  }

  bool parse(const std::string& text) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < text.size();) {
      const char c = text[i];
      if (c == '"') {
        if (!take_quoted(text, i, open)) return false;
      } else if (c == ']' || c == ')') {
        if (open.empty()) return false;
        open.pop_back();
        ++i;
        if (open.empty()) return true;  // whatever follows the root is padding
      } else if (is_word(c)) {
        if (!take_word(text, i, open)) return false;
      } else if (c == ',' || std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++i;
      } else {
        return false;
      }
    }
    return false;
  }

  bool take_quoted(const std::string& text, std::size_t& i, const std::vector<std::size_t>& open) {
    std::string value;
    for (++i; i < text.size(); ++i) {
      if (text[i] != '"') {
        value += text[i];
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        value += text[i++];  // a doubled quote means a quote
      } else {
        ++i;
        if (open.empty()) return false;
        nodes_[open.back()].values.push_back(value);
        return true;
      }
    }
    return false;
  }

  bool take_word(const std::string& text, std::size_t& i, std::vector<std::size_t>& open) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    std::string word = text.substr(i, end - i);
    while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) != 0) ++end;
    i = end;
    if (end < text.size() && (text[end] == '[' || text[end] == '(')) {
      if (nodes_.size() >= kMaxNodes || open.size() >= kMaxDepth) return false;
      std::transform(word.begin(), word.end(), word.begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      if (!open.empty()) nodes_[open.back()].children.push_back(nodes_.size());
      open.push_back(nodes_.size());
      nodes_.push_back({std::move(word), {}, {}});
      ++i;
      return true;
    }
    if (open.empty()) return false;
    nodes_[open.back()].values.push_back(std::move(word));
    return true;
  }

  std::vector<Node> nodes_;
};

bool is_any(const std::string& word, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* w) { return word == w; });
}

bool is_projected(const std::string& k) { return is_any(k, {"PROJCS", "PROJCRS", "PROJECTEDCRS"}); }
bool is_geodetic(const std::string& k) {
  return is_any(k, {"GEOGCS", "GEOGCRS", "GEOGRAPHICCRS", "GEODCRS", "GEODETICCRS", "GEOCCS"});
}
bool is_vertical(const std::string& k) { return is_any(k, {"VERT_CS", "VERTCS", "VERTCRS", "VERTICALCRS"}); }

/// First node in text order that is a horizontal CRS, which compound and bound systems put first.
const Node* find_horizontal(const Tree& tree) {
  const auto& nodes = tree.nodes();
  for (std::size_t at = 0; at < nodes.size();) {
    if (is_projected(nodes[at].keyword) || is_geodetic(nodes[at].keyword)) return &nodes[at];
    const bool wrapper = is_any(nodes[at].keyword, {"COMPD_CS", "COMPOUNDCRS", "BOUNDCRS", "SOURCECRS"});
    if (!wrapper) return nullptr;
    std::size_t next = nodes.size();
    for (const std::size_t child : nodes[at].children) {
      const std::string& k = nodes[child].keyword;
      if (is_projected(k) || is_geodetic(k) ||
          is_any(k, {"COMPD_CS", "COMPOUNDCRS", "BOUNDCRS", "SOURCECRS"})) {
        next = child;
        break;
      }
    }
    at = next;
  }
  return nullptr;
}

std::optional<int> epsg_of(const Tree& tree, const Node& node) {
  std::optional<int> found;
  for (const std::size_t child : node.children) {
    const Node& id = tree.nodes()[child];
    if (!is_any(id.keyword, {"AUTHORITY", "ID"}) || id.values.size() < 2) continue;
    std::string authority = id.values[0];
    std::transform(authority.begin(), authority.end(), authority.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    int code = 0;
    const std::string& text = id.values[1];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
    if (authority == "EPSG" && error == std::errc() && end == text.data() + text.size() && is_epsg_code(code))
      found = code;
  }
  return found;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The length unit of a CRS: its own UNIT, or that of its coordinate system or axes (WKT 2).
void take_length_unit(const Tree& tree, const Node& crs, std::optional<double>& metres, std::string& name,
                      std::vector<std::string>& warnings) {
  const Node* unit = nullptr;
  for (const std::size_t child : crs.children) {
    const Node& node = tree.nodes()[child];
    if (is_any(node.keyword, {"UNIT", "LENGTHUNIT"})) unit = &node;
    for (const std::size_t grandchild : node.keyword == "AXIS" ? node.children : std::vector<std::size_t>{}) {
      const Node& inner = tree.nodes()[grandchild];
      if (unit == nullptr && is_any(inner.keyword, {"UNIT", "LENGTHUNIT"})) unit = &inner;
    }
  }
  if (unit == nullptr || unit->values.size() < 2) return;
  double value = 0;
  const std::string& text = unit->values[1];
  std::istringstream number(text);
  number.imbue(std::locale::classic());
  if (!(number >> value) || !number.eof() || !std::isfinite(value) || value <= 0) {
    warnings.push_back("the WKT unit '" + unit->values[0] + "' has the size '" + text + "'; it is ignored");
    return;
  }
  const std::string word = lower(unit->values[0]);
  const bool feet = word.find("foot") != std::string::npos || word.find("feet") != std::string::npos;
  if (feet && std::abs(value - 0.3048) > 1e-5) {
    const bool survey = word.find("us") != std::string::npos;
    warnings.push_back("the WKT unit '" + unit->values[0] + "' states " + text + " metres; " +
                       (survey ? "0.3048006096" : "0.3048") + " is used, as its name says");
    value = survey ? 1200.0 / 3937.0 : 0.3048;
  }
  metres = value;
  name = unit->values[0];
  if (std::abs(value - 1.0) < 1e-12) name = "metre";
  if (std::abs(value - 0.3048) < 1e-9) name = "foot";
  if (std::abs(value - 1200.0 / 3937.0) < 1e-9) {
    name = "US survey foot";
    metres = 1200.0 / 3937.0;
  }
}

}  // namespace

LasCrs parse_wkt_crs(const std::string& wkt) {
  LasCrs crs;
  crs.wkt = wkt;
  const Tree tree(wkt);
  const Node* horizontal = find_horizontal(tree);
  if (horizontal == nullptr) {
    crs.warnings.push_back(
        "the file's WKT is not a projected or geographic coordinate system; it is ignored");
    return crs;
  }
  crs.epsg = epsg_of(tree, *horizontal);
  crs.is_geographic = is_geodetic(horizontal->keyword) && horizontal->keyword != "GEOCCS";
  if (crs.is_geographic) {
    crs.unit_name = "degree";
  } else {
    take_length_unit(tree, *horizontal, crs.unit_m, crs.unit_name, crs.warnings);
  }
  for (const Node& node : tree.nodes()) {
    if (!is_vertical(node.keyword)) continue;
    crs.vertical_epsg = epsg_of(tree, node);
    take_length_unit(tree, node, crs.vertical_unit_m, crs.vertical_unit_name, crs.warnings);
    break;
  }
  return crs;
}

}  // namespace pc::io
