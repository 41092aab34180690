#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/platform.h"
#include "io/e57_pages.h"

namespace pc::io::e57 {

/// Writes the logical bytes of an E57 file in order, page by page, each followed by its checksum (high byte first).
class PageWriter {
 public:
  /// Leaves room for the file header.
  explicit PageWriter(platform::File& file);

  /// Logical offset of the next byte.
  std::uint64_t position() const { return position_; }
  void append(const void* data, std::size_t bytes);
  /// Fills the last page with zeros and writes the file header. `xml_begin`: logical offset of the XML section, which
  /// ends at position(). Returns the size of the file.
  std::uint64_t finish(std::uint64_t xml_begin);

 private:
  void end_page();
  void flush();

  platform::File& file_;
  std::vector<std::byte> buffer_;  ///< complete pages and the one being filled
  std::vector<std::byte> first_;   ///< payload of the first page, which is written again with the file header
  std::size_t filled_ = 0;         ///< bytes of buffer_ in use
  std::uint64_t position_ = 0, written_ = 0;
};

}  // namespace pc::io::e57
