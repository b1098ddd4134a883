// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/edit_rows.hpp>
#include <posgeo/call/padded_batch.hpp>

namespace posgeo::audit {

namespace detail {

/// The space with rows of padding on one side of each entry. Tokens stay where they stand; padding of an affine space
/// stands where its first token does, so that it needs no position of its own.
[[nodiscard]] inline row_space padded(const row_space& like, call::padding_side side, index_t count) {
  const index_t rows = like.rows() + count;
  const index_t before = side == call::padding_side::left ? count : 0;
  if (like.affine()) {
    const auto entry = [&](index_t b) {
      const affine_rows& of = like.affine_entries()[b];
      return affine_rows{saturating_subtract(of.first, before), of.active_begin + before, of.active_end + before,
                         of.sequence};
    };
    const affine_rows& first = like.affine_entries()[0];
    const index_t place = like.padded_position().value_or(first.first + first.active_begin);
    return {rows, {like.entries(), entry}, like.frame(), like.origin(), place};
  }
  const explicit_rows& from = like.spelled_out();
  explicit_rows to;
  for (index_t b = 0; b < like.entries(); ++b) {
    const auto [first, last] = like.active_rows(b);
    const index_t place = first < last ? like.at(b, first).value() : 0;
    const index_t sequence = first < last ? like.sequence(b, first) : b;
    for (index_t row = 0; row < rows; ++row) {
      const bool own = row >= before && row < before + like.rows();
      const auto at = static_cast<std::size_t>(b * like.rows() + row - before);
      to.positions.push_back(own ? from.positions[at] : place);
      to.sequences.push_back(own ? from.sequences[at] : sequence);
      to.active.push_back(own ? from.active[at] : std::uint8_t{0});
    }
  }
  return {like.entries(), rows, std::move(to), like.frame(), like.origin()};
}
[[nodiscard]] inline std::vector<row_source> padded_sources(const row_space& like, call::padding_side side,
                                                            index_t count) {
  std::vector<row_source> sources;
  const std::vector<row_source> own = own_sources(like);
  const std::vector<row_source> none(static_cast<std::size_t>(count));
  for (index_t b = 0; b < like.entries(); ++b) {
    if (side == call::padding_side::left) sources.insert(sources.end(), none.begin(), none.end());
    sources.insert(sources.end(), own.begin() + b * like.rows(), own.begin() + (b + 1) * like.rows());
    if (side == call::padding_side::right) sources.insert(sources.end(), none.begin(), none.end());
  }
  return sources;
}

[[nodiscard]] inline edit pad(const position_call& call, call::padding_side side, const intervention_settings& s) {
  check(s);
  const bool left = side == call::padding_side::left;
  const intervention kind = left ? intervention::pad_left : intervention::pad_right;
  edited_call to{with_spaces(call.described(), padded(call.query_space(), side, s.padding),
                             padded(call.key_space(), side, s.padding)),
                 padded_sources(call.query_space(), side, s.padding),
                 padded_sources(call.key_space(), side, s.padding)};
  return one_call(kind, fmt::format("{} rows of padding {} each entry", s.padding, left ? "before" : "behind"),
                  std::move(to));
}

/// The tokens of every entry behind one another in one. A sequence that only one entry has keeps its number.
struct packing {
  bool renumbered = false;
  index_t lowest = 0;
  index_t step = 0;

  explicit packing(const position_call& call) {
    std::map<index_t, index_t> owner;
    index_t highest = 0;
    for (const row_space* space : {&call.query_space(), &call.key_space()}) {
      for (const auto& [key, unused] : places(*space)) {
        const auto [known, fresh] = owner.try_emplace(key.second, key.first);
        renumbered = renumbered || (!fresh && known->second != key.first);
      }
    }
    if (owner.empty()) return;
    lowest = owner.begin()->first;
    highest = owner.rbegin()->first;
    step = saturating_add(saturating_subtract(highest, lowest), 1);
  }

  void pack(const row_space& side, row_space& to, std::vector<row_source>& sources) const {
    explicit_rows rows;
    for (index_t b = 0; b < side.entries(); ++b) {
      for (index_t row = 0; row < side.rows(); ++row) {
        if (!side.active(b, row)) continue;
        const index_t sequence = side.sequence(b, row);
        rows.positions.push_back(side.at(b, row).value());
        rows.sequences.push_back(renumbered ? saturating_add(b * step, sequence - lowest) : sequence);
        rows.active.push_back(1);
        sources.push_back({b, row});
      }
    }
    const auto count = static_cast<index_t>(rows.positions.size());
    to = row_space(1, count, std::move(rows), side.frame(), side.origin());
  }
};

}  // namespace detail

/// Rows that are no tokens stand before each entry; tokens keep their positions.
[[nodiscard]] inline edit pad_left(const position_call& call, const intervention_settings& settings = {}) {
  return detail::pad(call, call::padding_side::left, settings);
}
/// Rows that are no tokens stand behind each entry.
[[nodiscard]] inline edit pad_right(const position_call& call, const intervention_settings& settings = {}) {
  return detail::pad(call, call::padding_side::right, settings);
}

/// The tokens of all entries in one packed row, each with its position. Sequences of different entries that have one
/// number get others.
[[nodiscard]] inline edit pack(const position_call& call, const intervention_settings& settings = {}) {
  check(settings);
  if (call.batch() < 2) return detail::not_applicable(intervention::pack, "one entry is packed already");
  const detail::packing how(call);
  edited_call to;
  row_space queries;
  row_space keys;
  how.pack(call.query_space(), queries, to.query_source);
  how.pack(call.key_space(), keys, to.key_source);
  to.call = detail::with_spaces(call.described(), std::move(queries), std::move(keys));
  if (to.call.kind == call_kind::explicit_positions && call.same_frame() && !call.has_cache()) {
    to.call.kind = call_kind::packed_batch;
  }
  return detail::one_call(intervention::pack,
                          fmt::format("{} entries in one packed row{}", call.batch(),
                                      how.renumbered ? ", their sequences numbered anew" : ""),
                          std::move(to));
}

}  // namespace posgeo::audit
