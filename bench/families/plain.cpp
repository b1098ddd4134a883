// SPDX-License-Identifier: MIT
// No positional term, and those that the kernel does not see: turned queries and keys, a softcap, another visibility.
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/scale/softcap.hpp>
#include <posgeo/transform/rotary.hpp>

#include "families/families.hpp"

namespace posgeo::bench {

std::vector<family> plain_families() {
  const auto none = [](const request& r) { return model_of(r); };
  const auto rotary = [](const request& r) {
    return model_of(r, transform::rotary{frequency::geometric{{.base = 10000.0, .rotary_dim = r.layout.dim}},
                                         {.pairs = transform::pairing::halves}});
  };
  const auto softcap = [](const request& r) {
    return model_of(r, scale::softcap{{.cap = 50.0, .place = scale::softcap_place::before_bias}});
  };
  const auto window = [](const request& r) {
    return model_of(r, visible::window{.behind = 255, .ahead = r.sees == mask::causal ? index_t{0} : index_t{255}});
  };
  return {
      {"none",
       masks::any,
       {element::f32, element::f64, element::bf16, element::f16},
       [=](const request& r) {
         return r.type == element::f32 ? prepare_on_any<float>(none, r)
                                       : prepare<double, Eigen::bfloat16, Eigen::half>(none, r);
       }},
      family_of<float, double, Eigen::bfloat16, Eigen::half>("rotary", rotary),
      family_of<float>("softcap", softcap),
      family_of<float>("window_256", window),
  };
}

}  // namespace posgeo::bench
