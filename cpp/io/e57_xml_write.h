#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/e57_record.h"
#include "io/e57_write.h"

namespace pc::io::e57 {

/// What the XML section says of a scan.
struct WrittenScan {
  std::string name;
  std::optional<Vec3d> position;  ///< of the scanner, file frame
  Box3d bounds;                   ///< of the hits, scan frame; empty without hits
  std::vector<WrittenField> fields;
  std::uint64_t records = 0, section_offset = 0;  ///< section_offset: physical
};

/// The XML section. Errors: kInvalidArgument if it is larger than readers accept.
std::string xml_section(const E57WriteParams& params, const std::vector<WrittenScan>& scans);

}  // namespace pc::io::e57
