#include "io/ply_body.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/polygon_mesh.h"
#include "io/ply_faces.h"
#include "io/scalar_bytes.h"

namespace pc::io {

namespace {
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::uint64_t kPollRows = 1 << 16;

/// The scalar at `at` as an index, or kNoIndex.
std::uint32_t index_at(const std::byte* at, DType type, bool swap_bytes) {
  std::uint32_t index = kNoIndex;
  with_type(type, [&](auto sample) {
    using T = decltype(sample);
    const T value = swap_bytes ? load<T, true>(at) : load<T, false>(at);
    if constexpr (std::is_floating_point_v<T>) {
      const bool whole = value >= T{0} && value < static_cast<T>(kNoIndex) && std::trunc(value) == value;
      if (whole) index = static_cast<std::uint32_t>(value);
    } else if (value >= T{0} && static_cast<std::uint64_t>(value) < kNoIndex) {
      index = static_cast<std::uint32_t>(value);
    }
  });
  return index;
}
}  // namespace

PlyRowSize row_size(const PlyElement& element) {
  PlyRowSize size;
  for (const PlyProperty& property : element.properties) {
    if (property.is_list) {
      size.has_list = true;
      size.shortest += dtype_size(property.count_type);
    } else {
      size.scalars += dtype_size(property.type);
    }
  }
  size.shortest += size.scalars;
  return size;
}

const std::byte* PlyRowWalker::take(std::size_t bytes) {
  if (offset_ < buffer_offset_ || offset_ + bytes > buffer_offset_ + held_) {
    if (buffer_.empty()) buffer_.resize(kBufferBytes);
    buffer_offset_ = offset_;
    held_ = file_.read_at(offset_, buffer_.data(), kBufferBytes);
    if (held_ < bytes) return nullptr;
  }
  const std::byte* const at = buffer_.data() + (offset_ - buffer_offset_);
  offset_ += bytes;
  return at;
}

bool PlyRowWalker::advance(std::uint64_t bytes) {
  if (bytes > file_.size() || offset_ > file_.size() - bytes) return false;
  offset_ += bytes;
  return true;
}

std::uint64_t PlyRowWalker::list_count(const PlyProperty& property, const std::byte* at) const {
  std::uint64_t count = 0;
  with_type(property.count_type, [&](auto sample) {
    using T = decltype(sample);
    if constexpr (std::is_integral_v<T>) {
      const T value = swap_bytes_ ? load<T, true>(at) : load<T, false>(at);
      if (std::is_signed_v<T> && value < T{}) {
        throw Error(ErrorCode::kInvalidFile,
                    file_.path() + ", byte " + std::to_string(offset_ - dtype_size(property.count_type)) +
                        ": list \"" + property.name + "\" has the negative count " + std::to_string(value));
      }
      count = static_cast<std::uint64_t>(value);
    }
  });
  return count;
}

bool PlyRowWalker::read_row(const PlyElement& element, std::byte* record,
                            const std::vector<std::size_t>& offsets) {
  for (std::size_t i = 0; i < element.properties.size(); ++i) {
    const PlyProperty& property = element.properties[i];
    const std::size_t bytes = dtype_size(property.is_list ? property.count_type : property.type);
    const std::byte* const at = take(bytes);
    if (at == nullptr) return false;
    if (!property.is_list) {
      if (record != nullptr) std::memcpy(record + offsets[i], at, bytes);
      continue;
    }
    const std::uint64_t count = list_count(property, at);
    if (count > file_.size() || !advance(count * dtype_size(property.type))) return false;
  }
  return true;
}

bool PlyRowWalker::read_list(const PlyElement& element, std::size_t list, BulkVector<std::uint32_t>& out) {
  for (std::size_t i = 0; i < element.properties.size(); ++i) {
    const PlyProperty& property = element.properties[i];
    const std::byte* const at = take(dtype_size(property.is_list ? property.count_type : property.type));
    if (at == nullptr) return false;
    if (!property.is_list) continue;
    const std::uint64_t count = list_count(property, at);
    if (i != list) {
      if (count > file_.size() || !advance(count * dtype_size(property.type))) return false;
      continue;
    }
    if (count > kMaxFaceCorners) fail_face_corners(file_.path(), count);
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::byte* const value = take(dtype_size(property.type));
      if (value == nullptr) return false;
      out.push_back(index_at(value, property.type, swap_bytes_));
    }
  }
  return true;
}

bool PlyRowWalker::skip(const PlyElement& element, OpContext& ctx) {
  const PlyRowSize size = row_size(element);
  if (!size.has_list) {
    if (size.scalars == 0) return true;
    return element.count <= file_.size() / size.scalars && advance(element.count * size.scalars);
  }
  for (std::uint64_t row = 0; row < element.count; ++row) {
    if (row % kPollRows == 0) ctx.checkpoint();
    if (!read_row(element, nullptr, {})) return false;
  }
  return true;
}

}  // namespace pc::io
