"""Laws of the eigenvalues of sample covariance and correlation matrices and of the joint masked predictor."""
