// SPDX-License-Identifier: MIT
// Forward and backward pass together, of mechanisms that learn.
#include <posgeo/attend/fused_backward.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/value/shaw_value.hpp>

#include "families/families.hpp"

namespace posgeo::bench {

namespace {

template <class Plan>
struct training_memory {
  using T = typename Plan::scalar;
  Plan plan;
  tensor<T, 4> query;
  tensor<T, 4> key;
  tensor<T, 4> value;
  tensor<T, 4> d_output;
  tensor<T, 4> output;
  tensor<T, 3> log_sum_exp;
  tensor<T, 4> d_query;
  tensor<T, 4> d_key;
  tensor<T, 4> d_value;
  plan_gradients_of<Plan> learned;
  std::vector<std::byte> forward_workspace;
  std::vector<std::byte> backward_workspace;
};

/// Weights of a row sum to one, so the gradients of the values sum to those of the outputs, column by column.
template <class Memory>
void require_right(const Memory& m) {
  const index_t dim = m.d_value.extent(3);
  for (index_t h = 0; h < m.d_value.extent(1); ++h) {
    for (index_t d = 0; d < dim; ++d) {
      double values = 0;
      double outputs = 0;
      double size = 1;
      for (index_t j = 0; j < m.d_value.extent(2); ++j) values += static_cast<double>(m.d_value(0, h, j, d));
      for (index_t i = 0; i < m.d_output.extent(2); ++i) {
        outputs += static_cast<double>(m.d_output(0, h, i, d));
        size += std::abs(static_cast<double>(m.d_output(0, h, i, d)));
      }
      if (std::abs(values - outputs) <= 1e-5 * size) continue;
      throw std::runtime_error(fmt::format("wrong gradient: values of head {}, column {}: expected a sum of {}, got {}",
                                           h, d, outputs, values));
    }
  }
}

template <class Attention>
[[nodiscard]] prepared prepare_training(const Attention& of, const request& r) {
  const auto plan = of.template compile<float>(call_of(r));
  using plan_type = std::remove_cvref_t<decltype(plan)>;
  const measured_executor executor;
  const std::array<index_t, 4> queries{1, r.layout.query, r.queries, r.layout.dim};
  const std::array<index_t, 4> keys{1, r.layout.key_value, r.keys, r.layout.dim};
  const auto m = std::make_shared<training_memory<plan_type>>(training_memory<plan_type>{
      plan,
      detail::random_rows<float>(queries, 1),
      detail::random_rows<float>(keys, 2),
      detail::random_rows<float>(keys, 3),
      detail::random_rows<float>(queries, 4),
      tensor<float, 4>(queries),
      tensor<float, 3>({1, r.layout.query, r.queries}),
      tensor<float, 4>(queries),
      tensor<float, 4>(keys),
      tensor<float, 4>(keys),
      plan_gradients(plan),
      std::vector<std::byte>(executor.workspace_bytes(plan, r.layout.dim)),
      std::vector<std::byte>(backward_bytes(executor, plan, r.layout.dim)),
  });
  prepared out;
  out.run = [m, executor] {
    const qkv<float> in{m->query.view(), m->key.view(), m->value.view()};
    attend(executor.with_workspace(m->forward_workspace), m->plan, in,
           attention_output<float>{m->output.view(), m->log_sum_exp.view()});
    attend_backward(executor.with_workspace(m->backward_workspace), m->plan, in,
                    forward_result<float>{m->output.view(), m->log_sum_exp.view()}, m->d_output.view(),
                    qkv_gradient<float>{m->d_query.view(), m->d_key.view(), m->d_value.view()}, m->learned);
  };
  out.run();
  require_right(*m);
  // Scores and outputs forward; scores again, gradients of the weights, and those of q, k and v: seven products.
  out.does.attention = 14 * detail::visible_pairs(plan) * static_cast<double>(r.layout.dim * r.layout.query);
  return out;
}

}  // namespace

std::optional<prepared> training_case(const std::string& family, const request& r) {
  if (family == "none") return prepare_training(attention_of(r), r);
  if (family == "alibi") {
    return prepare_training(
        attention_of(r, bias::alibi{bias::alibi_slopes::reference(r.layout.query), bias::alibi_direction::symmetric}),
        r);
  }
  if (family == "t5") {
    const coordinate::t5_bucket bucket{
        {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional}};
    return prepare_training(attention_of(r, bias::t5<float>{random_table(32, r.layout.query), bucket}), r);
  }
  const auto classes = coordinate::clipped::symmetric(64);
  const auto rows = [&] { return random_shared(classes.classes(), r.layout.dim); };
  return prepare_training(
      attention_of(r, content::shaw_key<float>{rows(), classes}, value::shaw_value<float>{rows(), classes}), r);
}

}  // namespace posgeo::bench
