// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "golden/golden_case.hpp"

namespace posgeo::golden {

/// A mechanism of the manifest and the two computations of its outputs.
struct mechanism {
  const char* name;
  outputs<double> (*in_double)(const golden_case&);
  outputs<float> (*in_float)(const golden_case&);
};

mechanism sinusoidal();
mechanism learned_absolute();
mechanism t5_bucket();
mechanism t5_bias();
mechanism alibi_slopes();
mechanism alibi_bias();
mechanism rope();
mechanism nope();
mechanism composed_attention();
mechanism composed();
mechanism shaw();
mechanism transformer_xl();
mechanism deberta_bucket();
mechanism deberta_relpos();
mechanism deberta();
mechanism tupe();
mechanism rope_scaling();
mechanism graphormer();
mechanism time2vec();
mechanism vit_interpolate();
mechanism sincos2d();
mechanism gradient();

[[nodiscard]] inline std::vector<mechanism> every_mechanism() {
  return {sinusoidal(),         learned_absolute(), t5_bucket(), t5_bias(),
          alibi_slopes(),       alibi_bias(),       rope(),      nope(),
          composed_attention(), composed(),         shaw(),      transformer_xl(),
          deberta_bucket(),     deberta_relpos(),   deberta(),   tupe(),
          rope_scaling(),       graphormer(),       time2vec(),  vit_interpolate(),
          sincos2d(),           gradient()};
}

}  // namespace posgeo::golden
