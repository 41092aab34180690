#include <atomic>
#include <filesystem>
#include <fstream>

#include "cost_case.h"
#include "io/ascii_table.h"
#include "io/e57.h"
#include "io/e57_builder.h"
#include "io/e57_write.h"
#include "io/las.h"
#include "io/pcd.h"
#include "io/pcd_write.h"
#include "io/ply.h"
#include "io/pts.h"
#include "io/ptx.h"
#include "io/text_writer.h"

namespace pc::bench {

namespace {

constexpr std::size_t kRows = 20'000;

/// A path in the temporary folder, removed with its file.
class Scratch {
 public:
  explicit Scratch(const std::string& extension) {
    static std::atomic<int> serial{0};
    const auto tick = std::chrono::steady_clock::now().time_since_epoch().count();
    path_ = (std::filesystem::temp_directory_path() /
             ("pc_costs_" + std::to_string(tick) + "_" + std::to_string(serial++) + extension))
                .string();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;  // the system empties its temporary folder
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }
  void write(const char* bytes, std::size_t size) const {
    std::ofstream out(path_, std::ios::binary);
    out.write(bytes, static_cast<std::streamsize>(size));
    if (!out.flush()) throw Error(ErrorCode::kIo, path_ + " could not be written whole");
  }
  void write(const std::string& text) const { write(text.data(), text.size()); }

 private:
  std::string path_;
};

/// A cloud and its scalars; `names` makes the slug of scalar i.
struct Table {
  Column<Vec3d> positions;
  Column<std::uint16_t> intensity;
  std::vector<AnyColumn> columns;
  std::vector<std::string> names;
  std::shared_ptr<Scratch> file;

  io::CloudView view() const {
    io::CloudView view;
    view.positions = positions.view();
    view.intensity = intensity.view();
    for (std::size_t i = 0; i < columns.size(); ++i) view.scalars.push_back({names[i], "", &columns[i]});
    return view;
  }
};

using Namer = std::string (*)(std::size_t);

std::string short_name(std::size_t i) { return "v" + std::to_string(i); }
std::string long_name(std::size_t i) { return std::string(500, 'n') + std::to_string(i); }
std::string same_name(std::size_t) { return "value"; }

Table table_of(std::size_t rows, std::size_t columns, const WorstValues& values, Namer name,
               const std::string& extension) {
  Table table{Column<Vec3d>(rows), Column<std::uint16_t>(rows), {}, {}, std::make_shared<Scratch>(extension)};
  for (std::size_t i = 0; i < rows; ++i) {
    const double v = values.at(i, rows);
    table.positions[i] = Vec3d{v, values.at(rows - 1 - i, rows), values.at(i / 2, rows)} * 1e-3;
    table.intensity[i] = static_cast<std::uint16_t>(v);
  }
  for (std::size_t c = 0; c < columns; ++c) {
    if (c % 2 == 0) {
      table.columns.emplace_back(value_column(values, rows));
    } else {
      Column<std::int32_t> whole(rows);
      for (std::size_t i = 0; i < rows; ++i) whole[i] = static_cast<std::int32_t>(values.at(i, rows));
      table.columns.emplace_back(std::move(whole));
    }
    table.names.push_back(name(c));
  }
  return table;
}

io::TextReadParams csv_layout(std::size_t columns) {
  io::TextReadParams params{};
  params.delimiter = io::TextDelimiter::kComma;
  params.skip_lines = 1;
  params.expected_columns = static_cast<std::uint32_t>(columns + 4);
  params.y_index = 1;
  params.z_index = 2;
  for (std::uint32_t i = 3; i < params.expected_columns; ++i)
    params.columns.push_back({i, "v" + std::to_string(i), io::TextColumnType::kAuto});
  return params;
}

struct Form {
  const char* name;
  const char* extension;
  std::function<void(const Table&, OpContext&)> write, read;
};

io::LasWriteParams las_params(bool compressed) {
  io::LasWriteParams params;
  params.compressed = compressed;
  return params;
}

std::vector<Form> table_forms() {
  using T = const Table&;
  using X = OpContext&;
  const auto las = [](bool compressed) {
    return [compressed](T t, X ctx) { io::write_las(t.view(), las_params(compressed), t.file->path(), ctx); };
  };
  const auto read_las = [](T t, X ctx) { io::read_las(t.file->path(), {}, ctx); };
  const auto text = [](io::TextFormat format) {
    return [format](T t, X ctx) {
      io::write_text(t.view(), io::cloud_export_layout(format), t.file->path(), ctx);
    };
  };
  return {
      {"las", ".las", las(false), read_las},
      {"laz", ".laz", las(true), read_las},
      {"csv", ".csv", text(io::TextFormat::kCsv),
       [](T t, X ctx) { io::read_text(t.file->path(), csv_layout(t.columns.size()), ctx); }},
      {"ply", ".ply", text(io::TextFormat::kPly),
       [](T t, X ctx) {
         io::read_ply(t.file->path(), {{}, 0, io::kAllRows}, ctx);
       }},
      {"pcd", ".pcd", [](T t, X ctx) { io::write_pcd(t.view(), {}, t.file->path(), ctx); },
       [](T t, X ctx) {
         io::read_pcd(t.file->path(), {{}, 0, io::kAllRows}, ctx);
       }},
      {"e57", ".e57",
       [](T t, X ctx) {
         io::write_e57(t.view(), {"cost", "{cost}", "cost", "", 0, {}, {}}, t.file->path(), ctx);
       },
       [](T t, X ctx) { io::read_e57(t.file->path(), {}, ctx); }},
  };
}

void add_form(CostCases& cases, const Form& form, const std::string& input, std::size_t n, double slower,
              const std::function<Table(std::size_t)>& make) {
  const auto written = [make, form](std::size_t size) {
    Table table = make(size);
    JobControl control;
    OpContext ctx(control, Device::kCpu, 1);
    form.write(table, ctx);
    return table;
  };
  cases.push_back({std::string(form.name) + " write", input, n, prepared(make, form.write), 1, slower});
  cases.push_back({std::string(form.name) + " read", input, n, prepared(written, form.read), 1, slower});
}

void add_forms(CostCases& cases) {
  for (const Form& form : table_forms()) {
    const std::string extension = form.extension;
    for (const WorstValues& values : worst_values()) {
      if (std::string(values.name).find("NaN") != std::string::npos) continue;
      if (std::string(values.name).find("huge") != std::string::npos) continue;  // positions fit no 32 bits
      add_form(cases, form, values.name, kRows, 1,
               [=](std::size_t n) { return table_of(n, 4, values, short_name, extension); });
    }
    add_form(cases, form, "200 columns", kRows / 40, HUGE_VAL,
             [=](std::size_t n) { return table_of(n, 200, worst_values()[0], short_name, extension); });
    for (const auto& [input, name] : {std::pair<const char*, Namer>{"many columns", short_name},
                                      {"many long names", long_name},
                                      {"many equal names", same_name}}) {
      add_form(cases, form, input, 50, HUGE_VAL, [=, name = name](std::size_t n) {
        return table_of(500, n, worst_values()[0], name, extension);
      });
    }
  }
}

/// Text of one line per row, to be read with a function.
void add_text(CostCases& cases, const std::string& op, const char* input, std::size_t n, double slower,
              const std::function<std::string(std::size_t)>& text,
              const std::function<void(const std::string&, OpContext&)>& read) {
  cases.push_back(
      {op, input, n,
       prepared(
           [text](std::size_t rows) {
             auto file = std::make_shared<Scratch>(".txt");
             file->write(text(rows));
             return file;
           },
           [read](const std::shared_ptr<Scratch>& file, OpContext& ctx) { read(file->path(), ctx); }),
       1, slower});
}

std::string repeated(std::size_t n, const char* line) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text += line;
  return text;
}

void add_text_costs(CostCases& cases) {
  const auto read = [](const std::string& path, OpContext& ctx) { io::read_text(path, csv_layout(1), ctx); };
  const std::string first = "x,y,z,a,b\n1,2,3,4,5\n";
  for (const auto& [input, line] : {std::pair{"plain", "1.25,2.5,3.75,4,5\n"},
                                    {"malformed", "1.25,oops,3.75,4,5\n"},
                                    {"blank", "\n"},
                                    {"comments", "# 1.25,2.5,3.75,4,5\n"},
                                    {"quoted", "\"1.25\",\"2.5\",\"3.75\",\"4\",\"5\"\n"},
                                    {"short rows", "1.25,2.5\n"},
                                    {"surplus", "1,2,3,4,5,6,7,8,9\n"},
                                    {"not finite", "inf,nan,3,4,5\n"},
                                    {"many digits", "1.2345678901234567890123456789,1e-300,2,4,5\n"}}) {
    add_text(
        cases, "ascii_table lines", input, 4 * kRows, HUGE_VAL,
        [first, line = line](std::size_t n) { return first + repeated(n, line); }, read);
  }
  add_text(
      cases, "ascii_table lines", "one long line", 100'000, HUGE_VAL,
      [first](std::size_t n) { return first + "1,2,3,4" + repeated(n, ",5") + "\n"; }, read);
  const auto ply = [](const std::string& path, OpContext&) { io::read_ply_header(path); };
  const std::string ply_end = "element vertex 0\nproperty float x\nend_header\n";
  add_text(
      cases, "ply header", "comments", 5000, 1,
      [=](std::size_t n) { return "ply\nformat ascii 1.0\n" + repeated(n, "comment c\n") + ply_end; }, ply);
  add_text(
      cases, "ply header", "elements", 200, HUGE_VAL,
      [=](std::size_t n) {
        return "ply\nformat ascii 1.0\n" + repeated(n, "element e 0\nproperty float x\n") + ply_end;
      },
      ply);
  add_text(
      cases, "pcd header", "comments", 5000, 1,
      [](std::size_t n) {
        return repeated(n, "# c\n") +
               "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 0\nHEIGHT 1\nPOINTS "
               "0\nDATA ascii\n";
      },
      [](const std::string& path, OpContext&) { io::read_pcd_header(path); });
}

std::string ptx_scan(std::size_t cells, const char* line) {
  return std::to_string(cells) + "\n1\n0 0 2\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 2 1\n" +
         repeated(cells, line);
}

void add_ptx_costs(CostCases& cases) {
  const auto read = [](const std::string& path, OpContext& ctx) { io::read_ptx(path, {}, ctx); };
  const auto scan = [](const char* line) { return [line](std::size_t n) { return ptx_scan(n, line); }; };
  add_text(cases, "ptx read", "cells", kRows, 1, scan("1.25 2.5 3.75 0.5\n"), read);
  add_text(cases, "ptx read", "empty cells", kRows, 1, scan("0 0 0 0.5\n"), read);
  add_text(cases, "ptx read", "unusual range", kRows, 2, scan("1.25 2.5 3.75 500\n"), read);
  add_text(
      cases, "ptx read", "many scans", 1000, HUGE_VAL,
      [](std::size_t n) {
        std::string text;
        for (std::size_t i = 0; i < n; ++i) text += ptx_scan(2, "1 2 3 0.5\n");
        return text;
      },
      read);
  const auto raster = [&](const char* input, std::size_t (*cell)(std::size_t, std::size_t)) {
    cases.push_back({"ptx write", input, kRows,
                     prepared(
                         [cell](std::size_t n) {
                           Table table = table_of(n, 0, worst_values()[0], short_name, ".ptx");
                           Column<std::int32_t> row(n), column(n);
                           for (std::size_t i = 0; i < n; ++i) {
                             row[i] = static_cast<std::int32_t>(cell(i, n) % 100);
                             column[i] = static_cast<std::int32_t>(cell(i, n) / 100);
                           }
                           table.columns.emplace_back(std::move(row));
                           table.columns.emplace_back(std::move(column));
                           table.names = {"row_index", "column_index"};
                           return table;
                         },
                         [](const Table& table, OpContext& ctx) {
                           io::write_ptx_cloud(table.view(), {1U << 30, {}, {}}, table.file->path(), ctx);
                         })});
  };
  raster("in order", [](std::size_t i, std::size_t) { return i; });
  raster("reversed", [](std::size_t i, std::size_t n) { return n - 1 - i; });
  raster("scattered",
         [](std::size_t i, std::size_t n) { return static_cast<std::size_t>(random_u64(3, i) % n); });
  raster("one cell", [](std::size_t, std::size_t) { return std::size_t{0}; });
}

void add_scan_costs(CostCases& cases) {
  cases.push_back(
      {"pts write", "random", kRows,
       prepared([](std::size_t n) { return table_of(n, 0, worst_values()[0], short_name, ".pts"); },
                [](const Table& t, OpContext& ctx) { io::write_pts(t.view(), t.file->path(), ctx); })});
  const auto e57 = [&](const char* input, std::size_t n, double slower, auto scans_of) {
    cases.push_back({"e57 read", input, n,
                     prepared(
                         [scans_of](std::size_t size) {
                           const auto [scans, points] = scans_of(size);
                           e57_test::E57File built;
                           for (std::size_t s = 0; s < scans; ++s) {
                             std::vector<float> values(points);
                             for (std::size_t i = 0; i < points; ++i)
                               values[i] = static_cast<float>(random_unit(s, i));
                             e57_test::Scan scan;
                             for (const char* axis : {"cartesianX", "cartesianY", "cartesianZ", "intensity"})
                               scan.fields.push_back(e57_test::Field::single(axis, values));
                             built.scans.push_back(std::move(scan));
                           }
                           const e57_test::Bytes bytes = built.build();
                           auto file = std::make_shared<Scratch>(".e57");
                           file->write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                           return file;
                         },
                         [](const std::shared_ptr<Scratch>& file, OpContext& ctx) {
                           io::read_e57(file->path(), {}, ctx);
                         }),
                     1, slower});
  };
  e57("one scan", kRows, 1, [](std::size_t n) { return std::pair{std::size_t{1}, n}; });
  e57("many scans", 200, HUGE_VAL, [](std::size_t n) { return std::pair{n, std::size_t{10}}; });
}

}  // namespace

void add_table_costs(CostCases& cases) {
  add_forms(cases);
  add_text_costs(cases);
  add_ptx_costs(cases);
  add_scan_costs(cases);
}

}  // namespace pc::bench
