#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"

namespace pc::io {

/// The whole lines that start in one fixed-size chunk of a text body. Chunks can be loaded in any order: each line of
/// the body starts in exactly one.
class RecordLines {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 18;
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

  static std::size_t count(const platform::File& file, std::uint64_t offset) {
    return offset >= file.size() ? 0 : static_cast<std::size_t>((file.size() - offset + kBytes - 1) / kBytes);
  }

  /// Loads chunk `index` of the body at `offset`. Throws kInvalidFile if a line is longer than kMaxLineBytes.
  void load(const platform::File& file, std::uint64_t offset, char line_end, std::size_t index) {
    const std::uint64_t begin = offset + std::uint64_t{index} * kBytes;
    const std::uint64_t lead = index == 0 ? 0 : 1;  // the byte before shows whether a line starts at `begin`
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(kBytes, file.size() - begin) + lead);
    if (buffer_.size() < want) buffer_.resize(std::max(want, kBytes + 1));
    size_ = file.read_at(begin - lead, buffer_.data(), want);
    start_ = 0;
    if (lead == 1) {
      const void* mark = size_ == 0 ? nullptr : std::memchr(buffer_.data(), line_end, size_);
      start_ = mark == nullptr
                   ? size_
                   : static_cast<std::size_t>(static_cast<const char*>(mark) - buffer_.data()) + 1;
    }
    if (start_ < size_ && buffer_[size_ - 1] != line_end) extend(file, begin - lead, line_end);
  }

  const char* begin() const { return buffer_.data() + start_; }
  const char* end() const { return buffer_.data() + size_; }

 private:
  /// Continues reading until the last line is complete or the file ends.
  void extend(const platform::File& file, std::uint64_t base, char line_end) {
    constexpr std::size_t kStep = std::size_t{1} << 16;
    const std::size_t first = size_;
    for (;;) {
      if (size_ - first > kMaxLineBytes) {
        throw Error(ErrorCode::kInvalidFile, file.path() + ": the line around byte " +
                                                 std::to_string(base + first) +
                                                 " is longer than 16 MiB, this is not a text table");
      }
      if (buffer_.size() < size_ + kStep) buffer_.resize(std::max(size_ + kStep, buffer_.size() * 2));
      const std::size_t got = file.read_at(base + size_, buffer_.data() + size_, kStep);
      if (got == 0) return;
      const void* mark = std::memchr(buffer_.data() + size_, line_end, got);
      if (mark != nullptr) {
        size_ = static_cast<std::size_t>(static_cast<const char*>(mark) - buffer_.data()) + 1;
        return;
      }
      size_ += got;
    }
  }

  BulkVector<char> buffer_;
  std::size_t size_ = 0, start_ = 0;
};

}  // namespace pc::io
