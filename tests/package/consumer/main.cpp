// SPDX-License-Identifier: MIT
#include <posgeo/posgeo.hpp>

#include <cstdio>

namespace pg = posgeo;

int main() {
  const pg::position_call step = pg::call::decode_step(3, 3);
  const pg::attention model{pg::heads{.query = 1, .key_value = 1, .dim = 1}, pg::scale::none{}, pg::visible::causal{},
                            pg::bias::alibi{pg::bias::alibi_slopes::custom({1.0}), pg::bias::alibi_direction::causal}};
  const float zeros[4] = {};
  const float values[4] = {0.0F, 0.0F, 0.0F, 1.0F};
  const auto plan = model.compile(step);
  const auto result = pg::attend(
      pg::eager{}, plan,
      {pg::heads_first(zeros, 1, 1, 1, 1), pg::heads_first(zeros, 1, 1, 4, 1), pg::heads_first(values, 1, 1, 4, 1)});
  // The newest key has penalty 0 and the others e^-1, e^-2, e^-3 of its weight.
  const bool right = result.output(0, 0, 0, 0) > 0.643F && result.output(0, 0, 0, 0) < 0.644F;
  std::printf("weight of the newest key %.6f\n", static_cast<double>(result.output(0, 0, 0, 0)));
  return right ? 0 : 1;
}
