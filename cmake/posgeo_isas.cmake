# SPDX-License-Identifier: MIT
# Instruction sets by the names of include/posgeo/simd/isa.hpp: what selects one, and what the machine must have.
include(CheckCXXSourceRuns)

set(posgeo_flags_sse42 -march=x86-64-v2)
set(posgeo_flags_avx2 -march=x86-64-v3)
set(posgeo_flags_avx512 -march=x86-64-v4)
set(posgeo_flags_avx512_bf16 -march=x86-64-v4 -mavx512bf16)
set(posgeo_needs_sse42 sse4.2)
set(posgeo_needs_avx2 avx2 fma bmi2)
set(posgeo_needs_avx512 avx2 fma bmi2 avx512f avx512bw avx512cd avx512dq avx512vl)
set(posgeo_needs_avx512_bf16 ${posgeo_needs_avx512} avx512bf16)

# posgeo_runs_isa(isa result): whether this compiler compiles for it and this machine runs it.
function(posgeo_runs_isa isa result)
  list(TRANSFORM posgeo_needs_${isa} REPLACE "(.+)" "__builtin_cpu_supports(\"\\1\")" OUTPUT_VARIABLE needs)
  list(JOIN needs " && " needs)
  list(JOIN posgeo_flags_${isa} " " CMAKE_REQUIRED_FLAGS)
  check_cxx_source_runs("int main() { return ${needs} ? 0 : 1; }" POSGEO_RUNS_${isa})
  set(${result} ${POSGEO_RUNS_${isa}} PARENT_SCOPE)
endfunction()
