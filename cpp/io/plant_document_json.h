#pragma once
#include <cstdint>
#include <string>

#include "core/column.h"
#include "core/memory.h"
#include "core/op_context.h"

namespace pc::io {

/// The structure document of a plant as the tables of an editor.
struct PlantTables {
  std::string plant_age;  ///< texts of the document, without surrounding blanks
  std::string base_position;
  /// JSON list of shoots: { shoot_id, parent_shoot_id, parent_node_index, parent_petiole_index: whole numbers, phytomers:
  /// [{ internode: { tag: text }, petioles: [{ tag: text, leaves: [{ tag: text }], floral_buds: [...] }] }], tag: text }.
  Column<std::uint8_t> shoots;
};

/// Reads a structure document into tables. All values stay text, and elements without a meaning here stay among them: an
/// element without children is a text, with children an object; of several of one name a list.
///
/// text     UTF-8; the root may have any name.
/// Cost     O(text) time; the tables need about half of the text.
/// Cancel   Within 250 ms, except while the XML is parsed (0.1 s for 10 MB).
/// Errors   kInvalidFile: not XML, no plant_instance, an id of a shoot that is no whole number.
PlantTables plant_tables(BulkVector<char> text, OpContext& ctx);

}  // namespace pc::io
