// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/checkpoint_fields.hpp>
#include <posgeo/contract/checkpoint_rules.hpp>

#include <array>
#include <tuple>
#include <utility>

namespace posgeo::contract {

/// What the positional tensors of a checkpoint mean. Their shapes do not say it. A field left out does not compile;
/// where there is nothing to say, `none` says so.
/// Units:  rows, heads and layers are counted; positions and reaches in tokens.
/// Source: the checkpoint contract in docs/conversion.md.
struct checkpoint_contract {
  required<checkpoint_family> family;
  source_revision revision;     ///< where the tensors come from; the one field that a conversion may change
  stated<table_layout> layout;  ///< of the tables; none where there is none
  stated<index_t> rows;         ///< of a table, the rows that no position reads included
  head_layout heads;
  head_order order;              ///< the head that stands at each place
  stated<offset_sign> sign;      ///< which way the offsets of the rule are counted
  stated<offset_rule> rule;      ///< what becomes of an offset
  stated<index_t> scale_factor;  ///< n of the score scale 1 / sqrt(n * head_dim); none where nothing is divided
  stated<position> cls;          ///< where the row stands that has scores of its own
  layer_sharing layers;
  required<index_t> row_offset;  ///< table row = position + row_offset
  stated<index_t> padding_row;   ///< the row that padding reads; none if it reads that of its position
  stated<rotary_layout> rotary;
  friend bool operator==(const checkpoint_contract&, const checkpoint_contract&) = default;
};

/// The names of the fields, in their order.
inline constexpr std::array checkpoint_field_names{"family", "revision",   "layout",      "rows",         "heads",
                                                   "order",  "sign",       "rule",        "scale_factor", "cls",
                                                   "layers", "row_offset", "padding_row", "rotary"};

namespace checkpoint_detail {

/// Every field: a contract with one more does not compile before it is listed here.
inline auto fields_of(const checkpoint_contract& c) {
  const auto& [family, revision, layout, rows, heads, order, sign, rule, scale_factor, cls, layers, row_offset,
               padding_row, rotary] = c;
  return std::tie(family, revision, layout, rows, heads, order, sign, rule, scale_factor, cls, layers, row_offset,
                  padding_row, rotary);
}
using checkpoint_fields = decltype(fields_of(std::declval<const checkpoint_contract&>()));
static_assert(std::tuple_size_v<checkpoint_fields> == checkpoint_field_names.size());

}  // namespace checkpoint_detail

/// Calls visit(name, field of a, field of b) for every field.
template <class Visit>
void visit_fields(const checkpoint_contract& a, const checkpoint_contract& b, const Visit& visit) {
  const auto of_a = checkpoint_detail::fields_of(a);
  const auto of_b = checkpoint_detail::fields_of(b);
  [&]<std::size_t... N>(std::index_sequence<N...>) {
    (visit(std::string_view(checkpoint_field_names[N]), std::get<N>(of_a), std::get<N>(of_b)), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<checkpoint_detail::checkpoint_fields>>());
}

/// Every field that differs, in the order of the fields. Empty exactly if the two are equal.
[[nodiscard]] inline violations differences(const checkpoint_contract& has, const checkpoint_contract& wanted) {
  violations found;
  visit_fields(has, wanted, [&found](std::string_view name, const auto& a, const auto& b) {
    found.expect(
        a == b, errc::checkpoint_contract, "checkpoint", name, [&b] { return checkpoint_detail::said(b); },
        [&a] { return checkpoint_detail::said(a); });
  });
  return found;
}

/// Refuses a checkpoint of another contract than the wanted one.
/// Throws: errc::checkpoint_contract, naming each field, what is wanted and what the checkpoint has.
inline void require_same(const checkpoint_contract& has, const checkpoint_contract& wanted) {
  differences(has, wanted).throw_if_any();
}

/// Lists what a contract says that cannot be true of any checkpoint, or does not say of one of its family.
[[nodiscard]] inline violations check(const checkpoint_contract& c) {
  violations found;
  const auto expect = [&found](bool ok, std::string_view field, const auto& expected, const auto& actual) {
    found.expect(ok, errc::checkpoint_contract, "checkpoint contract", field, expected, actual);
  };
  const posgeo::heads layout = c.heads;
  posgeo::check(layout, found);
  if (!found.empty()) return found;
  expect(!c.revision.text().empty(), "revision", "at least one character", "none");
  checkpoint_detail::expect_order(c.order, layout, expect);
  expect(c.layers.layers > 0, "layers", "at least 1", c.layers.layers);

  const checkpoint_detail::family_rules wanted = checkpoint_detail::rules_of(c.family);
  const auto expect_stated = [&](const auto& field, checkpoint_detail::presence presence, std::string_view name) {
    if (presence == checkpoint_detail::presence::free) return;
    const bool stated = presence == checkpoint_detail::presence::stated;
    expect(field.value().has_value() == stated, name, stated ? "a value, in this family" : "none, in this family",
           [&field] { return checkpoint_detail::said(field); });
  };
  expect_stated(c.layout, wanted.table, "layout");
  expect_stated(c.rows, wanted.table, "rows");
  expect_stated(c.sign, wanted.relative, "sign");
  expect_stated(c.rule, wanted.relative, "rule");
  expect_stated(c.cls, wanted.cls, "cls");
  expect_stated(c.rotary, wanted.rotary, "rotary");
  if (!found.empty()) return found;

  if (c.layout.value()) checkpoint_detail::expect_layout(c.family, *c.layout.value(), expect);
  if (c.rule.value()) checkpoint_detail::expect_rule(c.family, *c.rule.value(), expect);
  if (!found.empty()) return found;
  const index_t rows = c.rows.value().value_or(1);
  expect(rows > 0, "rows", "at least 1", rows);
  expect(rows <= index_t{1} << 32, "rows", "at most 2^32", rows);
  const bool absolute =
      wanted.relative != checkpoint_detail::presence::stated && wanted.table == checkpoint_detail::presence::stated;
  expect(
      c.row_offset >= 0 && (absolute ? c.row_offset < rows : c.row_offset == 0), "row_offset",
      [&] { return absolute ? fmt::format("from 0 to {}, a row of the table", rows - 1) : std::string("0"); },
      c.row_offset);
  if (c.padding_row.value()) {
    const index_t row = *c.padding_row.value();
    expect(c.family == checkpoint_family::learned_absolute && row >= 0 && row < rows, "padding_row",
           text("none, or a row below {} of learned positions", rows), row);
  }
  if (c.rule.value()) {
    const index_t classes = checkpoint_detail::classes_of(*c.rule.value());
    expect(rows == classes, "rows", text("{}, those of the rule", classes), rows);
  }
  const bool of_deberta = c.rule.value() && std::holds_alternative<span_rule>(*c.rule.value());
  expect(!of_deberta || *c.sign.value() == offset_sign::query_minus_key, "sign", "query_minus_key, as this rule counts",
         "key_minus_query");
  if (c.scale_factor.value()) {
    expect(*c.scale_factor.value() > 0, "scale_factor", "none or at least 1", *c.scale_factor.value());
  }
  if (c.rotary.value()) {
    const index_t turning = c.rotary.value()->rotary_dim;
    expect(turning > 0 && turning % 2 == 0 && turning <= layout.dim, "rotary",
           text("a rotary_dim that is even, from 2 to head_dim {}", layout.dim), turning);
  }
  return found;
}

}  // namespace posgeo::contract
