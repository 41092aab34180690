#pragma once
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "io/lzf_encode.h"
#include "io/pcd.h"
#include "io/record_support.h"

/// What the tests of the PCD reader share.
namespace pc::record_test {

using io::CloudTable;
using io::kAllRows;
using io::PcdCloud;
using io::PcdReadParams;

inline PcdCloud read_pcd_path(const std::string& path, PcdReadParams params = {{}, 0, kAllRows},
                              int threads = 2) {
  return with_context(threads, [&](OpContext& ctx) { return io::read_pcd(path, params, ctx); });
}

inline PcdCloud read_pcd_bytes(const std::string& bytes, PcdReadParams params = {{}, 0, kAllRows},
                               int threads = 2) {
  return read_pcd_path(ScratchFile(bytes, ".pcd").path(), params, threads);
}

inline constexpr const char* kPcdData[] = {"ascii", "binary", "binary_compressed"};

/// Builds a PCD file from cells that are given once, in every kind of body.
class PcdFile {
 public:
  /// type: "F4", "U1", ...
  PcdFile& field(const std::string& name, const std::string& type, int count = 1) {
    names_.push_back(name);
    types_.push_back(type);
    counts_.push_back(count);
    return *this;
  }
  template <class T>
  PcdFile& value(T v) {
    std::ostringstream text;
    text.precision(17);
    text << +v;
    text_.push_back(text.str());
    bytes_.push_back(raw(v));
    return *this;
  }
  /// A header line to add before DATA.
  PcdFile& line(const std::string& text) {
    lines_ += text + "\n";
    return *this;
  }

  std::size_t values_per_row() const {
    std::size_t n = 0;
    for (const int count : counts_) n += static_cast<std::size_t>(count);
    return n;
  }
  std::size_t rows() const { return text_.size() / values_per_row(); }

  std::string header(const std::string& data, std::size_t rows) const {
    std::string fields = "FIELDS", size = "SIZE", type = "TYPE", count = "COUNT";
    for (std::size_t i = 0; i < names_.size(); ++i) {
      fields += " " + names_[i];
      size += std::string(" ") + types_[i][1];
      type += std::string(" ") + types_[i][0];
      count += " " + std::to_string(counts_[i]);
    }
    return "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\n" + fields + "\n" + size + "\n" + type +
           "\n" + count + "\nWIDTH " + std::to_string(rows) + "\nHEIGHT 1\n" + lines_ + "POINTS " +
           std::to_string(rows) + "\nDATA " + data + "\n";
  }

  std::string body(const std::string& data, bool with_padding = false) const {
    std::string out;
    if (data != "binary_compressed") {
      for (std::size_t i = 0; i < text_.size(); ++i) {
        out += data == "binary" ? bytes_[i] : text_[i] + ((i + 1) % values_per_row() == 0 ? "\n" : " ");
      }
      return out;
    }
    std::size_t place = 0;
    for (std::size_t f = 0; f < names_.size(); ++f) {
      for (std::size_t row = 0; row < rows() && (with_padding || names_[f] != "_"); ++row) {
        for (int k = 0; k < counts_[f]; ++k)
          out += bytes_[row * values_per_row() + place + static_cast<std::size_t>(k)];
      }
      place += static_cast<std::size_t>(counts_[f]);
    }
    const std::string packed = lzf_encode(out);
    return raw(static_cast<std::uint32_t>(packed.size())) + raw(static_cast<std::uint32_t>(out.size())) +
           packed;
  }

  std::string bytes(const std::string& data, bool with_padding = false) const {
    return header(data, rows()) + body(data, with_padding);
  }

 private:
  std::vector<std::string> names_, types_, text_, bytes_;
  std::vector<int> counts_;
  std::string lines_;
};

}  // namespace pc::record_test
