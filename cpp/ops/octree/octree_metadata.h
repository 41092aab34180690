#pragma once
#include <optional>
#include <string>

#include "ops/octree/octree_build.h"

namespace pc::octree {

/// metadata.json of Potree 2: every number finite, extrema of an attribute without finite values 0.
std::string metadata_json(const OctreeResult& result);
/// The result that metadata_json writes as exactly this text; none for any other text. Counts of nodes and bytes, which
/// it does not hold, are 0 but record_bytes; tight_bounds are the position's extrema.
std::optional<OctreeResult> parse_metadata_json(const std::string& text);
/// attribute_labels.json: name -> label of the attributes that have one.
std::string labels_json(const OctreeResult& result);

}  // namespace pc::octree
