"""The one exception of the package."""

from __future__ import annotations

from typing import Any, Tuple


class HexcodesError(ValueError):
    """A call that has no answer.

    code: OUTSIDE_COVERAGE (the position is in no province of Viet Nam nor its sea), NOT_A_COORDINATE (no number, not finite, or beyond
    90 or 180 degrees), BAD_RESOLUTION (no integer from 0 to 15), BAD_ARGUMENT (a column of the wrong kind or length), BAD_DATA (a
    kernel, index or reach that cannot be used). Those of the library in JavaScript.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> Tuple[Any, ...]:
        return HexcodesError, (self.code, str(self))
