# SPDX-License-Identifier: Apache-2.0
"""Draws: windows at random places (the draw is given) and candidates (what does not depend on the draw)."""
case("ops.fractional_max_pool2d", "ops.fractional_max_pool2d(x, (2, 3), output_size=(3, 2), _random_samples=u)", x="f32[1,2,7,6]",
     u="f32[1,2,2](0,1)", grad="x")
case("ops.fractional_max_pool2d", "ops.fractional_max_pool2d(x, 2, output_ratio=(0.5, 0.8), return_indices=True, _random_samples=u)",
     x="f32[2,3,8,9]", u="f32[2,3,2](0,1)")
case("ops.fractional_max_pool2d", "ops.fractional_max_pool2d(x, 2, output_size=(1, 4), return_indices=True, _random_samples=u)",
     x="f32[2,5,7]", u="f32[1,2,2](0,1)")
case("ops.fractional_max_pool2d", "ops.fractional_max_pool2d(x, 2, output_ratio=(0.5, 0.5)).shape", x="f32[2,3,8,9]")
case("ops.fractional_max_pool2d", "ops.fractional_max_pool2d(x, 2)", x="f32[1,2,7,6]", kind="error")
case("ops.fractional_max_pool3d", "ops.fractional_max_pool3d(x, (2, 3, 2), output_size=(2, 3, 2), _random_samples=u)",
     x="f32[1,2,5,7,6]", u="f32[1,2,3](0,1)", grad="x")
case("ops.fractional_max_pool3d", "ops.fractional_max_pool3d(x, 2, output_ratio=(0.5, 0.5, 0.6), return_indices=True, _random_samples=u)",
     x="f32[2,2,6,5,7]", u="f32[2,2,3](0,1)")
case("ops.fractional_max_pool3d", "ops.fractional_max_pool3d(x, 2, output_size=(2, 3, 2)).shape", x="f32[1,2,5,7,6]")
case("ops.uniform_candidate_sampler", "ops.uniform_candidate_sampler(x, 1, 4, False, 10)[1:]", x="i64[3,1]<5")
case("ops.uniform_candidate_sampler", "ops.uniform_candidate_sampler(x, 1, 4, True, 4)[0].sort()[0]", x="i32[3,1]<4")
case("ops.uniform_candidate_sampler", "ops.uniform_candidate_sampler(x, 1, 5, True, 4)", x="i64[3,1]<4", kind="error")
