#pragma once
#include <algorithm>
#include <string>

namespace pc::record_test {

/// A slow LZF encoder: longest earlier match within 8 KiB, literals otherwise.
inline std::string lzf_encode(const std::string& data) {
  std::string out, literal;
  const auto flush = [&] {
    for (std::size_t at = 0; at < literal.size(); at += 32) {
      const std::string part = literal.substr(at, 32);
      out += static_cast<char>(part.size() - 1);
      out += part;
    }
    literal.clear();
  };
  for (std::size_t i = 0; i < data.size();) {
    std::size_t best = 0, distance = 0;
    for (std::size_t d = 1; d <= std::min<std::size_t>(i, 8192); ++d) {
      std::size_t length = 0;
      while (length < 264 && i + length < data.size() && data[i + length] == data[i + length - d]) ++length;
      if (length > best) best = length, distance = d;
      if (best == 264) break;
    }
    if (best < 3) {
      literal += data[i++];
      continue;
    }
    flush();
    const std::size_t length = best - 2, back = distance - 1;
    out += static_cast<char>((std::min<std::size_t>(length, 7) << 5) | (back >> 8));
    if (length >= 7) out += static_cast<char>(length - 7);
    out += static_cast<char>(back & 0xff);
    i += best;
  }
  flush();
  return out;
}

}  // namespace pc::record_test
