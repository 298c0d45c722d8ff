"""Names that packages had before version 1.0, and what is written in their place."""

from collections.abc import Callable

FORMS = {
    "simulate.masked.masks.random_masks_test_error": "mean_test_error of simulate.masked",
    "simulate.masked.masks.random_masks_train_error": "mean_train_error of simulate.masked",
    "simulate.masked.masks.span_test_error": "mean_test_error of simulate.masked",
    "simulate.masked.masks.span_train_error": "mean_train_error of simulate.masked",
    "theory.glm.classification.BestRidge": "OptimalRidge",
    "theory.glm.classification.best_ridge": "optimal_ridge(...)",
    "theory.glm.covariate_model": "GaussianCovariateModel.from_blocks(...)",
    "theory.glm.multiclass_mixture": "MulticlassMixture(...)",
    "theory.glm.teacher_mixture": "TeacherMixture(...)",
    "theory.masked.random_masks": "masked.solve(RandomMasks(...))",
    "theory.masked.span_mask": "masked.solve(SpanMask(...))",
    "theory.masked.span_windows": "masked.solve(SpanWindows(...)).test_error",
    "theory.random_matrix.optimal_spike_ridge": "random_matrix.optimal_ridge(SpikedData(...))",
    "theory.random_matrix.predictor_density": "random_matrix.predictor_law(model).density(grid)",
    "theory.random_matrix.predictor_edges": "random_matrix.predictor_law(model).edges",
    "theory.random_matrix.spike_outlier": "random_matrix.outlier(SpikedData(...))",
    "theory.random_matrix.spike_threshold": "random_matrix.threshold(SpikedData(...))",
    "theory.random_matrix.symmetric_part_outlier": "random_matrix.symmetric_outlier(SpikedData(...))",
}


def former(package: str) -> Callable[[str], object]:
    """Return the `__getattr__` of a package: its AttributeError says what to write in the place of a former name."""

    def missing(name: str) -> object:
        if (form := FORMS.get(f"{package}.{name}")) is not None:
            raise AttributeError(f"{package} has no {name!r} any more: write {form}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return missing
