"""Results as tables; pandas is imported only here, when asked for."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame
else:
    DataFrame = Any  # so that annotations can name it where pandas is not there, or not needed


def table(**columns: Any) -> DataFrame:
    """Make a data frame of the given columns; ImportError says what to install where pandas is missing."""
    try:
        import pandas as pd
    except ImportError as missing:
        raise ImportError("to_frame needs pandas: pip install 'masked-ssl-theory[figures]'") from missing
    return pd.DataFrame(columns)
