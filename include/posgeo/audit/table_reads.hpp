// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/row_counts.hpp>
#include <posgeo/audit/table_rule.hpp>
#include <posgeo/coordinate/shortest_path.hpp>
#include <posgeo/encode/state_encoder.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace posgeo::audit {

/// How often visible pairs, or token rows, read the rows of one table of a method. Heads that have tables of their own
/// read the same rows, and count once.
struct table_reads {
  std::string policy;  ///< the mechanism, as its description says
  index_t number;      ///< of the policies of that name, from 0
  std::string table;   ///< the field of the description that holds it
  std::string rule;    ///< everything else that decides which row is read
  index_t rows;        ///< how many there are
  tally reads;         ///< by row
  friend bool operator==(const table_reads&, const table_reads&) = default;

  /// "t5 table", or "t5 2 table" for the second of its name.
  [[nodiscard]] std::string name() const {
    return number == 0 ? fmt::format("{} {}", policy, table) : fmt::format("{} {} {}", policy, number + 1, table);
  }
  /// Whether both count the rows of one table, read by one rule.
  [[nodiscard]] bool same_table(const table_reads& other) const noexcept {
    return policy == other.policy && number == other.number && table == other.table && rule == other.rule &&
           rows == other.rows;
  }
};

namespace detail {

/// Stands for any visitor of reads.
struct read_visitor {
  void operator()(std::string_view, index_t) const noexcept {}
};

/// A compiled bias with a table row for each offset.
template <class Term>
concept reads_by_offset = requires(const Term& term, relative_offset offset) {
  { term.table_row(offset) } -> std::same_as<index_t>;
};
/// A compiled bias with a table row for each pair, under one of the names that there are; negative, or the id of
/// padding, for none.
template <class Term>
concept has_table_row = requires(const Term& term, batch_index b, query_index i, key_index j) {
  { term.table_row(b, i, j) } -> std::same_as<index_t>;
};
template <class Term>
concept has_row = requires(const Term& term, batch_index b, query_index i, key_index j) {
  { term.row(b, i, j) } -> std::same_as<index_t>;
};
template <class Term>
concept has_id = requires(const Term& term, batch_index b, query_index i, key_index j) {
  { term.id(b, i, j) } -> std::same_as<index_t>;
};
/// A compiled encoder with a table row for each storage row; negative for none.
template <class Term>
concept has_encoder_row = requires(const Term& term, batch_index b, query_index i) {
  { term.table_row(b, i) } -> std::same_as<index_t>;
};

/// The reads of classes by offset: one look for each offset that occurs between the ends, if there are ends.
template <class ClassOf>
[[nodiscard]] tally reads_of(const tally& offsets, const coordinate::offset_bounds& ends, const ClassOf& class_of) {
  tally reads;
  offsets.each_line([&](const counted_line& line) {
    const index_t lowest = ends.lowest.value();
    const index_t highest = std::max(lowest, ends.highest.value());
    const auto add_end = [&](index_t first, index_t last, index_t end) {
      if (first <= last) reads.add(class_of(relative_offset{end}), line.sum(first, last));
    };
    add_end(line.first, std::min(line.last, lowest), lowest);
    for (index_t at = std::max(line.first, saturating_add(lowest, 1)); at < highest && at <= line.last; ++at) {
      reads.add(class_of(relative_offset{at}), line(at));
    }
    add_end(std::max({line.first, highest, saturating_add(lowest, 1)}), line.last, highest);
  });
  return reads;
}

}  // namespace detail

/// A compiled term that says itself which table rows a pair reads: each_read(b, i, j, visit) calls visit(table, row)
/// with the name of the table's field in the policy's description.
template <class Term>
concept lists_pair_reads = requires(const Term& term, batch_index b, query_index i, key_index j) {
  term.each_read(b, i, j, detail::read_visitor{});
};
/// The same of a compiled state encoder and a row: each_read(b, i, visit).
template <class Term>
concept lists_row_reads = requires(const Term& term, batch_index b, query_index i) {
  term.each_read(b, i, detail::read_visitor{});
};

/// The tables of a method and which of their rows a call reads, collected policy by policy.
class read_collector {
 public:
  [[nodiscard]] const std::vector<table_reads>& tables() const noexcept { return tables_; }
  /// Tables whose rows the collector cannot tell apart, by name.
  [[nodiscard]] const std::vector<std::string>& not_counted() const noexcept { return not_counted_; }

  /// Collects the policies of a plan. `offsets` are those of its visible pairs.
  template <class Plan>
  void add(const Plan& plan, const tally& offsets) {
    using parts = posgeo::detail::plan_parts<Plan>;
    const std::vector<description>& method = plan.method();
    const auto in_order = [&](std::string_view family, const auto& terms, const auto& collect) {
      std::size_t next = 0;
      parts::each(terms, [&](const auto& term) {
        while (detail::family_of(method[next]) != family) ++next;
        collect(term, method[next]);
        finish(method[next++]);
      });
    };
    const auto pairs = [&](const auto& term, const description& what) { return add_pairs(plan, term, what); };
    in_order(family::content_term::name, plan.contents(), [&](const auto& term, const description& what) {
      using Term = std::remove_cvref_t<decltype(term)>;
      if (pairs(term, what)) return;
      if constexpr (query_sided<Term, typename Plan::scalar>) add_side(term.query_side(), "key_table", what, offsets);
      if constexpr (key_sided<Term, typename Plan::scalar>) add_side(term.key_side(), "query_table", what, offsets);
    });
    in_order(family::score_bias::name, plan.biases(), [&](const auto& term, const description& what) {
      if (pairs(term, what)) return;
      add_bias(plan, term, what, offsets);
    });
    in_order(family::value_term::name, plan.values(), [&](const auto& term, const description& what) {
      using Term = std::remove_cvref_t<decltype(term)>;
      if (pairs(term, what)) return;
      if constexpr (class_values<Term, typename Plan::scalar>) {
        add_side(term.classes_of_value(), "table", what, offsets);
      }
    });
  }

  /// Collects a state encoder of the call's query rows.
  template <class T, class Encoder>
  void add_encoder(const Encoder& encoder, const position_call& call) {
    static_assert(described_policy<Encoder>, "coverage: a state encoder says what it is, with describe()");
    const description what = encoder.describe();
    const auto term = encoder.template compile<T>(call);
    using Term = std::remove_cvref_t<decltype(term)>;
    each_token(call, [&](batch_index b, query_index i) {
      if constexpr (lists_row_reads<Term>) {
        term.each_read(b, i, [&](std::string_view table, index_t row) { read(what, table, row); });
      } else if constexpr (detail::has_encoder_row<Term>) {
        read(what, "table", term.table_row(b, i));
      }
    });
    if constexpr (lists_row_reads<Term>) declare_all(what);
    if constexpr (detail::has_encoder_row<Term>) entry(what, "table", detail::table_rows(what, "table"));
    finish(what);
  }

 private:
  template <class Visit>
  static void each_token(const position_call& call, const Visit& visit) {
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const query_index i : indices<query_index>(call.queries())) {
        if (call.active(b, i)) visit(b, i);
      }
    }
  }

  /// Collects a term that lists its reads.
  template <class Plan, class Term>
  bool add_pairs(const Plan& plan, const Term& term, const description& what) {
    if constexpr (lists_pair_reads<Term>) {
      contract::each_visible_pair(plan, contract::query_rows::tokens, [&](batch_index b, query_index i, key_index j) {
        term.each_read(b, i, j, [&](std::string_view table, index_t row) { read(what, table, row); });
      });
      declare_all(what);
    }
    return lists_pair_reads<Term>;
  }

  template <class Plan, class Term>
  void add_bias(const Plan& plan, const Term& term, const description& what, const tally& offsets) {
    constexpr bool by_pair = detail::has_table_row<Term> || detail::has_row<Term> || detail::has_id<Term>;
    if constexpr (detail::reads_by_offset<Term> && requires { term.constant_beyond(); }) {
      table_reads& of = entry(what, "table", detail::table_rows(what, "table"));
      of.reads.add(
          detail::reads_of(offsets, term.constant_beyond(), [&](relative_offset o) { return term.table_row(o); }));
    } else if constexpr (by_pair) {
      entry(what, "table", detail::table_rows(what, "table"));
      contract::each_visible_pair(plan, contract::query_rows::tokens, [&](batch_index b, query_index i, key_index j) {
        if constexpr (detail::has_table_row<Term>) {
          read(what, "table", term.table_row(b, i, j));
        } else if constexpr (detail::has_row<Term>) {
          read(what, "table", term.row(b, i, j));
        } else if (const index_t id = term.id(b, i, j); id != coordinate::distance_id::padding) {
          read(what, "table", id);
        }
      });
    }
  }

  /// Collects a side with class rows, if they are those of a table. `field` is its name where sides have their own.
  template <class Side>
  void add_side(const std::optional<Side>& side, std::string_view field, const description& what,
                const tally& offsets) {
    if (!side) return;
    for (const std::string_view table : {field, std::string_view("table"), std::string_view("rows.table")}) {
      const std::optional<index_t> rows = detail::head_table_rows(what, table);
      if (!rows || *rows != side->classes()) continue;
      if (known(what, table) != nullptr) return;  // both sides read one table
      entry(what, table, *rows)
          .reads.add(
              detail::reads_of(offsets, side->constant_beyond(), [&side](relative_offset o) { return side->of(o); }));
      return;
    }
  }

  void read(const description& what, std::string_view table, index_t row) {
    if (row < 0) return;
    table_reads* found = known(what, table);
    if (found == nullptr) found = &entry(what, table, detail::table_rows(what, table));
    require(row < found->rows, errc::coverage, found->name(), "row", text("below {}", found->rows), row);
    found->reads.add(row, 1);
  }
  /// The table of the policy that is being collected.
  [[nodiscard]] table_reads* known(const description& what, std::string_view table) {
    for (std::size_t n = begin_; n < tables_.size(); ++n) {
      if (tables_[n].policy == what.name() && tables_[n].table == table) return &tables_[n];
    }
    return nullptr;
  }
  table_reads& entry(const description& what, std::string_view table, index_t rows) {
    if (table_reads* const found = known(what, table)) return *found;
    const auto number = std::count(policies_.begin(), policies_.end(), what.name());
    tables_.push_back({what.name(), number, std::string(table), detail::rule_of(what), rows, {}});
    return tables_.back();
  }
  void declare_all(const description& what) {
    detail::each_table(what, [&](const std::string& path, index_t rows) { entry(what, path, rows); });
  }
  /// Notes which tables of the policy were not collected, and goes on to the next.
  void finish(const description& what) {
    detail::each_table(what, [&](const std::string& path, index_t) {
      if (known(what, path) == nullptr) not_counted_.push_back(fmt::format("{} {}", what.name(), path));
    });
    policies_.push_back(what.name());
    begin_ = tables_.size();
  }

  std::vector<table_reads> tables_;
  std::vector<std::string> not_counted_;
  std::vector<std::string> policies_;  ///< collected so far
  std::size_t begin_ = 0;              ///< where the tables of the policy that is being collected begin
};

}  // namespace posgeo::audit
