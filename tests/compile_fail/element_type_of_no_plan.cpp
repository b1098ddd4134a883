// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

using namespace posgeo;

void run(const position_call& call, const qkv<Eigen::bfloat16>& brain, const qkv<Eigen::half>& half,
         const qkv<float>& single) {
  const auto plan = attention{heads{}, scale::none{}, visible::everything{}}.compile<float>(call);
  const auto wide_plan = attention{heads{}, scale::none{}, visible::everything{}}.compile<double>(call);
  attend(eager{}, plan, brain, attention_output<float, Eigen::bfloat16>{});
  attend(eager{}, plan, half, attention_output<float>{});
#ifdef POSGEO_SHOULD_FAIL
  (void)attend(eager{}, wide_plan, single);
  attend(eager{}, plan, brain, attention_output<float, Eigen::half>{});
#else
  (void)attend(eager{}, plan, single);
  attend(eager{}, plan, half, attention_output<float, Eigen::half>{});
#endif
  (void)attend(eager{}, wide_plan, qkv<double>{});
}
