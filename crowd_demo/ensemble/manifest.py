"""What an ensemble was asked for and made with, as JSON beside its table."""

from __future__ import annotations

import json

from crowd_demo.ensemble.plan import Plan
from crowd_demo.measure.record import header


def manifest(plan: Plan) -> str:
    """`config` is that of the first run; `varied` has the values that take the place of its own."""
    first = plan.runs[0]
    values = {path: list(dict.fromkeys(run.settings[place] for run in plan.runs)) for place, path in enumerate(plan.varied)}
    content = {**header("ensemble"), "code": plan.code, "name": plan.config, "runs": len(plan.runs), "varied": values,
               "seeds": list(dict.fromkeys(run.seed for run in plan.runs)), "steps": plan.steps, "every": plan.every,
               "measures": list(plan.measures), "columns": list(plan.columns),
               "config": first.config.model_dump(mode="json", exclude={"keys"})}
    return json.dumps(content, indent=2, allow_nan=False) + "\n"
