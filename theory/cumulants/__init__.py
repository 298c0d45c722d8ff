"""Hidden cumulants: likelihood-ratio and low-degree norms, and the power of one test."""

from theory.cumulants.likelihood_ratio import LikelihoodRatioNorm, likelihood_ratio_norm
from theory.cumulants.low_degree import LowDegreeNorm, low_degree_norm
from theory.cumulants.norm_statistic import NormTest, norm_test, norm_test_samples
from theory.cumulants.oracle import oracle_accuracy
from theory.cumulants.overlap import overlap_function
from theory.cumulants.threshold import (
    LikelihoodRatioRate,
    LikelihoodRatioThreshold,
    likelihood_ratio_beta,
    likelihood_ratio_rate,
    likelihood_ratio_threshold,
)
from theory.cumulants.wishart import wishart_low_degree_limit, wishart_low_degree_norm

__all__ = [
    "LikelihoodRatioNorm",
    "LikelihoodRatioRate",
    "LikelihoodRatioThreshold",
    "LowDegreeNorm",
    "NormTest",
    "likelihood_ratio_beta",
    "likelihood_ratio_norm",
    "likelihood_ratio_rate",
    "likelihood_ratio_threshold",
    "low_degree_norm",
    "norm_test",
    "norm_test_samples",
    "oracle_accuracy",
    "overlap_function",
    "wishart_low_degree_limit",
    "wishart_low_degree_norm",
]
