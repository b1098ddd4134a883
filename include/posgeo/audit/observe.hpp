// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/content.hpp>
#include <posgeo/audit/edit_rows.hpp>
#include <posgeo/audit/probed_weights.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace posgeo::audit {

/// What rows hold that are no tokens. Nothing of them may reach an output.
enum class padding_content {
  not_a_number,  ///< as an unfilled row may hold
  large,         ///< 10000: for kernels that multiply a weight of 0 with what is there
};

/// How large the numbers of a run are, for the bound of its rounding.
struct magnitudes {
  double product = 0.0;      ///< scale times the longest query row times the longest key row
  double score = 0.0;        ///< the largest absolute score
  double log_sum_exp = 0.0;  ///< the same of the log-sum-exp
  double value = 0.0;        ///< the largest absolute number of a value or an output
  double position = 0.0;     ///< the same of the positions that turn a row; 0 where none does
  index_t keys = 0;

  void add(const magnitudes& other) noexcept {
    product = std::max(product, other.product);
    score = std::max(score, other.score);
    log_sum_exp = std::max(log_sum_exp, other.log_sum_exp);
    value = std::max(value, other.value);
    position = std::max(position, other.position);
    keys = std::max(keys, other.keys);
  }
};

/// What a function gave for the rows of the original call, wherever an edit stored them. Tensors are empty where the
/// function gives nothing. Shapes: output [batch, heads, queries, value dim]; log_sum_exp [batch, heads, queries];
/// scores [batch, heads, queries, keys]; weights [batch, heads, queries, keys + 1], of which the last is what lies on
/// rows that are no tokens of the query's entry.
struct observation {
  tensor<double, 4> output;
  tensor<double, 3> log_sum_exp;
  tensor<double, 4> scores;
  tensor<double, 4> weights;
  std::vector<std::uint8_t> held;  ///< for each entry and query row, whether the edit holds it
  magnitudes largest;
  bool exact_weights = true;  ///< whether small weights are known as exactly as large ones
};

/// What a run is made with.
struct observing {
  padding_content padding = padding_content::not_a_number;
  also wanted = also::everything;
};

namespace detail {

/// The rows of one edited call as numbers of T that Stored holds too.
template <class T, class Stored>
struct rows_of_call {
  tensor<T, 4> query;
  tensor<T, 4> key;
  tensor<T, 4> value;
  magnitudes largest;

  template <class Content>
  rows_of_call(const Content& content, const position_call& call, const edited_call& from, const heads& layout,
               padding_content padding) {
    content_rows given{tensor<double, 4>({call.batch(), layout.query, call.queries(), layout.dim}),
                       tensor<double, 4>({call.batch(), layout.key_value, call.keys(), layout.dim}),
                       tensor<double, 4>({call.batch(), layout.key_value, call.keys(), content.value_dim(layout)})};
    content.fill(call, from, layout, given);
    double longest_query = 0.0;
    double longest_key = 0.0;
    double unused = 0.0;
    query = stored(given.query, from.query_source, padding, longest_query, unused);
    key = stored(given.key, from.key_source, padding, longest_key, unused);
    value = stored(given.value, from.key_source, padding, unused, largest.value);
    largest.product = longest_query * longest_key;
  }

  [[nodiscard]] qkv<T> view() const { return {query.view(), key.view(), value.view()}; }

 private:
  static tensor<T, 4> stored(const tensor<double, 4>& given, const std::vector<row_source>& sources,
                             padding_content padding, double& longest, double& highest) {
    tensor<T, 4> out(given.extents());
    const T of_padding =
        padding == padding_content::not_a_number ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(10000);
    for (index_t b = 0; b < given.extent(0); ++b) {
      for (index_t row = 0; row < given.extent(2); ++row) {
        const bool token = sources[static_cast<std::size_t>(b * given.extent(2) + row)].any();
        for (index_t h = 0; h < given.extent(1); ++h) {
          double squares = 0.0;
          for (index_t d = 0; d < given.extent(3); ++d) {
            out(b, h, row, d) = token ? static_cast<T>(static_cast<Stored>(given(b, h, row, d))) : of_padding;
            if (!token) continue;
            const double number = std::abs(static_cast<double>(out(b, h, row, d)));
            squares += number * number;
            highest = std::max(highest, number);
          }
          longest = std::max(longest, std::sqrt(squares));
        }
      }
    }
    return out;
  }
};

/// Adds one run to an observation, row by row of the original call.
template <class T>
void gather(const edited_call& from, const tensor<T, 4>& output, const std::optional<tensor<T, 3>>& log_sum_exp,
            const std::optional<tensor<T, 4>>& scores, const tensor<double, 4>& weights, observation& to) {
  const index_t queries = output.extent(2);
  const index_t keys = weights.extent(3);
  const auto raise = [](double& most, double number) {
    if (std::isfinite(number)) most = std::max(most, std::abs(number));
  };
  each_source(from.query_source, queries, [&](index_t entry, index_t row, const row_source& source) {
    expect_source(source, to.output.extent(0), to.output.extent(2));
    to.held[static_cast<std::size_t>(source.entry * to.output.extent(2) + source.row)] = 1;
    for (index_t h = 0; h < output.extent(1); ++h) {
      for (index_t d = 0; d < output.extent(3); ++d) {
        const double number = static_cast<double>(output(entry, h, row, d));
        to.output(source.entry, h, source.row, d) = number;
        raise(to.largest.value, number);
      }
      if (log_sum_exp) {
        const double number = static_cast<double>((*log_sum_exp)(entry, h, row));
        to.log_sum_exp(source.entry, h, source.row) = number;
        raise(to.largest.log_sum_exp, number);
      }
      const index_t elsewhere = to.weights.extent(3) - 1;
      for (index_t j = 0; j < keys; ++j) {
        const row_source& key = from.key_source[static_cast<std::size_t>(entry * keys + j)];
        const bool own = key.any() && key.entry == source.entry;
        if (own) expect_source(key, to.output.extent(0), elsewhere);
        const double weight = weights(entry, h, row, j);
        if (own) {
          to.weights(source.entry, h, source.row, key.row) = weight;
        } else {
          to.weights(source.entry, h, source.row, elsewhere) += std::abs(weight);
        }
        if (!scores || !own) continue;
        const double score = static_cast<double>((*scores)(entry, h, row, j));
        to.scores(source.entry, h, source.row, key.row) = score;
        raise(to.largest.score, score);
      }
    }
  });
}

template <class T, class Stored, class Function, class Attention, class Content>
void observe_call(const Function& function, const Attention& attention, const edited_call& from, const Content& content,
                  const observing& how, observation& to) {
  const position_call call(from.call);
  require(std::cmp_equal(from.query_source.size(), call.batch() * call.queries()) &&
              std::cmp_equal(from.key_source.size(), call.batch() * call.keys()),
          errc::row_identity, "edited call", "sources of its rows",
          text("{} and {}", call.batch() * call.queries(), call.batch() * call.keys()),
          text("{} and {}", from.query_source.size(), from.key_source.size()));
  const auto plan = attention.template compile<T>(call);
  using Plan = std::remove_cvref_t<decltype(plan)>;
  rows_of_call<T, Stored> rows(content, call, from, plan.layout(), how.padding);
  const std::array<index_t, 4> pairs{call.batch(), plan.layout().query, call.queries(), call.keys()};
  tensor<T, 4> output({pairs[0], pairs[1], pairs[2], rows.value.extent(3)});
  unwritten(output);
  std::optional<tensor<T, 3>> log_sum_exp;
  std::optional<tensor<T, 4>> scores;
  std::optional<tensor<T, 4>> probabilities;
  attention_output<T> out{output.view()};
  const auto offer = [&](also part, auto& memory, auto& view, const auto& extents) {
    if (!includes(how.wanted, part)) return;
    memory.emplace(extents);
    unwritten(*memory);
    view = memory->view();
  };
  offer(also::log_sum_exp, log_sum_exp, out.log_sum_exp, std::array<index_t, 3>{pairs[0], pairs[1], pairs[2]});
  offer(also::scores, scores, out.scores, pairs);
  offer(also::probabilities, probabilities, out.probabilities, pairs);
  function(plan, rows.view(), out);

  tensor<double, 4> weights;
  if (probabilities && written(*probabilities)) {
    weights = tensor<double, 4>(pairs);
    std::copy(probabilities->values().begin(), probabilities->values().end(), weights.values().begin());
  } else {
    weights = probed_weights(function, plan, rows.view());
    to.exact_weights = !Plan::has_values;
  }
  rows.largest.product *= static_cast<double>(plan.scale());
  rows.largest.keys = call.keys();
  if constexpr (Plan::has_transforms) {
    for (index_t b = 0; b < call.batch(); ++b) {
      for (const row_space* space : {&call.query_space(), &call.key_space()}) {
        const auto [low, high] = space->position_bounds(b);
        rows.largest.position =
            std::max({rows.largest.position, std::abs(static_cast<double>(low)), std::abs(static_cast<double>(high))});
      }
    }
  }
  to.largest.add(rows.largest);
  if (log_sum_exp && call.queries() > 0 && !written(*log_sum_exp)) log_sum_exp.reset();
  if (scores && !written(*scores)) scores.reset();
  if (!log_sum_exp) to.log_sum_exp = {};
  if (!scores) to.scores = {};
  if (to.log_sum_exp.values().empty()) log_sum_exp.reset();
  if (to.scores.values().empty()) scores.reset();
  gather(from, output, log_sum_exp, scores, weights, to);
}

}  // namespace detail

/// The call as it is, each token row with its own content.
[[nodiscard]] inline edited_call unedited(const position_call& call) {
  return detail::with_own_sources(call.described());
}

/// Runs a function on every call of an edit. T is the type of the plan; the content is rounded to Stored first, so that
/// a reference in double reads what the function reads.
/// Throws: errc::row_identity for sources that are not those of the calls; what compile and the function throw.
template <class T, class Stored, class Function, class Attention, audited_content Content>
[[nodiscard]] observation observe(const Function& function, const Attention& attention, const position_call& original,
                                  const std::vector<edited_call>& calls, const Content& content, const observing& how) {
  const index_t batch = original.batch();
  const index_t heads = attention.layout().query;
  const index_t queries = original.queries();
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  observation seen{tensor<double, 4>({batch, heads, queries, content.value_dim(attention.layout())}),
                   tensor<double, 3>({batch, heads, queries}),
                   tensor<double, 4>({batch, heads, queries, original.keys()}),
                   tensor<double, 4>({batch, heads, queries, original.keys() + 1}),
                   std::vector<std::uint8_t>(static_cast<std::size_t>(batch * queries), 0),
                   {},
                   true};
  std::fill(seen.scores.values().begin(), seen.scores.values().end(), hidden);  // of a key that a call does not hold
  for (const edited_call& call : calls) {
    detail::observe_call<T, Stored>(function, attention, call, content, how, seen);
  }
  return seen;
}

}  // namespace posgeo::audit
