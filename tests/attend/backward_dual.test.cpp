// SPDX-License-Identifier: MIT
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/core/heads.hpp>
#include <posgeo/value/shaw_value.hpp>

#include <cmath>
#include <functional>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/uneven_call.hpp"

// The gradient expressions of terms against their own scalar forms, computed in dual numbers: no step, no tolerance but
// rounding. Slopes, sinks and the products of tupe are formed in double and cannot carry a dual number.
namespace backward_dual_test {

using namespace posgeo;
using namespace posgeo::test;

/// A number and its derivative.
struct dual {
  double value = 0.0;
  double slope = 0.0;
  explicit operator double() const noexcept { return value; }
  friend dual operator+(dual a, dual b) noexcept { return {a.value + b.value, a.slope + b.slope}; }
  friend dual operator*(dual a, dual b) noexcept { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
  dual& operator+=(dual b) noexcept { return *this = *this + b; }
};

constexpr heads layout{.query = 4, .key_value = 2, .dim = 3};

/// Numbers as T; the chosen one, if it is among them, has the slope 1.
template <class T>
std::vector<T> seeded(const std::vector<double>& numbers, const double* chosen) {
  std::vector<T> out;
  for (const double& x : numbers) {
    if constexpr (std::same_as<T, dual>) {
      out.push_back({x, &x == chosen ? 1.0 : 0.0});
    } else {
      out.push_back(x);
    }
  }
  return out;
}

template <class T>
using tables_of = std::vector<std::vector<T>>;

/// Everything that one term of a pair reads.
struct pair_numbers {
  tables_of<double> tables;
  std::vector<double> query = random_values<double>(3, 801);
  std::vector<double> key = random_values<double>(3, 802);
};

/// Every visible pair of two heads, and every number: make<T>(tables) is the policy, read(term, b, h, i, j, query, key)
/// its scalar form, back(term, b, h, i, j, query, key, d_query, d_key, gradient) its gradient expression at 1.
template <class Make, class Read, class Back>
void check_term(pair_numbers numbers, const Make& make, const Read& read, const Back& back) {
  const auto call = uneven_call();
  const auto policy = make.template operator()<double>(numbers.tables);
  const auto term = policy.template compile<double>(call, layout);
  index_t learned = 0;
  for (const batch_index b : indices<batch_index>(2)) {
    for (const head_index h : {head_index{1}, head_index{2}}) {
      for (const query_index i : indices<query_index>(2)) {
        for (const key_index j : indices<key_index>(4)) {
          auto gradient = term.gradient();
          std::vector<double> d_query(3);
          std::vector<double> d_key(3);
          back(term, b, h, i, j, numbers.query, numbers.key, d_query, d_key, gradient);
          const auto slope_in = [&](const double* chosen) {
            tables_of<dual> tables;
            for (const auto& one : numbers.tables) tables.push_back(seeded<dual>(one, chosen));
            const auto in_duals = make.template operator()<dual>(tables).template compile<dual>(call, layout);
            return read(in_duals, b, h, i, j, seeded<dual>(numbers.query, chosen), seeded<dual>(numbers.key, chosen))
                .slope;
          };
          const auto check = [&](const std::vector<double>& of, std::span<const double> computed) {
            REQUIRE(of.size() == computed.size());
            for (std::size_t n = 0; n < of.size(); ++n) {
              CAPTURE(b.value(), h.value(), i.value(), j.value(), n);
              CHECK(std::abs(computed[n] - slope_in(&of[n])) < 1e-14);
              learned += computed[n] != 0.0;
            }
          };
          check(numbers.query, d_query);
          check(numbers.key, d_key);
          for (std::size_t t = 0; t < numbers.tables.size(); ++t) check(numbers.tables[t], gradient[t].values());
        }
      }
    }
  }
  CHECK(learned > 20);
}

template <class T>
table<T> table_of(const std::vector<T>& numbers, index_t columns) {
  return {numbers, static_cast<index_t>(numbers.size()) / columns, columns};
}
template <class Make>
void check_content(pair_numbers numbers, const Make& make) {
  check_term(
      std::move(numbers), make,
      [](const auto& term, auto b, auto h, auto i, auto j, const auto& query, const auto& key) {
        return term(b, h, i, j, query, key);
      },
      [](const auto& term, auto b, auto h, auto i, auto j, const auto& query, const auto& key, auto& d_query,
         auto& d_key, auto& gradient) { term.add_gradient(b, h, i, j, query, key, 1.0, d_query, d_key, gradient); });
}
std::vector<double> some(index_t count, unsigned seed) {
  return random_values<double>(static_cast<std::size_t>(count), seed);
}

TEST_CASE("gradient expressions of content terms are their scalar forms differentiated", "[backward]") {
  check_content({{some(4 * 5 * 3, 803)}}, []<class T>(const tables_of<T>& n) {
    return content::shaw_key<T>(head_tables<T>::stacked(table_of(n[0], 3), 4), coordinate::clipped::symmetric(2));
  });
  check_content({{some(23 * 3, 804)}},
                []<class T>(const tables_of<T>& n) { return content::relative_key_query<T>(table_of(n[0], 3), 12); });
  check_content({{some(6 * 12, 805), some(6 * 12, 806)}}, []<class T>(const tables_of<T>& n) {
    return content::deberta<T>(content::deberta_terms::both(content::p2c_index::paper),
                               coordinate::deberta_span::exact(3),
                               {.position_keys = head_tables<T>::by_column(table_of(n[0], 12), 4),
                                .position_queries = head_tables<T>::by_column(table_of(n[1], 12), 4)});
  });
  check_content({{some(12, 807), some(12, 808), some(19 * 3, 809)}}, []<class T>(const tables_of<T>& n) {
    using rows = content::distance_rows<T>;
    return content::transformer_xl<T, rows>(
        {.content = table_of(n[0], 3), .position = table_of(n[1], 3)},
        rows(head_tables<T>::shared(table_of(n[2], 3)), {.lowest = -9, .order = content::distance_order::ascending}));
  });
}

TEST_CASE("gradient expressions of biases and values are their scalar forms differentiated", "[backward]") {
  const auto read = [](const auto& term, auto b, auto h, auto i, auto j, const auto&, const auto&) {
    return term(b, h, i, j);
  };
  const auto back = [](const auto& term, auto b, auto h, auto i, auto j, const auto&, const auto&, auto&, auto&,
                       auto& gradient) { term.add_gradient(b, h, i, j, 1.0, gradient); };
  check_term(
      {{some(8 * 4, 810)}},
      []<class T>(const tables_of<T>& n) {
        const coordinate::t5_bucket bucket(
            {.num_buckets = 8, .max_distance = 6, .direction = coordinate::bucket_direction::bidirectional});
        return bias::t5<T>(table_of(n[0], 4), bucket);
      },
      read, back);
  check_term(
      {{some(5 * 4, 811)}},
      []<class T>(const tables_of<T>& n) {
        return bias::learned_relative<T, coordinate::clipped>(table_of(n[0], 4), coordinate::clipped::symmetric(2));
      },
      read, back);
  // The output row at the weight 0.7, met by (1, 1, 1).
  check_term(
      {{some(5 * 3, 812)}},
      []<class T>(const tables_of<T>& n) {
        return value::shaw_value<T>(head_tables<T>::shared(table_of(n[0], 3)), coordinate::clipped::symmetric(2));
      },
      [](const auto& term, auto b, auto h, auto i, auto j, const auto&, const auto&) {
        std::vector<dual> out(3);
        term.accumulate(b, h, i, j, dual{0.7, 0.0}, out);
        return out[0] + out[1] + out[2];
      },
      [](const auto& term, auto b, auto h, auto i, auto j, const auto&, const auto&, auto&, auto&, auto& gradient) {
        const std::vector<double> ones(3, 1.0);
        (void)term.add_gradient(b, h, i, j, 0.7, ones, gradient);
      });
}

}  // namespace backward_dual_test
