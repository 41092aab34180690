#include <cstring>

#include "cost_case.h"
#include "io/crc32c.h"
#include "io/decimal.h"
#include "io/frame_lists.h"
#include "io/json_lists.h"
#include "io/lzf.h"
#include "io/xml_reader.h"

namespace pc::bench {

namespace {

std::string repeated(std::size_t n, const char* part) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text += part;
  return text;
}

using Text = std::function<std::string(std::size_t)>;

/// A list of n parts, without the comma of the last.
Text list_of(const char* key, const char* part) {
  return [key, part](std::size_t n) {
    std::string parts = repeated(n, part);
    parts.pop_back();
    return std::string("{\"") + key + "\":[" + parts + "]}";
  };
}

void add_json_costs(CostCases& cases) {
  const auto add = [&](const char* input, const Text& text) {
    cases.push_back(
        {"json_lists", input, 50'000,
         prepared([text](std::size_t n) { return text(n) + std::string(io::kDecimalPadding, '\0'); },
                  [](const std::string& text, OpContext& ctx) {
                    using Kind = io::JsonShape::Kind;
                    const io::JsonShape shape{Kind::kObject,
                                              {{"points", {Kind::kPoints, {}}},
                                               {"numbers", {Kind::kNumbers, {}}},
                                               {"heights", {Kind::kHeights, {}}},
                                               {"flags", {Kind::kFlags, {}}},
                                               {"value", {}}}};
                    io::read_json_lists({text.data(), text.size() - io::kDecimalPadding}, shape, "T",
                                        {std::size_t{64} << 20, 64}, ctx);
                  }),
         1, HUGE_VAL});
  };
  add("points", list_of("points", "[1.25,2.5,-3.75],"));
  add("numbers", list_of("numbers", "1.25,"));
  add("many digits", list_of("numbers", "1.2345678901234567890123456789e-300,"));
  add("heights", list_of("heights", "null,"));
  add("rows of heights", list_of("heights", "[1,null],"));
  add("flags", list_of("flags", "true,"));
  add("wrong at the end", [](std::size_t n) { return "{\"numbers\":[" + repeated(n, "1,") + "\"no\"]}"; });
  add("nested", list_of("value", "[[[[[[1]]]]]],"));
  add("equal keys", [](std::size_t n) { return "{" + repeated(n, "\"numbers\":[1],") + "\"value\":1}"; });
  add("unknown keys", [](std::size_t n) { return "{" + repeated(n, "\"other\":[1],") + "\"value\":1}"; });
  add("escapes", [](std::size_t n) { return "{\"value\":\"" + repeated(n, "\\u00e4\\n") + "\"}"; });
  add("blanks", [](std::size_t n) { return "{\"value\":" + repeated(n, " \n\t ") + "1}"; });
}

void add_xml_costs(CostCases& cases) {
  const auto add = [&](const char* input, const Text& text) {
    cases.push_back({"xml_reader", input, 20'000,
                     prepared(text,
                              [](const std::string& text, OpContext&) {
                                BulkVector<char> bytes(text.size());
                                std::memcpy(bytes.data(), text.data(), text.size());
                                io::XmlDocument::parse(std::move(bytes), "bench");
                              }),
                     1, HUGE_VAL});
  };
  const auto in_root = [](const char* part) {
    return [part](std::size_t n) { return "<root>" + repeated(n, part) + "</root>"; };
  };
  add("elements", in_root("<a b=\"c\">d</a>"));
  add("empty elements", in_root("<a/>"));
  add("references", in_root("&amp;&#65;"));
  add("sections", in_root("<![CDATA[x]]>"));
  add("comments", in_root("<!-- c -->"));
  add("text", in_root("text with ] and ]] in it "));
  add("deep", in_root("<a><b><c><d><e><f><g>x</g></f></e></d></c></b></a>"));
  add("attributes", [](std::size_t n) {
    std::string element = "<a";
    for (int i = 0; i < 64; ++i) element += " name" + std::to_string(i) + "=\"v\"";
    return "<root>" + repeated(n / 64, (element + "/>").c_str()) + "</root>";
  });
}

void add_byte_costs(CostCases& cases) {
  using Bytes = std::vector<std::byte>;
  cases.push_back({"crc32c", "random", 200'000,
                   prepared(
                       [](std::size_t n) {
                         Bytes bytes(n);
                         for (std::size_t i = 0; i < n; ++i)
                           bytes[i] = static_cast<std::byte>(random_u64(1, i));
                         return bytes;
                       },
                       [](const Bytes& bytes, OpContext&) {
                         volatile std::uint32_t kept = io::crc32c(bytes.data(), bytes.size());
                         static_cast<void>(kept);
                       })});
  const auto lzf = [&](const char* input, const std::string& run, const std::string& first) {
    cases.push_back(
        {"lzf", input, 50'000,
         prepared(
             [=](std::size_t n) {
               std::string text = first;
               for (std::size_t i = 0; i < n; ++i) text += run;
               return text;
             },
             [](const std::string& text, OpContext& ctx) {
               const Span<const std::byte> in{reinterpret_cast<const std::byte*>(text.data()), text.size()};
               BulkVector<std::byte> out(static_cast<std::size_t>(io::lzf_decoded_size(in, "bench", ctx)));
               io::lzf_decode(in, out.view(), "bench", ctx);
             }),
         1, HUGE_VAL});
  };
  const std::string literal(1, '\x1f'), head = literal + std::string(32, 'a');
  lzf("literals", head, "");
  lzf("short copies", std::string("\x20\x00", 2), head);
  lzf("long copies", std::string("\xe0\xff\x00", 3), head);
}

void add_frame_costs(CostCases& cases) {
  using Kind = io::JsonShape::Kind;
  for (const auto& [input, kind] :
       {std::pair{"points", Kind::kPoints}, {"numbers", Kind::kNumbers}, {"heights", Kind::kHeights}}) {
    cases.push_back({"frame_lists", input, 1'000'000,
                     prepared(
                         [](std::size_t n) {
                           std::vector<float> values(n / 3 * 3);
                           for (std::size_t i = 0; i < values.size(); ++i)
                             values[i] = static_cast<float>(random_unit(1, i));
                           return values;
                         },
                         [kind = kind](const std::vector<float>& values, OpContext& ctx) {
                           const Span<const std::byte> bytes{
                               reinterpret_cast<const std::byte*>(values.data()), 4 * values.size()};
                           io::read_frame_list(bytes, {kind, true, 0, values.size(), {1, 2, 3}}, ctx);
                         })});
  }
}

}  // namespace

void add_parser_costs(CostCases& cases) {
  add_json_costs(cases);
  add_frame_costs(cases);
  add_xml_costs(cases);
  add_byte_costs(cases);
}

}  // namespace pc::bench
