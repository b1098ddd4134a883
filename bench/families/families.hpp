// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>

#include <string>
#include <vector>

#include "support/prepared.hpp"

namespace posgeo::bench {

/// Under which masks a mechanism means something.
enum class masks { any, causal };

/// One mechanism of the table of cases.
struct family {
  std::string name;
  masks under;
  std::vector<element> types;
  std::function<std::optional<prepared>(const request&)> prepare;
};

/// A family by what makes its models, for q, k and v of each of Elements.
template <class... Elements, class Make>
[[nodiscard]] family family_of(std::string name, const Make& make, masks under = masks::any) {
  return {std::move(name), under, {element_of<Elements>...}, [make](const request& r) {
            return prepare<Elements...>(make, r);
          }};
}

/// Every mechanism, "none" first.
[[nodiscard]] const std::vector<family>& families();

/// One by its name. Throws std::out_of_range.
[[nodiscard]] const family& family_named(const std::string& name);

/// Forward and backward pass of none, alibi, t5 or shaw_64; its flops are those of seven products.
[[nodiscard]] std::optional<prepared> training_case(const std::string& family, const request& r);

// The parts of the table, each compiled on its own.
std::vector<family> plain_families();
std::vector<family> bias_families();
std::vector<family> pair_families();
std::vector<family> content_families();
std::vector<family> disentangled_families();

/// A model of the request's layout and mask under the given policies.
template <class... Policies>
[[nodiscard]] auto attention_of(const request& r, Policies... policies) {
  return attention{r.layout, scale::inverse_sqrt_terms{}, sees(r.sees), std::move(policies)...};
}
template <class... Policies>
[[nodiscard]] auto model_of(const request& r, Policies... policies) {
  using attention_type = decltype(attention_of(r, std::move(policies)...));
  return model<attention_type>{attention_of(r, std::move(policies)...)};
}

/// A table [rows, columns] of small random numbers.
[[nodiscard]] inline table<float> random_table(index_t rows, index_t columns) {
  std::vector<float> values = random_values<float>(rows * columns);
  for (float& value : values) value *= 0.25F;
  return {values, rows, columns};
}
[[nodiscard]] inline head_tables<float> random_shared(index_t rows, index_t dim) {
  return head_tables<float>::shared(random_table(rows, dim));
}
[[nodiscard]] inline head_tables<float> random_stacked(index_t heads, index_t rows, index_t dim) {
  return head_tables<float>::stacked(random_table(heads * rows, dim), heads);
}

}  // namespace posgeo::bench
