// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/packed_batch.hpp>
#include <posgeo/call/padded_batch.hpp>

#include <atomic>
#include <cstring>
#include <thread>

#include "agreement/families.hpp"

// One sequence at different places of different calls.
namespace posgeo::test {

/// Where the tokens of a sequence lie: row first + n of an entry holds its token from + n.
struct placement {
  std::string name;
  position_call call;
  index_t entry = 0;
  index_t first_query = 0;
  index_t first_key = 0;
  index_t from = 0;  ///< the first token that is a query
  unsigned layouts = 0;
};

/// Every way to hand over a whole sequence of `length` tokens from position 0 on.
[[nodiscard]] inline std::vector<placement> whole_sequences(index_t length) {
  const auto padded = [](std::vector<index_t> lengths, index_t rows, call::padding_side side) {
    return call::padded_batch(
        {.lengths = lengths, .rows = rows, .side = side, .positions = call::padded_positions::compressed(0, 0)});
  };
  const auto packed = [](std::vector<index_t> lengths) {
    return call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart});
  };
  using call::padding_side;
  const auto at = [](std::string name, position_call call, index_t entry, index_t first, unsigned layouts = 0) {
    return placement{std::move(name), std::move(call), entry, first, first, 0, layouts};
  };
  return {
      at("alone", padded({length}, length, padding_side::right), 0, 0),
      at("alone, rows first", padded({length}, length, padding_side::right), 0, 0, 1),
      at("alone, gaps between rows", padded({length}, length, padding_side::right), 0, 0, 2),
      at("in a batch", padded({9, length, length + 4}, length + 4, padding_side::right), 1, 0),
      at("at another place of it", padded({length, 9, length}, length + 4, padding_side::right), 2, 0, 1),
      at("right padded", padded({length, 3}, length + 45, padding_side::right), 0, 0, 2),
      at("left padded by a few", padded({length, length + 1}, length + 3, padding_side::left), 0, 3),
      at("left padded by many", padded({length - 2, length}, length + 70, padding_side::left), 1, 70, 1),
      at("packed behind another", packed({23, length, 5}), 0, 23),
      at("packed behind many", packed({1, 0, 150, 149, length}), 0, 300, 2),
  };
}

/// The inputs of a placement: the sequence's rows where they belong, other numbers everywhere else.
template <class E>
[[nodiscard]] stored_inputs<E> placed_inputs(const scene& where, const placement& at, const stored_inputs<E>& sequence,
                                             unsigned seed) {
  stored_inputs<E> in(where, seed);
  const auto copy = [](const tensor<double, 4>& source, index_t from, tensor<double, 4>& to, index_t entry,
                       index_t first) {
    for (index_t h = 0; h < to.extent(1); ++h) {
      for (index_t r = 0; from + r < source.extent(2) && first + r < to.extent(2); ++r) {
        std::ranges::copy(source.view().row(0, h, from + r), to.view().row(entry, h, first + r).begin());
      }
    }
  };
  copy(sequence.query, at.from, in.query, at.entry, at.first_query);
  copy(sequence.key, 0, in.key, at.entry, at.first_key);
  copy(sequence.value, 0, in.value, at.entry, at.first_key);
  return in;
}

/// What an executor writes for `count` queries of the sequence, output rows and log-sum-exps.
template <class E, class Executor, class Model>
[[nodiscard]] std::vector<double> placed_rows(const Executor& executor, const Model& model, const scene& alone,
                                              const placement& at, const stored_inputs<E>& sequence, index_t count,
                                              unsigned seed = 501) {
  scene where = alone;
  where.call = at.call;
  const auto plan = model.template compile<computed_in<E>>(where.call);
  const auto hidden = [&](index_t b, index_t j) { return hidden_from_all(plan, b, j); };
  const auto in = placed_inputs(where, at, sequence, seed);
  const measured got = run_guarded<E, computed_in<E>>(executor, plan, where, in, hidden, at.layouts);
  std::vector<double> rows;
  for (index_t h = 0; h < where.layout.query; ++h) {
    for (index_t n = 0; n < count; ++n) {
      const auto row = got.output.view().row(at.entry, h, at.first_query + n);
      rows.insert(rows.end(), row.begin(), row.end());
      rows.push_back(got.log_sum_exp(at.entry, h, at.first_query + n));
    }
  }
  return rows;
}

/// Whether two sequences of numbers have the same bits: zeros of another sign differ.
[[nodiscard]] inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// Tasks run by a number of std::threads that are made for each call.
struct some_threads {
  index_t count;
  [[nodiscard]] index_t concurrency() const { return count; }
  template <class F>
  void parallel_for(index_t tasks, const F& f) const {
    std::atomic<index_t> next{0};
    const auto work = [&] {
      for (index_t task = next++; task < tasks; task = next++) f(task);
    };
    std::vector<std::thread> helpers;
    for (index_t n = 1; n < count; ++n) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
  }
};
static_assert(parallel<some_threads>);

}  // namespace posgeo::test
