// SPDX-License-Identifier: MIT
#include <posgeo/encode/time2vec.hpp>

#include <stdexcept>

#include "golden/mechanisms.hpp"

namespace posgeo::golden {
namespace {

using encode::linear_term;

encode::periodic function_of(const golden_case& c) {
  if (c.name.find("cosine") != std::string::npos) return encode::periodic::cosine;
  if (c.name.find("sine") != std::string::npos) return encode::periodic::sine;
  throw std::runtime_error("unknown periodic function of " + c.name);
}

/// The periodic parameters with the linear one before or behind them.
template <class T>
table<T> in_order(const golden_case& c, const char* of_periodic, const char* of_linear, linear_term linear) {
  auto row = c.values<T>(of_periodic);
  row.insert(linear == linear_term::first ? row.begin() : row.end(), c.values<T>(of_linear).at(0));
  return {row, 1, static_cast<index_t>(row.size())};
}

template <class T>
std::vector<T> time_rows(const golden_case& c, linear_term linear) {
  const encode::time2vec<T> encoder(
      {.time = coordinate::elapsed_time({.clock = coordinate::clock_name("any"),
                                         .stamp_unit = coordinate::time_unit::seconds,
                                         .origin = 0,
                                         .unit = coordinate::time_unit::seconds}),
       .function = function_of(c),
       .linear = linear,
       .missing = encode::missing_time::refused},
      {.omega = in_order<T>(c, "w", "w0", linear), .phi = in_order<T>(c, "b", "b0", linear)});
  std::vector<T> out;
  for (const double tau : c.values<double>("tau")) {
    encoder.for_each_column(tau, [&](index_t, double value) { out.push_back(static_cast<T>(value)); });
  }
  return out;
}

template <class T>
outputs<T> produce_time2vec(const golden_case& c) {
  outputs<T> out;
  out.add("output", time_rows<T>(c, linear_term::last));
  out.add("paper_order", time_rows<T>(c, linear_term::first));
  return out;
}

}  // namespace

mechanism time2vec() { return {"time2vec", produce_time2vec<double>, produce_time2vec<float>}; }

}  // namespace posgeo::golden
