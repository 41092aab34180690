#pragma once
#include <cstdint>
#include <vector>

#include "io/json_lists.h"
#include "io/json_walker.h"

namespace pc::io {

/// Reads the list of objects at the position: one row of an f64 table per object, and the values of their lists.
///
/// Row        Numbers and points of `fields` in their order (a point takes three columns), then the length of each list.
/// Records    As with JSON.parse, a later member replaces an earlier one of the same name.
/// Cost       O(text) time; memory for the columns, and as much again for a moment.
/// Cancel     Within 250 ms.
/// Errors     Those of JsonWalker; values against their rules make the list invalid.
JsonList read_json_records(JsonWalker& walker, const std::vector<RecordField>& fields, std::uint32_t depth);

}  // namespace pc::io
