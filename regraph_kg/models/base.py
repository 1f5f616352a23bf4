"""The base of every value that is read from or written to a file."""

import json
from html import escape
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue
from pydantic_core import PydanticCustomError

Metric = Literal["call", "device"]
"""The timed call: "call" = host pointers, transfers included; "device" = device pointers."""
KEPT = "x_"  # prefix of the sender's own fields


def _own_key(key: str) -> str:
    if not key.startswith(KEPT):
        raise PydanticCustomError("extra_forbidden", "Extra inputs are not permitted")
    return key


def _finite(value: JsonValue) -> JsonValue:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        raise PydanticCustomError("finite_number", "Numbers should be finite") from None
    return value


def _described(schema: dict[str, Any]) -> None:
    schema["additionalProperties"] = False
    schema["patternProperties"] = {f"^{KEPT}": {}}


class Frozen(BaseModel):
    """Immutable, and strict about unknown fields: a misspelt field must not vanish silently."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def _repr_html_(self) -> str:
        """For notebooks: its own text."""
        # code and diagnoses come from models and strangers: none of it can become markup
        return f"<pre style='white-space:pre-wrap'>{escape(str(self))}</pre>"


class Extensible(Frozen):
    """Keeps the sender's own fields, which begin with `x_`."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_described)

    __pydantic_extra__: dict[
        Annotated[str, AfterValidator(_own_key)], Annotated[JsonValue, AfterValidator(_finite)]
    ]

    @property
    def own(self) -> dict[str, JsonValue]:
        """The sender's own fields."""
        return self.__pydantic_extra__
