#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/plant_document.h"

namespace pc::io {

namespace {

constexpr std::size_t kPhytomersPerCheck = 256;

/// Text that grows; elements stand on lines of their own.
class XmlText {
 public:
  void raw(std::string_view text) {
    if (text.size() > kMaxPlantDocumentBytes - size_)
      throw Error(ErrorCode::kInvalidArgument, "the structure document of this plant has more than " +
                                                   std::to_string(kMaxPlantDocumentBytes) +
                                                   " bytes; choose a lower age");
    while (out_.size() < size_ + text.size()) out_.resize(out_.size() * 2 + kFirstBytes);
    std::memcpy(out_.data() + size_, text.data(), text.size());
    size_ += text.size();
  }
  void open(std::string_view name) { tag("<", name, ">\n"); }
  void close(std::string_view name) { tag("</", name, ">\n"); }
  void open_with_id(std::string_view name, std::string_view id) {
    tag("<", name, " ID=\"");
    escaped(id);
    raw("\">\n");
  }
  void text(std::string_view name, std::string_view value) {
    tag("<", name, ">");
    escaped(value);
    tag("</", name, ">\n");
  }
  template <class Number>
  void value(std::string_view name, Number number) {
    tag("<", name, ">");
    digits(number);
    tag("</", name, ">\n");
  }
  template <class Numbers>
  void list(std::string_view name, const Numbers& numbers, std::string_view separator) {
    tag("<", name, ">");
    bool first = true;
    for (const double number : numbers) {
      if (!std::exchange(first, false)) raw(separator);
      digits(number);
    }
    tag("</", name, ">\n");
  }
  BulkVector<char> take() {
    out_.resize(size_);
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kFirstBytes = 4096;

  void tag(std::string_view before, std::string_view name, std::string_view after) {
    raw(before);
    raw(name);
    raw(after);
  }
  template <class Number>
  void digits(Number number) {
    char text[32];
    raw({text, static_cast<std::size_t>(std::to_chars(text, text + sizeof text, number).ptr - text)});
  }
  void escaped(std::string_view text) {
    for (const char& c : text) {
      if (c == '<')
        raw("&lt;");
      else if (c == '&')
        raw("&amp;");
      else if (c == '"')
        raw("&quot;");
      else
        raw({&c, 1});
    }
  }

  BulkVector<char> out_;
  std::size_t size_ = 0;
};

class Writer {
 public:
  Writer(const PlantStructure& plant, OpContext& ctx) : plant_(plant), ctx_(ctx) {
    for (const ForeignXml& foreign : plant.foreign) foreign_.emplace(key_of(foreign), &foreign.xml);
  }

  BulkVector<char> run() {
    out_.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out_.open("plant_structure");
    out_.open_with_id("plant_instance", plant_.plant_id);
    const Vec3d& base = plant_.base_position;
    out_.list("base_position", std::array{base.x, base.y, base.z}, " ");
    out_.value("plant_age", plant_.plant_age);
    if (const auto& law = plant_.leaf_inclination)
      out_.list("leaf_inclination", std::array{law->beta_mu, law->beta_nu}, " ");
    if (const auto& growth = plant_.growth) {
      out_.text("species", growth->species_id);
      out_.value("random_seed", growth->seed);
      out_.value("plant_index", growth->plant_index);
      out_.value("leaves_emerged", growth->leaves_emerged);
    }
    for (std::uint32_t i = 0; i < plant_.shoots.size(); ++i) write_shoot(i);
    write_foreign({PlantElement::kPlant, 0, 0, 0, 0, 0});
    out_.close("plant_instance");
    write_foreign({PlantElement::kDocument, 0, 0, 0, 0, 0});
    out_.close("plant_structure");
    return out_.take();
  }

 private:
  using Key =
      std::tuple<PlantElement, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

  static Key key_of(const ForeignXml& f) {
    return {f.parent, f.shoot, f.phytomer, f.petiole, f.item, f.flower};
  }
  void write_foreign(const Key& key) {
    if (foreign_.empty()) return;
    const auto [first, last] = foreign_.equal_range(key);
    for (auto it = first; it != last; ++it) {
      out_.raw(*it->second);
      out_.raw("\n");
    }
  }

  void write_shoot(std::uint32_t index) {
    const PlantShoot& shoot = plant_.shoots[index];
    out_.open_with_id("shoot", std::to_string(index));
    out_.text("shoot_type_label", shoot.shoot_type_label);
    out_.value("parent_shoot_ID", shoot.parent_shoot_id);
    out_.value("parent_node_index", shoot.parent_node_index);
    out_.value("parent_petiole_index", shoot.parent_petiole_index);
    const BaseRotation& rotation = shoot.base_rotation;
    out_.list("base_rotation", std::array{rotation.pitch, rotation.yaw, rotation.roll}, " ");
    out_.value("birth_day", shoot.birth_day);
    for (std::uint32_t node = 0; node < shoot.phytomers.size(); ++node) {
      if (++phytomers_ % kPhytomersPerCheck == 0) ctx_.checkpoint();
      out_.open("phytomer");
      write_internode(index, node, shoot.phytomers[node]);
      write_foreign({PlantElement::kPhytomer, index, node, 0, 0, 0});
      out_.close("phytomer");
    }
    write_foreign({PlantElement::kShoot, index, 0, 0, 0, 0});
    out_.close("shoot");
  }

  void write_internode(std::uint32_t shoot, std::uint32_t node, const Phytomer& phytomer) {
    const PlantInternode& it = phytomer.internode;
    out_.open("internode");
    out_.value("internode_length", it.internode_length);
    out_.value("internode_radius", it.internode_radius);
    out_.value("internode_pitch", it.internode_pitch);
    out_.value("internode_phyllotactic_angle", it.internode_phyllotactic_angle);
    out_.value("internode_length_max", it.internode_length_max);
    out_.value("internode_length_segments", it.internode_length_segments);
    out_.list("curvature_perturbations", it.curvature_perturbations, ";");
    out_.list("yaw_perturbations", it.yaw_perturbations, ";");
    out_.value("birth_day", it.birth_day);
    out_.value("radius_initial", it.radius_initial);
    out_.value("girth_area_factor", it.girth_area_factor);
    unless("carried_area", it.carried_area_m2, 0);
    for (std::uint32_t i = 0; i < phytomer.petioles.size(); ++i)
      write_petiole({PlantElement::kPetiole, shoot, node, i, 0, 0}, phytomer.petioles[i], it.birth_day);
    write_foreign({PlantElement::kInternode, shoot, node, 0, 0, 0});
    out_.close("internode");
  }

  /// Elements that say what a reader takes for granted are left out: old trees have large documents.
  void unless(std::string_view name, double value, double expected) {
    if (value != expected) out_.value(name, value);
  }

  void write_petiole(const Key& place, const PlantPetiole& it, double internode_birth_day) {
    out_.open("petiole");
    out_.value("petiole_length", it.petiole_length);
    out_.value("petiole_radius", it.petiole_radius);
    out_.value("petiole_pitch", it.petiole_pitch);
    out_.value("petiole_curvature", it.petiole_curvature);
    out_.value("current_leaf_scale_factor", it.current_leaf_scale_factor);
    out_.value("petiole_taper", it.petiole_taper);
    out_.value("petiole_length_segments", it.petiole_length_segments);
    out_.value("petiole_radial_subdivisions", it.petiole_radial_subdivisions);
    out_.value("leaflet_scale", it.leaflet_scale);
    out_.value("leaflet_offset", it.leaflet_offset);
    unless("birth_day", it.birth_day, internode_birth_day);
    unless("fallen_area", it.fallen_area_m2, 0);
    unless("vegetative_bud", static_cast<int>(it.vegetative_bud), 0);
    for (std::uint32_t i = 0; i < it.leaves.size(); ++i)
      write_leaf(at_item(place, PlantElement::kLeaf, i), it.leaves[i]);
    for (std::uint32_t i = 0; i < it.floral_buds.size(); ++i)
      write_bud(at_item(place, PlantElement::kFloralBud, i), it.floral_buds[i], it.birth_day);
    write_foreign(place);
    out_.close("petiole");
  }
  static Key at_item(Key place, PlantElement element, std::uint32_t item) {
    std::get<0>(place) = element;
    std::get<4>(place) = item;
    return place;
  }

  void write_leaf(const Key& place, const PlantLeaf& it) {
    out_.open("leaf");
    out_.value("leaf_scale", it.leaf_scale);
    out_.value("leaf_pitch", it.leaf_pitch);
    out_.value("leaf_yaw", it.leaf_yaw);
    out_.value("leaf_roll", it.leaf_roll);
    out_.value("inclination_u", it.inclination_u);
    write_foreign(place);
    out_.close("leaf");
  }

  void write_bud(const Key& place, const FloralBud& it, double petiole_birth_day) {
    out_.open("floral_bud");
    out_.value("bud_state", static_cast<int>(it.bud_state));
    out_.value("parent_index", it.parent_index);
    out_.value("bud_index", it.bud_index);
    out_.value("is_terminal", static_cast<int>(it.is_terminal));
    out_.value("current_fruit_scale_factor", it.current_fruit_scale_factor);
    unless("birth_day", it.birth_day, petiole_birth_day);
    unless("breaks", it.breaks, 0);
    unless("sets_fruit", it.sets_fruit, 0);
    if (!it.flowers.empty() || it.peduncle != PlantPeduncle{} || it.flower_offset != 0 || !foreign_.empty())
      write_stalk(place, it);
    write_foreign(place);
    out_.close("floral_bud");
  }
  void write_stalk(Key place, const FloralBud& it) {
    const auto foreign_of = [&](PlantElement element) {
      std::get<0>(place) = element;
      write_foreign(place);
    };
    out_.open("peduncle");
    out_.value("length", it.peduncle.length);
    out_.value("radius", it.peduncle.radius);
    out_.value("pitch", it.peduncle.pitch);
    out_.value("curvature", it.peduncle.curvature);
    out_.value("roll", it.peduncle.roll);
    foreign_of(PlantElement::kPeduncle);
    out_.close("peduncle");
    out_.open("inflorescence");
    out_.value("flower_offset", it.flower_offset);
    for (std::uint32_t i = 0; i < it.flowers.size(); ++i) {
      std::get<5>(place) = i;
      write_flower(place, it.flowers[i]);
    }
    std::get<5>(place) = 0;
    foreign_of(PlantElement::kInflorescence);
    out_.close("inflorescence");
  }

  void write_flower(Key place, const PlantFlower& it) {
    out_.open("flower");
    out_.value("flower_pitch", it.flower_pitch);
    out_.value("flower_yaw", it.flower_yaw);
    out_.value("flower_roll", it.flower_roll);
    out_.value("flower_azimuth", it.flower_azimuth);
    out_.value("flower_base_scale", it.flower_base_scale);
    out_.value("fruit_scale", it.fruit_scale);
    std::get<0>(place) = PlantElement::kFlower;
    write_foreign(place);
    out_.close("flower");
  }

  const PlantStructure& plant_;
  OpContext& ctx_;
  std::multimap<Key, const std::string*> foreign_;
  XmlText out_;
  std::uint64_t phytomers_ = 0;
};

}  // namespace

BulkVector<char> write_plant_document(const PlantStructure& plant, OpContext& ctx) {
  ctx.begin_phase("Writing structure document", 0);
  return Writer(plant, ctx).run();
}

}  // namespace pc::io
