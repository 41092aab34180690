#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "io/plant_document.h"

namespace pc::io {

namespace {

constexpr std::size_t kPhytomersPerCheck = 256;
/// Of consecutive shoots that one thread writes at a time.
constexpr std::size_t kPhytomersPerPiece = 1024;

[[noreturn]] void fail_too_long() {
  throw Error(ErrorCode::kInvalidArgument, "the structure document of this plant has more than " +
                                               std::to_string(kMaxPlantDocumentBytes) +
                                               " bytes; choose a lower age");
}

/// Text that grows; elements stand on lines of their own.
class XmlText {
 public:
  void raw(std::string_view text) {
    if (text.size() > kMaxPlantDocumentBytes - size_) fail_too_long();
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
  std::string_view written() const { return {out_.data(), size_}; }

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

using Key =
    std::tuple<PlantElement, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

/// Unknown elements by their place.
class ForeignElements {
 public:
  explicit ForeignElements(const PlantStructure& plant) {
    for (const ForeignXml& f : plant.foreign)
      by_place_.emplace(Key{f.parent, f.shoot, f.phytomer, f.petiole, f.item, f.flower}, &f.xml);
  }
  bool empty() const { return by_place_.empty(); }
  void write(const Key& place, XmlText& out) const {
    if (empty()) return;
    const auto [first, last] = by_place_.equal_range(place);
    for (auto it = first; it != last; ++it) {
      out.raw(*it->second);
      out.raw("\n");
    }
  }

 private:
  std::multimap<Key, const std::string*> by_place_;
};

/// What stands before the shoots.
void write_head(const PlantStructure& plant, XmlText& out) {
  out.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  out.open("plant_structure");
  out.open_with_id("plant_instance", plant.plant_id);
  const Vec3d& base = plant.base_position;
  out.list("base_position", std::array{base.x, base.y, base.z}, " ");
  out.value("plant_age", plant.plant_age);
  if (const auto& law = plant.leaf_inclination)
    out.list("leaf_inclination", std::array{law->beta_mu, law->beta_nu}, " ");
  if (const auto& growth = plant.growth) {
    out.text("species", growth->species_id);
    out.value("random_seed", growth->seed);
    out.value("plant_index", growth->plant_index);
    out.value("leaves_emerged", growth->leaves_emerged);
  }
}

/// What stands after the shoots.
void write_tail(const ForeignElements& foreign, XmlText& out) {
  foreign.write({PlantElement::kPlant, 0, 0, 0, 0, 0}, out);
  out.close("plant_instance");
  foreign.write({PlantElement::kDocument, 0, 0, 0, 0, 0}, out);
  out.close("plant_structure");
}

/// Writes shoots; one thread.
class ShootWriter {
 public:
  ShootWriter(const PlantStructure& plant, const ForeignElements& foreign, OpContext& ctx)
      : plant_(plant), foreign_(foreign), ctx_(ctx) {}

  void write(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i) write_shoot(i);
  }
  std::string_view written() const { return out_.written(); }

 private:
  void write_foreign(const Key& place) { foreign_.write(place, out_); }

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
  const ForeignElements& foreign_;
  OpContext& ctx_;
  XmlText out_;
  std::uint64_t phytomers_ = 0;
};

/// Consecutive shoots, and where the text of a thread has them.
struct Piece {
  std::uint32_t first_shoot, last_shoot;
  int worker;
  std::size_t begin, size;
};

std::vector<Piece> pieces_of(const PlantStructure& plant) {
  std::vector<Piece> pieces;
  std::size_t phytomers = kPhytomersPerPiece;  // the first shoot begins a piece
  for (std::uint32_t i = 0; i < plant.shoots.size(); ++i) {
    if (phytomers >= kPhytomersPerPiece) {
      pieces.push_back({i, i, 0, 0, 0});
      phytomers = 0;
    }
    pieces.back().last_shoot = i + 1;
    phytomers += 1 + plant.shoots[i].phytomers.size();
  }
  return pieces;
}

/// A document in pieces: the head, the shoots, the tail.
class PlantDocument {
 public:
  PlantDocument(const PlantStructure& plant, OpContext& ctx) : foreign_(plant), pieces_(pieces_of(plant)) {
    write_head(plant, head_);
    write_tail(foreign_, tail_);
    ctx.begin_phase("Writing structure document", pieces_.size());
    for (int i = 0; i < ctx.threads(); ++i) writers_.emplace_back(plant, foreign_, ctx);
    std::atomic<std::size_t> total{head_.written().size() + tail_.written().size()};
    parallel_for_worker(ctx, pieces_.size(), 1, [&](std::size_t begin, std::size_t end, int worker) {
      ShootWriter& writer = writers_[static_cast<std::size_t>(worker)];
      for (Piece* piece = &pieces_[begin]; piece != &pieces_[0] + end; ++piece) {
        piece->worker = worker;
        piece->begin = writer.written().size();
        writer.write(piece->first_shoot, piece->last_shoot);
        piece->size = writer.written().size() - piece->begin;
        if (total.fetch_add(piece->size) + piece->size > kMaxPlantDocumentBytes) fail_too_long();
      }
    });
    size_ = total;
  }
  std::size_t size() const { return size_; }

  /// Copies the document to `out`, which has room for it.
  void copy_to(char* out, OpContext& ctx) const {
    out = copied(head_.written(), out);
    std::vector<char*> places;
    for (const Piece& piece : pieces_) places.push_back(std::exchange(out, out + piece.size));
    copied(tail_.written(), out);
    ctx.begin_phase("Joining structure document", pieces_.size());
    parallel_for(ctx, pieces_.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) copied(text_of(pieces_[i]), places[i]);
    });
  }

 private:
  static char* copied(std::string_view text, char* out) { return std::copy(text.begin(), text.end(), out); }
  std::string_view text_of(const Piece& piece) const {
    return writers_[static_cast<std::size_t>(piece.worker)].written().substr(piece.begin, piece.size);
  }

  ForeignElements foreign_;
  std::vector<Piece> pieces_;
  std::deque<ShootWriter> writers_;  ///< one for each thread
  XmlText head_, tail_;
  std::size_t size_ = 0;
};

}  // namespace

BulkVector<char> write_plant_document(const PlantStructure& plant, OpContext& ctx) {
  const PlantDocument document(plant, ctx);
  BulkVector<char> text(document.size());
  document.copy_to(text.data(), ctx);
  return text;
}

Column<std::uint8_t> plant_document_column(const PlantStructure& plant, std::size_t word_bytes,
                                           OpContext& ctx) {
  require(word_bytes > 0, "word_bytes must be above 0");
  const PlantDocument document(plant, ctx);
  Column<std::uint8_t> bytes((document.size() + word_bytes - 1) / word_bytes * word_bytes);
  std::uint8_t* const first = bytes.view().begin();
  document.copy_to(reinterpret_cast<char*>(first), ctx);
  std::fill(first + document.size(), bytes.view().end(), std::uint8_t{' '});
  return bytes;
}

}  // namespace pc::io
