#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "io/crc32c.h"

/// Builds E57 files for the tests and the fuzzer: plain, slow, and independent of the reader but for the
/// checksum, which has a test of its own.
namespace pc::e57_test {

using Bytes = std::vector<std::uint8_t>;

template <class T>
void put(Bytes& out, T value) {
  Bytes raw(sizeof value);
  std::memcpy(raw.data(), &value, sizeof value);
  out.insert(out.end(), raw.begin(), raw.end());
}

/// One field of the prototype with its values.
struct Field {
  std::string name, attributes;
  unsigned bits = 0;
  std::int64_t minimum = 0;
  std::vector<std::uint64_t> raw;  ///< what is packed

  static Field single(std::string name, const std::vector<float>& values) {
    Field f{std::move(name), "type=\"Float\" precision=\"single\"", 32, 0, {}};
    for (const float v : values) f.raw.push_back(std::bit_cast<std::uint32_t>(v));
    return f;
  }
  static Field real(std::string name, const std::vector<double>& values) {
    Field f{std::move(name), "type=\"Float\"", 64, 0, {}};
    for (const double v : values) f.raw.push_back(std::bit_cast<std::uint64_t>(v));
    return f;
  }
  /// scale "" = Integer, else ScaledInteger with these further attributes.
  static Field integer(std::string name, std::int64_t minimum, std::int64_t maximum,
                       const std::vector<std::int64_t>& values, const std::string& scale = "") {
    Field f{std::move(name),
            std::string("type=\"") + (scale.empty() ? "Integer" : "ScaledInteger") + "\" minimum=\"" +
                std::to_string(minimum) + "\" maximum=\"" + std::to_string(maximum) + "\" " + scale,
            static_cast<unsigned>(
                std::bit_width(static_cast<std::uint64_t>(maximum) - static_cast<std::uint64_t>(minimum))),
            minimum,
            {}};
    for (const std::int64_t v : values) {
      f.raw.push_back(static_cast<std::uint64_t>(v) - static_cast<std::uint64_t>(minimum));
    }
    return f;
  }

  Bytes stream() const {
    Bytes out((raw.size() * bits + 7) / 8);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      for (unsigned b = 0; b < bits; ++b) {
        const std::size_t bit = i * bits + b;
        out[bit / 8] = static_cast<std::uint8_t>(out[bit / 8] | ((raw[i] >> b & 1) << (bit % 8)));
      }
    }
    return out;
  }
};

struct Scan {
  std::vector<Field> fields;
  std::string xml;                  ///< further elements: pose, bounds, limits
  std::size_t packet_bytes = 4000;  ///< of streams in a packet, at most
  unsigned skew = 0;                ///< field i lags by i * skew bytes a packet, so that fields fall apart
  bool extra_packets = false;       ///< index and ignored packets in between
  std::string codecs;
  std::uint64_t count() const { return fields.empty() ? 0 : fields[0].raw.size(); }
};

class E57File {
 public:
  std::vector<Scan> scans;
  std::string root_xml;  ///< further elements of e57Root, such as images2D
  std::string xml_prefix = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

  Bytes build() const {
    Bytes body(48);
    std::string xml = xml_prefix +
                      "<e57Root type=\"Structure\" xmlns=\"http://www.astm.org/COMMIT/E57/2010-e57-v1.0\">"
                      "<guid type=\"String\"><![CDATA[{file}]]></guid><data3D type=\"Vector\">";
    for (const Scan& scan : scans) {
      const std::uint64_t at = physical(body.size());
      const Bytes section = section_of(scan, body.size());
      body.insert(body.end(), section.begin(), section.end());
      xml += "<vectorChild type=\"Structure\">" + scan.xml +
             "<points type=\"CompressedVector\" fileOffset=\"" + std::to_string(at) + "\" recordCount=\"" +
             std::to_string(scan.count()) + "\"><prototype type=\"Structure\">";
      for (const Field& field : scan.fields) xml += "<" + field.name + " " + field.attributes + "/>";
      xml += "</prototype><codecs type=\"Vector\">" + scan.codecs + "</codecs></points></vectorChild>";
    }
    xml += "</data3D>" + root_xml + "</e57Root>";
    const std::uint64_t xml_at = body.size();
    body.insert(body.end(), xml.begin(), xml.end());
    Bytes header;
    for (const char c : std::string("ASTM-E57")) header.push_back(static_cast<std::uint8_t>(c));
    put(header, std::uint32_t{1});
    put(header, std::uint32_t{0});
    put(header, std::uint64_t{(body.size() + 1019) / 1020 * 1024});
    put(header, physical(xml_at));
    put(header, std::uint64_t{xml.size()});
    put(header, std::uint64_t{1024});
    std::copy(header.begin(), header.end(), body.begin());
    return paged(body);
  }

  static std::uint64_t physical(std::uint64_t logical) { return logical / 1020 * 1024 + logical % 1020; }

  static Bytes paged(const Bytes& logical) {
    Bytes out;
    for (std::size_t at = 0; at < logical.size(); at += 1020) {
      const std::size_t end = std::min(logical.size(), at + 1020);
      out.insert(out.end(), logical.begin() + static_cast<std::ptrdiff_t>(at),
                 logical.begin() + static_cast<std::ptrdiff_t>(end));
      out.resize((at / 1020 + 1) * 1024);
    }
    seal(out);
    return out;
  }

  /// Makes the checksums of all whole pages right.
  static void seal(Bytes& file) {
    for (std::size_t at = 0; at + 1024 <= file.size(); at += 1024) {
      const std::uint32_t crc = io::crc32c(reinterpret_cast<const std::byte*>(file.data()) + at, 1020);
      for (unsigned i = 0; i < 4; ++i) file[at + 1020 + i] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
    }
  }

 private:
  static Bytes section_of(const Scan& scan, std::uint64_t begin) {
    std::vector<Bytes> streams;
    for (const Field& field : scan.fields) streams.push_back(field.stream());
    std::vector<std::size_t> done(streams.size());
    Bytes out(32);
    for (bool more = scan.count() != 0; more;) {
      if (scan.extra_packets) append_other_packets(out);
      Bytes head = {1, 0, 0, 0}, data;
      put(head, static_cast<std::uint16_t>(streams.size()));
      more = false;
      for (std::size_t s = 0; s < streams.size(); ++s) {
        const std::size_t share = scan.packet_bytes / streams.size() + 1;
        const std::size_t wanted = share > s * scan.skew ? share - s * scan.skew : 1;
        const std::size_t piece = std::min(wanted, streams[s].size() - done[s]);
        put(head, static_cast<std::uint16_t>(piece));
        data.insert(data.end(), streams[s].begin() + static_cast<std::ptrdiff_t>(done[s]),
                    streams[s].begin() + static_cast<std::ptrdiff_t>(done[s] + piece));
        done[s] += piece;
        more = more || done[s] < streams[s].size();
      }
      head.insert(head.end(), data.begin(), data.end());
      while (head.size() % 4 != 0) head.push_back(0);
      head[2] = static_cast<std::uint8_t>((head.size() - 1) & 0xff);
      head[3] = static_cast<std::uint8_t>((head.size() - 1) >> 8);
      out.insert(out.end(), head.begin(), head.end());
    }
    Bytes header = {1, 0, 0, 0, 0, 0, 0, 0};
    put(header, std::uint64_t{out.size()});
    put(header, physical(begin + 32));
    put(header, std::uint64_t{0});
    std::copy(header.begin(), header.end(), out.begin());
    return out;
  }
  static void append_other_packets(Bytes& out) {
    Bytes index = {0, 0, 31, 0, 1, 0, 0};
    index.resize(32);
    const Bytes ignored = {2, 0, 7, 0, 9, 9, 9, 9};
    out.insert(out.end(), index.begin(), index.end());
    out.insert(out.end(), ignored.begin(), ignored.end());
  }
};

inline std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace pc::e57_test
