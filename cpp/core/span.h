#pragma once
#include <cassert>
#include <cstddef>
#include <type_traits>

#include "core/host_device.h"

namespace pc {

/// Non-owning view of `size` elements. Usable in host and device code; must not outlive the elements.
template <class T>
struct Span {
  T* data = nullptr;
  std::size_t size = 0;

  PC_HD T& operator[](std::size_t i) const {
    assert(i < size);
    return data[i];
  }
  PC_HD bool empty() const { return size == 0; }
  PC_HD T* begin() const { return data; }
  PC_HD T* end() const { return data + size; }
  PC_HD Span subspan(std::size_t offset, std::size_t count) const {
    assert(offset <= size && count <= size - offset);
    return {data + offset, count};
  }
  PC_HD operator Span<const T>() const requires(!std::is_const_v<T>) { return {data, size}; }
};

}  // namespace pc
