"""One line of the table."""

import dataclasses


@dataclasses.dataclass
class Result:
    row: str
    what: str
    target: str
    floor: str
    measured: str
    peer: str = ""
    ratio: float | None = None
    ratio_by_work: float | None = None
    verdict: str = ""
    values: dict = dataclasses.field(default_factory=dict)


def verdict(reached, above_floor=False):
    return "reached" if reached else "above the floor" if above_floor else "missed"
