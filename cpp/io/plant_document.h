#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/plant_structure.h"

namespace pc::io {

/// Largest structure document that is read or written, bytes.
inline constexpr std::uint64_t kMaxPlantDocumentBytes = std::uint64_t{512} << 20;
/// Limits of one document.
inline constexpr std::size_t kMaxDocumentShoots = 500'000, kMaxDocumentPhytomers = 500'000,
                             kMaxDocumentOrgans = 4'000'000, kMaxDocumentSegments = 1000;

/// The structure document of a plant, UTF-8 XML: the elements of contract plants section 10 and, after them, ours:
///
/// element                     in              meaning; without it
/// species, random_seed,       plant_instance  GrowthState; none
/// plant_index, leaves_emerged
/// birth_day                   shoot, internode, petiole, floral_bud; 0, for the latter two as for their parent
/// radius_initial, girth_area_factor           internode: metres, cm2 per m2; 0
/// carried_area                internode: m2; 0
/// fallen_area, vegetative_bud petiole: m2; 0 none, 1 dormant, 2 broken, 3 dead; 0
/// inclination_u               leaf; by its order
/// breaks, sets_fruit          floral_bud: 0 or 1; 0
/// fruit_scale                 flower: metres; flower_base_scale
///
/// bud_state is 0 dormant, 1 active, 2 flower closed, 3 flower open, 4 fruiting, 5 dead. Numbers are the shortest text that
/// reads back to the same double.
///
/// Buds that do not flower have no peduncle and no inflorescence, unless the document keeps unknown elements.
///
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: longer than kMaxPlantDocumentBytes.
BulkVector<char> write_plant_document(const PlantStructure& plant, OpContext& ctx);

/// The same document as a column, with blanks at its end up to whole words of `word_bytes` bytes.
Column<std::uint8_t> plant_document_column(const PlantStructure& plant, std::size_t word_bytes,
                                           OpContext& ctx);

/// Reads a structure document of this or another program; the root may have any name. What write_plant_document wrote
/// gives an equal structure.
///
/// Lists    An empty list of perturbations means zeros; otherwise it has one number per segment.
/// Ignored  internode_vertices, internode_radii, leaf_base. Other unknown elements are kept as text.
/// IDs      Shoots are numbered in their order; parents are found by their IDs and must come first.
/// Cancel   Within 50 ms.
/// Errors   kInvalidFile with the line and the element: bad XML, a missing or repeated element, a number that is no number,
///          not finite or out of its range, lists of another length, unknown parents, the limits above.
PlantStructure read_plant_document(BulkVector<char> text, OpContext& ctx);

}  // namespace pc::io
