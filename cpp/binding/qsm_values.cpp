#include "binding/qsm_values.h"

#include <cmath>
#include <string>

#include "binding/js_values.h"

namespace pc::binding {

namespace {

constexpr double kMostId = 0x1.0p53;

/// Reads numbers one after another; names the row in messages.
class Row {
 public:
  Row(const double* values, const char* what, std::size_t row) : values_(values), what_(what), row_(row) {}
  double finite(std::size_t at, const char* name) const {
    if (!std::isfinite(values_[at])) wrong(name, "a finite number");
    return values_[at];
  }
  Vec3d point(std::size_t at, const char* name) const {
    return {finite(at, name), finite(at + 1, name), finite(at + 2, name)};
  }
  std::int64_t whole(std::size_t at, const char* name, double least, double most = kMostId) const {
    const double value = values_[at];
    if (!(value >= least && value <= most) || std::trunc(value) != value)
      wrong(name, least < 0 ? "-1 or a whole number" : "a whole number from 0");
    return static_cast<std::int64_t>(value);
  }

 private:
  [[noreturn]] void wrong(const char* name, const char* wanted) const {
    throw Error(ErrorCode::kInvalidArgument,
                std::string(what_) + "[" + std::to_string(row_) + "]." + name + " must be " + wanted);
  }
  const double* values_;
  const char* what_;
  std::size_t row_;
};

std::vector<QsmCylinder> cylinders_of(Span<const double> table) {
  std::vector<QsmCylinder> cylinders;
  cylinders.reserve(table.size / kQsmCylinderWidth);
  for (std::size_t at = 0; at < table.size; at += kQsmCylinderWidth) {
    const Row row(&table[at], "cylinders", cylinders.size());
    cylinders.push_back({.cyl_id = row.whole(0, "cyl_id", 0),
                         .start = row.point(1, "start"),
                         .end = row.point(4, "end"),
                         .radius = row.finite(7, "radius"),
                         .parent_id = row.whole(8, "parent_id", -1),
                         .shoot_id = row.whole(9, "shoot_id", 0),
                         .rank = static_cast<std::int32_t>(row.whole(10, "rank", 0, 0x1.0p31 - 1)),
                         .surf_cov = table[at + 11],
                         .mad = table[at + 12],
                         .radius_se = table[at + 13]});
  }
  return cylinders;
}

std::vector<QsmShoot> shoots_of(Span<const double> table, Span<const double> ids) {
  std::vector<QsmShoot> shoots;
  shoots.reserve(table.size / kQsmShootWidth);
  std::size_t next = 0;
  const auto take = [&](const Row& row, std::size_t at, const char* name) {
    const auto count = static_cast<std::size_t>(row.whole(at, name, 0));
    if (count > ids.size - next) refuse("ids", "as many numbers as the shoots name");
    std::vector<std::int64_t> out;
    out.reserve(count);
    for (const std::size_t end = next + count; next < end; ++next)
      out.push_back(Row(&ids[next], "ids", next).whole(0, name, 0));
    return out;
  };
  for (std::size_t at = 0; at < table.size; at += kQsmShootWidth) {
    const Row row(&table[at], "shoots", shoots.size());
    QsmShoot shoot{.shoot_id = row.whole(0, "shoot_id", 0),
                   .rank = static_cast<std::int32_t>(row.whole(1, "rank", 0, 0x1.0p31 - 1)),
                   .cylinder_ids = {},
                   .parent_shoot_id = row.whole(2, "parent_shoot_id", -1),
                   .parent_cyl_id = row.whole(3, "parent_cyl_id", -1),
                   .child_shoot_ids = {}};
    shoot.cylinder_ids = take(row, 4, "cylinder_ids");
    shoot.child_shoot_ids = take(row, 5, "child_shoot_ids");
    shoots.push_back(std::move(shoot));
  }
  if (next != ids.size) refuse("ids", "as many numbers as the shoots name");
  return shoots;
}

void put(Span<double> out, std::size_t& at, const Vec3d& value) {
  out[at++] = value.x;
  out[at++] = value.y;
  out[at++] = value.z;
}

}  // namespace

QsmTables qsm_tables(const Qsm& qsm) {
  Column<double> cylinders(qsm.cylinders.size() * kQsmCylinderWidth);
  std::size_t at = 0;
  for (const QsmCylinder& c : qsm.cylinders) {
    const Span<double> out = cylinders.view();
    out[at++] = static_cast<double>(c.cyl_id);
    put(out, at, c.start);
    put(out, at, c.end);
    for (const double value : {c.radius, static_cast<double>(c.parent_id), static_cast<double>(c.shoot_id),
                               static_cast<double>(c.rank), c.surf_cov, c.mad, c.radius_se})
      out[at++] = value;
  }
  Column<double> shoots(qsm.shoots.size() * kQsmShootWidth);
  std::size_t id_count = 0;
  for (const QsmShoot& s : qsm.shoots) id_count += s.cylinder_ids.size() + s.child_shoot_ids.size();
  Column<double> ids(id_count);
  std::size_t next = 0;
  at = 0;
  for (const QsmShoot& s : qsm.shoots) {
    for (const double value :
         {static_cast<double>(s.shoot_id), static_cast<double>(s.rank),
          static_cast<double>(s.parent_shoot_id), static_cast<double>(s.parent_cyl_id),
          static_cast<double>(s.cylinder_ids.size()), static_cast<double>(s.child_shoot_ids.size())})
      shoots[at++] = value;
    for (const std::int64_t id : s.cylinder_ids) ids[next++] = static_cast<double>(id);
    for (const std::int64_t id : s.child_shoot_ids) ids[next++] = static_cast<double>(id);
  }
  return {AnyColumn(std::move(cylinders)), AnyColumn(std::move(shoots)), AnyColumn(std::move(ids))};
}

Napi::Object to_js(Napi::Env env, QsmTables&& tables) {
  auto out = Napi::Object::New(env);
  out.Set("cylinders", ColumnHandle::wrap(env, std::move(tables.cylinders)));
  out.Set("shoots", ColumnHandle::wrap(env, std::move(tables.shoots)));
  out.Set("ids", ColumnHandle::wrap(env, std::move(tables.ids)));
  return out;
}

HeldQsm held_qsm(const Napi::Value& value) {
  const auto js = strict_object(value, "qsm");
  return {typed_column(js.Get("cylinders"), DType::kF64, "cylinders"),
          typed_column(js.Get("shoots"), DType::kF64, "shoots"),
          typed_column(js.Get("ids"), DType::kF64, "ids")};
}

Qsm qsm_of(const HeldQsm& held) {
  const auto cylinders = held.cylinders->as<double>(), shoots = held.shoots->as<double>();
  if (cylinders.size % kQsmCylinderWidth != 0) refuse("cylinders", "a table of 14 columns");
  if (shoots.size % kQsmShootWidth != 0) refuse("shoots", "a table of 6 columns");
  return {cylinders_of(cylinders), shoots_of(shoots, held.ids->as<double>())};
}

}  // namespace pc::binding
