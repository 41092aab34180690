#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "io/plant_document.h"
#include "io/plant_document_fields.h"

namespace pc::io {

namespace {

constexpr double kLongest_m = 1e4, kWidestAngle_deg = 1e6, kMostDays = 1e6, kMostArea = 1e9;
constexpr double kSharpest = 1e9;  // degrees per metre
constexpr double kMostWhole = 4294967295.0;
constexpr double kUnstated = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kPhytomersPerCheck = 256;

class Reader {
 public:
  Reader(const XmlDocument& document, OpContext& ctx) : document_(document), ctx_(ctx) {}

  PlantStructure run() {
    std::optional<XmlElement> instance;
    for (auto child = document_.root().first_child(); child; child = child->next_sibling()) {
      if (child->name() != "plant_instance") {
        keep(PlantElement::kDocument, *child);
        continue;
      }
      if (std::exchange(instance, child)) refuse_element(document_, *child, "a document holds one plant");
    }
    if (!instance) refuse_element(document_, document_.root(), "its plant_instance is missing");
    read_plant(*instance);
    std::stable_sort(plant_.foreign.begin(), plant_.foreign.end(), [](const auto& a, const auto& b) {
      const auto key = [](const ForeignXml& f) {
        return std::tie(f.parent, f.shoot, f.phytomer, f.petiole, f.item, f.flower);
      };
      return key(a) < key(b);
    });
    return std::move(plant_);
  }

 private:
  /// Keeps an unknown element, except those that were meant for another way of drawing.
  void keep(PlantElement parent, const XmlElement& element) {
    for (const char* ignored : {"internode_vertices", "internode_radii", "leaf_base"})
      if (element.name() == ignored) return;
    ForeignXml foreign = place_;
    foreign.parent = parent;
    if (parent < PlantElement::kFlower) foreign.flower = 0;
    if (parent < PlantElement::kLeaf) foreign.item = 0;
    if (parent < PlantElement::kPetiole) foreign.petiole = 0;
    if (parent < PlantElement::kPhytomer) foreign.phytomer = 0;
    if (parent < PlantElement::kShoot) foreign.shoot = 0;
    foreign.xml = element.source();
    plant_.foreign.push_back(std::move(foreign));
  }
  auto keeper(PlantElement parent) {
    return [this, parent](const XmlElement& element) { keep(parent, element); };
  }
  void count_organs(const XmlElement& element) {
    if (++organs_ > kMaxDocumentOrgans)
      refuse_element(document_, element,
                     "the plant has more than " + std::to_string(kMaxDocumentOrgans) + " organs");
  }
  void once(bool& seen, const XmlElement& element) {
    if (std::exchange(seen, true)) refuse_element(document_, element, "is given twice");
  }

  void read_plant(const XmlElement& element) {
    plant_.plant_id = element.attribute("ID").value_or("0").substr(0, 200);
    GrowthState growth;
    bool has_position = false, has_species = false, has_seed = false, has_index = false, has_count = false,
         has_inclination = false;
    std::uint64_t stated_leaves = 0;
    read_fields(document_, element, {{"plant_age", &plant_.plant_age, 0, kMostDays}},
                [&](const XmlElement& child) {
                  const std::string_view name = child.name();
                  if (name == "shoot") {
                    read_shoot(child);
                  } else if (name == "base_position") {
                    once(has_position, child);
                    const auto xyz = triple(child, 1e9);
                    plant_.base_position = {xyz[0], xyz[1], xyz[2]};
                  } else if (name == "leaf_inclination") {
                    once(has_inclination, child);
                    plant_.leaf_inclination = inclination(child);
                  } else if (name == "species") {
                    once(has_species, child);
                    growth.species_id = read_text(child).substr(0, 64);
                  } else if (name == "random_seed") {
                    once(has_seed, child);
                    growth.seed = read_whole(document_, child);
                  } else if (name == "plant_index") {
                    once(has_index, child);
                    growth.plant_index = read_whole(document_, child);
                  } else if (name == "leaves_emerged") {
                    once(has_count, child);
                    stated_leaves = read_whole(document_, child);
                  } else {
                    keep(PlantElement::kPlant, child);
                  }
                });
    if (!has_position) refuse_element(document_, element, "its base_position is missing");
    const int parts = has_species + has_seed + has_index + has_count;
    if (parts != 0 && parts != 4)
      refuse_element(document_, element,
                     "species, random_seed, plant_index and leaves_emerged must be given together");
    growth.leaves_emerged = stated_leaves;
    if (parts == 4) plant_.growth = growth;
  }

  std::array<double, 3> triple(const XmlElement& element, double largest) {
    const auto numbers = read_numbers(document_, element, ' ', largest, 3);
    if (numbers.size() != 3) refuse_element(document_, element, "must have three numbers");
    return {numbers[0], numbers[1], numbers[2]};
  }
  LeafInclination inclination(const XmlElement& element) {
    const auto numbers = read_numbers(document_, element, ' ', 1e6, 2);
    if (numbers.size() != 2 || !(numbers[0] > 0) || !(numbers[1] > 0))
      refuse_element(document_, element, "must have two numbers above 0");
    return {numbers[0], numbers[1]};
  }

  void read_shoot(const XmlElement& element) {
    const auto index = static_cast<std::uint32_t>(plant_.shoots.size());
    if (index == kMaxDocumentShoots)
      refuse_element(document_, element,
                     "the plant has more than " + std::to_string(kMaxDocumentShoots) + " shoots");
    if (!shoot_index_.try_emplace(element.attribute("ID").value_or(std::to_string(index)), index).second)
      refuse_element(document_, element, "has the ID of an earlier shoot");
    place_ = {};
    place_.shoot = index;
    plant_.shoots.emplace_back();
    PlantShoot shoot;
    std::optional<XmlElement> parent;
    bool has_type = false, has_rotation = false;
    read_fields(document_, element,
                {{"parent_node_index", &shoot.parent_node_index, -1, 1e6},
                 {"parent_petiole_index", &shoot.parent_petiole_index, -1, 1e6},
                 {"birth_day", &shoot.birth_day, -kMostDays, kMostDays, false}},
                [&](const XmlElement& child) {
                  const std::string_view name = child.name();
                  if (name == "phytomer") {
                    read_phytomer(child, shoot);
                  } else if (name == "shoot_type_label") {
                    once(has_type, child);
                    shoot.shoot_type_label = read_text(child).substr(0, 64);
                  } else if (name == "parent_shoot_ID") {
                    if (parent) refuse_element(document_, child, "is given twice");
                    parent = child;
                  } else if (name == "base_rotation") {
                    once(has_rotation, child);
                    const auto angles = triple(child, kWidestAngle_deg);
                    shoot.base_rotation = {angles[0], angles[1], angles[2]};
                  } else {
                    keep(PlantElement::kShoot, child);
                  }
                });
    if (!has_type) refuse_element(document_, element, "its shoot_type_label is missing");
    if (!has_rotation) refuse_element(document_, element, "its base_rotation is missing");
    if (!parent) refuse_element(document_, element, "its parent_shoot_ID is missing");
    find_parent(*parent, index, shoot);
    plant_.shoots[index] = std::move(shoot);
  }

  void find_parent(const XmlElement& element, std::uint32_t index, PlantShoot& shoot) {
    const std::string id = read_text(element);
    if (id == "-1") {
      shoot.parent_shoot_id = -1;
      return;
    }
    const auto found = shoot_index_.find(id);
    if (found == shoot_index_.end() || found->second == index)
      refuse_element(document_, element,
                     "'" + id.substr(0, 40) + "' is not the ID of an earlier shoot, nor -1 for the base");
    const PlantShoot& parent = plant_.shoots[found->second];
    const auto node = static_cast<std::size_t>(shoot.parent_node_index);
    if (shoot.parent_node_index < 0 || node >= parent.phytomers.size())
      refuse_element(document_, element, "shoot " + id + " has no phytomer with the parent_node_index");
    const auto petioles = static_cast<std::int32_t>(parent.phytomers[node].petioles.size());
    if (shoot.parent_petiole_index >= petioles)
      refuse_element(document_, element, "that phytomer has no petiole with the parent_petiole_index");
    shoot.parent_shoot_id = static_cast<std::int32_t>(found->second);
  }

  void read_phytomer(const XmlElement& element, PlantShoot& shoot) {
    if (++phytomers_ > kMaxDocumentPhytomers)
      refuse_element(document_, element,
                     "the plant has more than " + std::to_string(kMaxDocumentPhytomers) + " phytomers");
    if (phytomers_ % kPhytomersPerCheck == 0) ctx_.checkpoint();
    place_ = {};
    place_.shoot = static_cast<std::uint32_t>(plant_.shoots.size() - 1);
    place_.phytomer = static_cast<std::uint32_t>(shoot.phytomers.size());
    Phytomer phytomer;
    bool has_internode = false;
    read_fields(document_, element, {}, [&](const XmlElement& child) {
      if (child.name() != "internode") return keep(PlantElement::kPhytomer, child);
      once(has_internode, child);
      read_internode(child, phytomer);
    });
    if (!has_internode) refuse_element(document_, element, "its internode is missing");
    shoot.phytomers.push_back(std::move(phytomer));
  }

  void read_internode(const XmlElement& element, Phytomer& phytomer) {
    PlantInternode& out = phytomer.internode;
    std::optional<XmlElement> curvatures, yaws;
    read_fields(document_, element,
                {{"internode_length", &out.internode_length, 0, kLongest_m},
                 {"internode_radius", &out.internode_radius, 0, kLongest_m},
                 {"internode_pitch", &out.internode_pitch, -kWidestAngle_deg, kWidestAngle_deg},
                 {"internode_phyllotactic_angle", &out.internode_phyllotactic_angle, -kWidestAngle_deg,
                  kWidestAngle_deg},
                 {"internode_length_max", &out.internode_length_max, 0, kLongest_m},
                 {"internode_length_segments", &out.internode_length_segments, 1, kMaxDocumentSegments},
                 {"birth_day", &out.birth_day, -kMostDays, kMostDays, false},
                 {"radius_initial", &out.radius_initial, 0, kLongest_m, false},
                 {"girth_area_factor", &out.girth_area_factor, 0, kMostArea, false},
                 {"carried_area", &out.carried_area_m2, 0, kMostArea, false}},
                [&](const XmlElement& child) {
                  const std::string_view name = child.name();
                  auto& list = name == "curvature_perturbations" ? curvatures : yaws;
                  if (name == "petiole") {
                    read_petiole(child, phytomer);
                  } else if (name == "curvature_perturbations" || name == "yaw_perturbations") {
                    if (list) refuse_element(document_, child, "is given twice");
                    list = child;
                  } else {
                    keep(PlantElement::kInternode, child);
                  }
                });
    inherit_birth_days(phytomer);
    out.curvature_perturbations = per_segment(curvatures, out.internode_length_segments, kSharpest);
    out.yaw_perturbations = per_segment(yaws, out.internode_length_segments, kWidestAngle_deg);
  }
  /// Petioles and buds that state no birth day emerged with what they stand on.
  static void inherit_birth_days(Phytomer& phytomer) {
    for (PlantPetiole& petiole : phytomer.petioles) {
      if (std::isnan(petiole.birth_day)) petiole.birth_day = phytomer.internode.birth_day;
      for (FloralBud& bud : petiole.floral_buds)
        if (std::isnan(bud.birth_day)) bud.birth_day = petiole.birth_day;
    }
  }
  std::vector<double> per_segment(const std::optional<XmlElement>& element, std::size_t segments,
                                  double largest) {
    std::vector<double> numbers;
    if (element) numbers = read_numbers(document_, *element, ';', largest, kMaxDocumentSegments);
    if (numbers.empty()) numbers.resize(segments);
    if (numbers.size() != segments)
      refuse_element(
          document_, *element,
          "has " + std::to_string(numbers.size()) + " numbers for " + std::to_string(segments) + " segments");
    return numbers;
  }

  void read_petiole(const XmlElement& element, Phytomer& phytomer) {
    count_organs(element);
    place_.petiole = static_cast<std::uint32_t>(phytomer.petioles.size());
    place_.item = place_.flower = 0;
    PlantPetiole out;
    out.birth_day = kUnstated;
    std::uint32_t bud = 0;
    read_fields(document_, element,
                {{"petiole_length", &out.petiole_length, 0, kLongest_m},
                 {"petiole_radius", &out.petiole_radius, 0, kLongest_m},
                 {"petiole_pitch", &out.petiole_pitch, -kWidestAngle_deg, kWidestAngle_deg},
                 {"petiole_curvature", &out.petiole_curvature, -kSharpest, kSharpest},
                 {"current_leaf_scale_factor", &out.current_leaf_scale_factor, 0, 1},
                 {"petiole_taper", &out.petiole_taper, 0, 1},
                 {"petiole_length_segments", &out.petiole_length_segments, 1, kMaxDocumentSegments},
                 {"petiole_radial_subdivisions", &out.petiole_radial_subdivisions, 1, kMaxDocumentSegments},
                 {"leaflet_scale", &out.leaflet_scale, 0, 1000},
                 {"leaflet_offset", &out.leaflet_offset, 0, 1000},
                 {"birth_day", &out.birth_day, -kMostDays, kMostDays, false},
                 {"fallen_area", &out.fallen_area_m2, 0, kMostArea, false},
                 {"vegetative_bud", &bud, 0, 3, false}},
                [&](const XmlElement& child) {
                  if (child.name() == "leaf") {
                    read_leaf(child, out);
                  } else if (child.name() == "floral_bud") {
                    read_bud(child, out);
                  } else {
                    keep(PlantElement::kPetiole, child);
                  }
                });
    out.vegetative_bud = static_cast<VegetativeBudState>(bud);
    phytomer.petioles.push_back(std::move(out));
  }

  void read_leaf(const XmlElement& element, PlantPetiole& petiole) {
    count_organs(element);
    place_.item = static_cast<std::uint32_t>(petiole.leaves.size());
    PlantLeaf out;
    out.inclination_u = -1;
    read_fields(document_, element,
                {{"leaf_scale", &out.leaf_scale, 0, kLongest_m},
                 {"leaf_pitch", &out.leaf_pitch, -kWidestAngle_deg, kWidestAngle_deg},
                 {"leaf_yaw", &out.leaf_yaw, -kWidestAngle_deg, kWidestAngle_deg},
                 {"leaf_roll", &out.leaf_roll, -kWidestAngle_deg, kWidestAngle_deg},
                 {"inclination_u", &out.inclination_u, 0, 1, false}},
                keeper(PlantElement::kLeaf));
    if (out.inclination_u < 0) out.inclination_u = golden_unit(leaves_);
    ++leaves_;
    petiole.leaves.push_back(out);
  }
  /// Evenly spread over [0, 1) for leaves that have no quantile: multiples of the golden ratio.
  static double golden_unit(std::uint64_t ordinal) {
    constexpr double kGoldenRatio = 0.6180339887498949;
    const double at = kGoldenRatio * static_cast<double>(ordinal) + 0.5;
    return at - std::floor(at);
  }

  void read_bud(const XmlElement& element, PlantPetiole& petiole) {
    count_organs(element);
    place_.item = static_cast<std::uint32_t>(petiole.floral_buds.size());
    FloralBud out;
    out.birth_day = kUnstated;
    std::uint32_t state = 0;
    bool has_peduncle = false, has_inflorescence = false;
    read_fields(document_, element,
                {{"bud_state", &state, 0, 5},
                 {"parent_index", &out.parent_index, 0, kMostWhole},
                 {"bud_index", &out.bud_index, 0, kMostWhole},
                 {"is_terminal", &out.is_terminal, 0, 1},
                 {"current_fruit_scale_factor", &out.current_fruit_scale_factor, 0, 1},
                 {"birth_day", &out.birth_day, -kMostDays, kMostDays, false},
                 {"breaks", &out.breaks, 0, 1, false},
                 {"sets_fruit", &out.sets_fruit, 0, 1, false}},
                [&](const XmlElement& child) {
                  if (child.name() == "peduncle") {
                    once(has_peduncle, child);
                    read_peduncle(child, out.peduncle);
                  } else if (child.name() == "inflorescence") {
                    once(has_inflorescence, child);
                    read_inflorescence(child, out);
                  } else {
                    keep(PlantElement::kFloralBud, child);
                  }
                });
    out.bud_state = static_cast<FloralBudState>(state);
    petiole.floral_buds.push_back(std::move(out));
  }
  void read_peduncle(const XmlElement& element, PlantPeduncle& out) {
    read_fields(document_, element,
                {{"length", &out.length, 0, kLongest_m},
                 {"radius", &out.radius, 0, kLongest_m},
                 {"pitch", &out.pitch, -kWidestAngle_deg, kWidestAngle_deg},
                 {"curvature", &out.curvature, -kSharpest, kSharpest},
                 {"roll", &out.roll, -kWidestAngle_deg, kWidestAngle_deg}},
                keeper(PlantElement::kPeduncle));
  }
  void read_inflorescence(const XmlElement& element, FloralBud& bud) {
    read_fields(document_, element, {{"flower_offset", &bud.flower_offset, 0, 1000}},
                [&](const XmlElement& child) {
                  if (child.name() != "flower") return keep(PlantElement::kInflorescence, child);
                  read_flower(child, bud);
                });
  }
  void read_flower(const XmlElement& element, FloralBud& bud) {
    count_organs(element);
    place_.flower = static_cast<std::uint32_t>(bud.flowers.size());
    PlantFlower out;
    out.fruit_scale = -1;
    read_fields(document_, element,
                {{"flower_pitch", &out.flower_pitch, -kWidestAngle_deg, kWidestAngle_deg},
                 {"flower_yaw", &out.flower_yaw, -kWidestAngle_deg, kWidestAngle_deg},
                 {"flower_roll", &out.flower_roll, -kWidestAngle_deg, kWidestAngle_deg},
                 {"flower_azimuth", &out.flower_azimuth, -kWidestAngle_deg, kWidestAngle_deg},
                 {"flower_base_scale", &out.flower_base_scale, 0, kLongest_m},
                 {"fruit_scale", &out.fruit_scale, 0, kLongest_m, false}},
                keeper(PlantElement::kFlower));
    if (out.fruit_scale < 0) out.fruit_scale = out.flower_base_scale;
    bud.flowers.push_back(out);
    place_.flower = 0;
  }

  const XmlDocument& document_;
  OpContext& ctx_;
  PlantStructure plant_;
  ForeignXml place_;  ///< of the element being read
  std::map<std::string, std::uint32_t> shoot_index_;
  std::uint64_t phytomers_ = 0, organs_ = 0, leaves_ = 0;
};

}  // namespace

PlantStructure read_plant_document(BulkVector<char> text, OpContext& ctx) {
  ctx.begin_phase("Reading structure document", 0);
  const XmlDocument document =
      XmlDocument::parse(std::move(text), "structure document", kMaxPlantDocumentBytes, ctx);
  return Reader(document, ctx).run();
}

}  // namespace pc::io
