#pragma once
#include "binding/column_handle.h"
#include "core/qsm.h"

/// A QSM on its way to and from JavaScript: three tables of doubles, so that a million cylinders cost three copies and
/// no object each. backend/native/qsm.ts makes records of them. A row per cylinder:
///
/// | column | 0      | 1..3      | 4..6    | 7      | 8         | 9        | 10   | 11       | 12  | 13        |
/// |--------|--------|-----------|---------|--------|-----------|----------|------|----------|-----|-----------|
/// | value  | cyl_id | start xyz | end xyz | radius | parent_id | shoot_id | rank | surf_cov | mad | radius_se |
///
/// NaN = unknown. A row per shoot: shoot_id, rank, parent_shoot_id, parent_cyl_id, number of its cylinders, number of its
/// child shoots. The third table has the ids of both, shoot after shoot: its cylinders base to tip, then its child shoots.
namespace pc::binding {

constexpr std::size_t kQsmCylinderWidth = 14;
constexpr std::size_t kQsmShootWidth = 6;

/// The tables of a QSM. Made by the op's thread.
struct QsmTables {
  AnyColumn cylinders, shoots, ids;
};
QsmTables qsm_tables(const Qsm& qsm);
/// { cylinders, shoots, ids }
Napi::Object to_js(Napi::Env env, QsmTables&& tables);

/// The tables that JavaScript passed; they live as long as this does.
struct HeldQsm {
  ColumnPtr cylinders, shoots, ids;
};
/// Reads { cylinders, shoots, ids } on the JS thread. Throws kInvalidArgument for anything else.
HeldQsm held_qsm(const Napi::Value& value);
/// The model of the tables, on the op's thread. Throws kInvalidArgument for tables of another shape, ids that are not
/// whole numbers and values that are not finite. Does not check how cylinders hang together: check_qsm of
/// ops/qsm/qsm_checks.h does.
Qsm qsm_of(const HeldQsm& held);

}  // namespace pc::binding
