// SPDX-License-Identifier: MIT
#include <posgeo/transform/rotary.hpp>

using namespace posgeo;

struct speeds {
  [[nodiscard]] index_t pairs() const { return 2; }
#ifdef POSGEO_SHOULD_FAIL
  [[nodiscard]] float at(index_t) const { return 0.5f; }  // angles are formed in double
#else
  [[nodiscard]] double at(index_t) const { return 0.5; }
#endif
};

const transform::rotary<speeds> turn(speeds{}, {.pairs = transform::pairing::halves});
