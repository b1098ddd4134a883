// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/clipped.hpp>
#include <posgeo/core/head_tables.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/tensor.hpp>

#include <unsupported/Eigen/CXX11/Tensor>

#include <algorithm>
#include <limits>
#include <optional>

namespace posgeo::content {

/// How the scores and the outputs of relations are computed for all pairs. The three give the same numbers but for
/// rounding, and differ in what they write down on the way.
enum class relation_schedule {
  direct_gather,  ///< the relation of each pair, [queries, keys, dim]
  class_scores,   ///< a number for each query and class, [queries, classes]
  tiled,          ///< the same for relation_tile_rows queries at a time
};
inline constexpr index_t relation_tile_rows = 64;

struct relation_extents {
  required<index_t> batch;
  required<index_t> heads;
  required<index_t> queries;
  required<index_t> keys;
  required<index_t> dim;
  required<index_t> classes;
  required<index_t> tables;  ///< 1, or one for each head
};

/// Units: bytes.
struct relation_bytes {
  index_t alive = 0;    ///< of temporaries at one time
  index_t written = 0;  ///< of temporaries over the whole call
};

/// What relation_scores or relation_values writes beside its result and copies of its inputs' rows. A count beyond 64
/// bits is the largest number.
/// Throws: nothing.
[[nodiscard]] constexpr relation_bytes temporaries(relation_schedule how, const relation_extents& e,
                                                   index_t element_bytes) noexcept {
  const auto product = [](auto... counts) {
    index_t all = 1;
    const auto times = [&all](index_t count) {
      if (__builtin_mul_overflow(all, count, &all)) all = std::numeric_limits<index_t>::max();
    };
    (times(counts), ...);
    return all;
  };
  if (how == relation_schedule::direct_gather) {
    const index_t gathered = product(e.queries, e.keys, e.dim, element_bytes);
    return {gathered, product(gathered, e.batch, e.tables)};
  }
  const index_t most = how == relation_schedule::tiled ? relation_tile_rows : index_t{e.queries};
  const index_t at_once = std::min<index_t>(e.queries, most);
  return {product(at_once, e.classes, element_bytes), product(e.queries, e.classes, element_bytes, e.batch, e.heads)};
}

namespace detail {

template <class T, int Rank>
using eigen_tensor = Eigen::Tensor<T, Rank, Eigen::RowMajor, index_t>;
using contracted = Eigen::array<Eigen::IndexPair<index_t>, 1>;

/// The table of one head in T: [classes, dim].
template <class T, class Element>
eigen_tensor<T, 2> table_of(const head_tables<Element>& rows, head_index h) {
  eigen_tensor<T, 2> out(rows.rows(), rows.dim());
  for (index_t r = 0; r < rows.rows(); ++r) {
    const auto from = rows.row(h, r);
    for (index_t d = 0; d < rows.dim(); ++d) out(r, d) = static_cast<T>(from[static_cast<std::size_t>(d)]);
  }
  return out;
}

/// Rows [first, first + count) of one head of a view.
template <class T>
eigen_tensor<T, 2> rows_of(const heads_view<const T>& view, batch_index b, head_index h, index_t first, index_t count) {
  eigen_tensor<T, 2> out(count, view.extent(3));
  for (index_t row = 0; row < count; ++row) {
    const auto from = view.row(b.value(), h.value(), first + row);
    std::copy(from.begin(), from.end(), out.data() + row * view.extent(3));
  }
  return out;
}

/// The table's row for each pair: [queries, keys, dim].
template <class T>
eigen_tensor<T, 3> gathered(const eigen_tensor<T, 2>& table, const coordinate::clipped& classes,
                            const position_call& call, batch_index b) {
  eigen_tensor<T, 3> out(call.queries(), call.keys(), table.dimension(1));
  for (const query_index i : indices<query_index>(call.queries())) {
    for (const key_index j : indices<key_index>(call.keys())) {
      out.chip(i.value(), 0).chip(j.value(), 0) = table.chip(classes(call.offset(b, i, j)), 0);
    }
  }
  return out;
}

/// Calls part(first, count) for stretches of queries.
template <class Part>
void each_stretch(relation_schedule how, index_t queries, const Part& part) {
  const index_t step = how == relation_schedule::tiled ? relation_tile_rows : std::max<index_t>(queries, 1);
  for (index_t first = 0; first < queries; first += step) part(first, std::min(step, queries - first));
}

/// Refuses tables, classes and a per-head input that do not fit a call.
template <class T, class Element>
void require_relations(const head_tables<Element>& rows, const coordinate::clipped& classes, const position_call& call,
                       const heads_view<const T>& given, std::string_view object, index_t width, index_t table_width) {
  violations found;
  found.expect(rows.rows() == classes.classes(), errc::table_rows, "relations", "table rows",
               text("{} classes", classes.classes()), rows.rows());
  rows.check(given.extent(1), table_width, "relations", found);
  classes.check(call, "relations", found);
  found.expect(given.extent(0) == call.batch(), errc::shape_mismatch, object, "batch", call.batch(), given.extent(0));
  found.expect(given.extent(2) == call.queries(), errc::shape_mismatch, object, "rows", call.queries(),
               given.extent(2));
  found.expect(given.extent(3) == width, errc::shape_mismatch, object, "last axis", width, given.extent(3));
  found.throw_if_any();
  require_fits<T>(rows.values(), "relations");
}

}  // namespace detail

/// query . R[class(key - query)] for every pair: what shaw_key adds to the raw scores.
/// Shapes: R [1 or heads, classes, dim]; query [batch, heads, queries, dim]; the result [batch, heads, queries, keys].
/// Throws: errc::table_rows, errc::head_count, errc::shape_mismatch, errc::frame_mismatch, errc::offset_out_of_table
/// and
///         errc::non_finite as shaw_key does. Whether keys after the query are seen is the caller's: classes that look
///         back only give them the class of the query's own key.
/// Source: Shaw, Uszkoreit and Vaswani 2018, section 3.3 (equation 5 for the compact form).
template <class T, class Element>
[[nodiscard]] tensor<T, 4> relation_scores(relation_schedule how, const head_tables<Element>& rows,
                                           const coordinate::clipped& classes, const position_call& call,
                                           const heads_view<const T>& query) {
  detail::require_relations(rows, classes, call, query, "query", rows.dim(), rows.dim());
  tensor<T, 4> out({call.batch(), query.extent(1), call.queries(), call.keys()});
  if (out.values().empty()) return out;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    std::optional<detail::eigen_tensor<T, 3>> relations;
    for (const head_index h : indices<head_index>(query.extent(1))) {
      const auto table = detail::table_of<T>(rows, h);
      if (how == relation_schedule::direct_gather) {
        if (rows.tables() != 1) relations.reset();  // one at a time
        if (!relations) relations = detail::gathered(table, classes, call, b);
        const auto q = detail::rows_of(query, b, h, 0, call.queries());
        const Eigen::array<index_t, 3> as_block{call.queries(), 1, rows.dim()};
        const Eigen::array<index_t, 3> over_keys{1, call.keys(), 1};
        const Eigen::array<index_t, 1> dims{2};
        Eigen::TensorMap<detail::eigen_tensor<T, 2>> scores(out.view().row(b.value(), h.value(), 0).data(),
                                                            call.queries(), call.keys());
        scores = (*relations * q.reshape(as_block).broadcast(over_keys)).sum(dims);
        continue;
      }
      detail::each_stretch(how, call.queries(), [&](index_t first, index_t count) {
        const detail::eigen_tensor<T, 2> by_class =
            detail::rows_of(query, b, h, first, count).contract(table, detail::contracted{{{1, 1}}});
        for (const query_index i : indices<query_index>(query_index{first}, query_index{first + count})) {
          for (const key_index j : indices<key_index>(call.keys())) {
            out(b.value(), h.value(), i.value(), j.value()) =
                by_class(i.value() - first, classes(call.offset(b, i, j)));
          }
        }
      });
    }
  }
  return out;
}

template <class T, class Element>
requires(!std::is_const_v<T>)
    [[nodiscard]] tensor<T, 4> relation_scores(relation_schedule how, const head_tables<Element>& rows,
                                               const coordinate::clipped& classes, const position_call& call,
                                               const heads_view<T>& query) {
  return relation_scores(how, rows, classes, call, heads_view<const T>(query));
}

/// The sum over keys of weight * R[class(key - query)]: what shaw_value adds to the output rows.
///
/// Shapes: R [1 or heads, classes, dim]; weights [batch, heads, queries, keys]; the result [batch, heads, queries,
/// dim]. Throws: as relation_scores. Source: Shaw, Uszkoreit and Vaswani 2018, equation 3.
template <class T, class Element>
[[nodiscard]] tensor<T, 4> relation_values(relation_schedule how, const head_tables<Element>& rows,
                                           const coordinate::clipped& classes, const position_call& call,
                                           const heads_view<const T>& weights) {
  detail::require_relations(rows, classes, call, weights, "weights", call.keys(), rows.dim());
  tensor<T, 4> out({call.batch(), weights.extent(1), call.queries(), rows.dim()});
  if (weights.empty()) return out;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    std::optional<detail::eigen_tensor<T, 3>> relations;
    for (const head_index h : indices<head_index>(weights.extent(1))) {
      const auto table = detail::table_of<T>(rows, h);
      const auto rows_out = [&](index_t first, index_t count) {
        return Eigen::TensorMap<detail::eigen_tensor<T, 2>>(
            out.values().data() + out.view().row_offset(b.value(), h.value(), first), count, rows.dim());
      };
      if (how == relation_schedule::direct_gather) {
        if (rows.tables() != 1) relations.reset();  // one at a time
        if (!relations) relations = detail::gathered(table, classes, call, b);
        const auto w = detail::rows_of(weights, b, h, 0, call.queries());
        const Eigen::array<index_t, 3> as_block{call.queries(), call.keys(), 1};
        const Eigen::array<index_t, 3> over_dims{1, 1, rows.dim()};
        const Eigen::array<index_t, 1> keys{1};
        rows_out(0, call.queries()) = (*relations * w.reshape(as_block).broadcast(over_dims)).sum(keys);
        continue;
      }
      detail::each_stretch(how, call.queries(), [&](index_t first, index_t count) {
        detail::eigen_tensor<T, 2> mass(count, rows.rows());
        mass.setZero();
        for (const query_index i : indices<query_index>(query_index{first}, query_index{first + count})) {
          for (const key_index j : indices<key_index>(call.keys())) {
            mass(i.value() - first, classes(call.offset(b, i, j))) +=
                weights.row(b.value(), h.value(), i.value())[static_cast<std::size_t>(j.value())];
          }
        }
        rows_out(first, count) = mass.contract(table, detail::contracted{{{1, 0}}});
      });
    }
  }
  return out;
}
template <class T, class Element>
requires(!std::is_const_v<T>)
    [[nodiscard]] tensor<T, 4> relation_values(relation_schedule how, const head_tables<Element>& rows,
                                               const coordinate::clipped& classes, const position_call& call,
                                               const heads_view<T>& weights) {
  return relation_values(how, rows, classes, call, heads_view<const T>(weights));
}

}  // namespace posgeo::content
