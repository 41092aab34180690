#include "io/plant_document_json.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/xml_reader.h"

namespace pc::io {

namespace {

constexpr const char* kWhere = "structure document";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string child_text(const XmlElement& element, std::string_view name) {
  const auto child = element.child(name);
  return child ? std::string(trimmed(child->text())) : std::string();
}

/// A name of child elements that form a list, and the key of that list.
struct ListName {
  std::string_view element, key;
};
constexpr ListName kLists[] = {{"phytomer", "phytomers"},
                               {"petiole", "petioles"},
                               {"leaf", "leaves"},
                               {"floral_bud", "floral_buds"},
                               {"flower", "flowers"}};
/// Elements that always have their list, even an empty one.
constexpr std::pair<std::string_view, std::string_view> kAlways[] = {
    {"shoot", "phytomer"}, {"phytomer", "petiole"}, {"petiole", "leaf"}, {"petiole", "floral_bud"}};
constexpr std::string_view kWholeNumbers[] = {"parent_shoot_ID", "parent_node_index", "parent_petiole_index"};

std::string_view list_key(std::string_view element) {
  for (const auto& list : kLists)
    if (list.element == element) return list.key;
  return {};
}

class Writer {
 public:
  explicit Writer(OpContext& ctx) : ctx_(ctx) {}

  void shoots(const XmlElement& plant) {
    put('[');
    bool first = true;
    for (auto child = plant.first_child(); child; child = child->next_sibling()) {
      if (child->name() != "shoot") continue;
      if (!std::exchange(first, false)) put(',');
      shoot(*child);
      ctx_.checkpoint();
    }
    put(']');
  }

  Column<std::uint8_t> finish() {
    Column<std::uint8_t> out(out_.size());
    std::copy(out_.begin(), out_.end(), out.view().begin());
    return out;
  }

 private:
  using Children = std::vector<XmlElement>;
  using Named = std::vector<std::pair<std::string_view, Children>>;

  void put(char c) { out_.push_back(c); }
  void put(std::string_view text) {
    const std::size_t before = out_.size(), after = before + text.size();
    if (after > out_.capacity()) out_.reserve(after + after / 2);
    out_.resize(after);
    std::copy(text.begin(), text.end(), out_.begin() + before);
  }
  void string(std::string_view text) {
    static constexpr char kHex[] = "0123456789abcdef";
    put('"');
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        put('\\');
        put(c);
      } else if (byte < 0x20) {
        put("\\u00");
        put(kHex[byte >> 4]);
        put(kHex[byte & 15]);
      } else {
        put(c);
      }
    }
    put('"');
  }
  void key(std::string_view name, bool& first) {
    if (!std::exchange(first, false)) put(',');
    string(name);
    put(':');
  }

  /// Children in the order in which their names first appear.
  static Named by_name(const XmlElement& element) {
    Named out;
    std::map<std::string_view, std::size_t> places;
    for (auto child = element.first_child(); child; child = child->next_sibling()) {
      const auto [place, is_new] = places.try_emplace(child->name(), out.size());
      if (is_new) out.emplace_back(child->name(), Children{});
      out[place->second].second.push_back(*child);
    }
    return out;
  }

  void whole_number(const XmlElement& element, std::string_view text) {
    std::int64_t value = 0;
    const auto trim = trimmed(text);
    const auto [end, error] = std::from_chars(trim.data(), trim.data() + trim.size(), value);
    if (error != std::errc() || end != trim.data() + trim.size())
      throw Error(ErrorCode::kInvalidFile, std::string(kWhere) + ": " + std::string(element.name()) +
                                               " at byte " + std::to_string(element.offset()) +
                                               " is no whole number");
    put(std::to_string(value));
  }

  void shoot(const XmlElement& element) {
    put('{');
    bool first = true;
    key("shoot_id", first);
    whole_number(element, element.attribute("ID").value_or("0"));
    members(element, first);
    put('}');
  }

  void members(const XmlElement& element, bool& first) {
    const Named named = by_name(element);
    // Petioles stand inside the internode in the document, beside it in the tables.
    const bool is_phytomer = element.name() == "phytomer", is_internode = element.name() == "internode";
    for (const auto& [name, children] : named) {
      if (is_internode && name == "petiole") continue;
      member(name, children, element.name() == "shoot", first);
    }
    if (is_phytomer) petioles(named, first);
    for (const auto& [parent, child] : kAlways) {
      if (parent != element.name() || is_phytomer || element.child(child)) continue;
      key(list_key(child), first);
      put("[]");
    }
  }

  void petioles(const Named& phytomer, bool& first) {
    Children found;
    for (const auto& [name, children] : phytomer) {
      if (name != "internode") continue;
      for (const auto& internode : children)
        for (auto child = internode.first_child(); child; child = child->next_sibling())
          if (child->name() == "petiole") found.push_back(*child);
    }
    key("petioles", first);
    list(found);
  }

  void member(std::string_view name, const Children& children, bool of_shoot, bool& first) {
    if (const auto plural = list_key(name); !plural.empty()) {
      key(plural, first);
      return list(children);
    }
    const bool is_whole = of_shoot && std::find(std::begin(kWholeNumbers), std::end(kWholeNumbers), name) !=
                                          std::end(kWholeNumbers);
    key(name == "parent_shoot_ID" ? "parent_shoot_id" : name, first);
    if (is_whole) return whole_number(children.front(), children.front().text());
    if (children.size() == 1) return value(children.front());
    list(children);
  }

  void list(const Children& children) {
    put('[');
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (i > 0) put(',');
      value(children[i]);
    }
    put(']');
  }

  void value(const XmlElement& element) {
    if (!element.first_child() && list_key(element.name()).empty()) {
      const std::string text = element.text();
      return string(trimmed(text));
    }
    put('{');
    bool first = true;
    members(element, first);
    put('}');
  }

  BulkVector<char> out_;
  OpContext& ctx_;
};

}  // namespace

PlantTables plant_tables(BulkVector<char> text, OpContext& ctx) {
  ctx.begin_phase("Reading structure document", 0);
  const XmlDocument document = XmlDocument::parse(std::move(text), kWhere);
  const auto plant = document.root().child("plant_instance");
  if (!plant) throw Error(ErrorCode::kInvalidFile, std::string(kWhere) + ": there is no plant_instance");
  PlantTables out;
  out.plant_age = child_text(*plant, "plant_age");
  out.base_position = child_text(*plant, "base_position");
  Writer writer(ctx);
  writer.shoots(*plant);
  out.shoots = writer.finish();
  return out;
}

}  // namespace pc::io
