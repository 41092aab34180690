#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/platform.h"
#include "io/e57.h"

namespace pc::io::e57 {

inline constexpr std::uint64_t kPageBytes = 1024, kPayloadBytes = 1020;

/// Namespace of the fields that the standard does not name, one for each further column of a cloud. Its prefix in our
/// files is kOwnPrefix without the colon.
inline constexpr const char* kOwnNamespace = "urn:x-point-cloud:columns:1";
inline constexpr const char* kOwnPrefix = "column:";

/// The contents of an E57 file without its page checksums ("logical" bytes). Safe to use from several threads.
class Pages {
 public:
  /// physical_bytes  a multiple of kPageBytes, at most the file's size.
  Pages(const platform::File& file, std::uint64_t physical_bytes)
      : file_(file), logical_bytes_(physical_bytes / kPageBytes * kPayloadBytes) {}

  const std::string& path() const { return file_.path(); }
  std::uint64_t size() const { return logical_bytes_; }

  /// Logical offset of a physical offset. Throws kInvalidFile ("`what` lies at byte ...") if it is inside a checksum or
  /// beyond the end.
  std::uint64_t to_logical(std::uint64_t physical, const std::string& what) const;
  static std::uint64_t to_physical(std::uint64_t logical) {
    return logical / kPayloadBytes * kPageBytes + logical % kPayloadBytes;
  }

  /// Reads logical bytes [begin, begin + bytes) and checks every page that contains them; `scratch` is reused. Errors:
  /// kInvalidFile for a wrong checksum (with page, byte and both values) or bytes beyond the end, kIo.
  void read(std::uint64_t begin, std::size_t bytes, std::byte* out, std::vector<std::byte>& scratch) const;

 private:
  const platform::File& file_;
  std::uint64_t logical_bytes_;
};

/// The file header's fields (ASTM E2807-11, table 1), little-endian:
///
/// | offset | size | type | meaning |
/// |---|---|---|---|
/// | 0  | 8 | chars | `ASTM-E57` |
/// | 8  | 4 | u32 | major version, 1 |
/// | 12 | 4 | u32 | minor version |
/// | 16 | 8 | u64 | physical file length |
/// | 24 | 8 | u64 | physical offset of the XML section |
/// | 32 | 8 | u64 | logical length of the XML section |
/// | 40 | 8 | u64 | page size, 1024 |
struct FileHeader {
  std::uint32_t version_major, version_minor;
  std::uint64_t physical_bytes, xml_offset, xml_bytes;
};

/// Reads and checks the file header.
FileHeader read_file_header(const platform::File& file);
/// Reads the XML section; see read_e57_header.
E57Header read_header(const Pages& pages, const FileHeader& file_header);

}  // namespace pc::io::e57
