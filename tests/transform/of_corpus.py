"""What a transform that ships makes of a code."""

from pathlib import Path

from regraph_kg.models.target import Target
from regraph_kg.search.transform.apart import results
from regraph_kg.search.transform.transform import shipped

_TRANSFORMS = Path(__file__).parents[2] / "corpus" / "transforms"


def made_by(target: Target, name: str, code: str) -> list[str]:
    """The codes that the first technique of a transform's file makes."""
    _, text = next(shipped(_TRANSFORMS / target / f"{name}.toml"))
    return [result.code for result in results(code, (text,))]
