"""The page at ``/``: what to compare, for people; the answers are the pages of the command."""

from __future__ import annotations

import os

from aicr.artifact.deployers import DEPLOYERS
from aicr.catalog.model import DIMENSIONS
from aicr.server.service import Answer
from aicr.upgrade.check_html import SCRIPT, STYLE
from aicr.upgrade.page import page, policy_of, text
from aicr.upgrade.plan_html import STYLE as PLAN_STYLE
from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.server.service import Service

_STATIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")
_LABELS = {"service": "Kubernetes service", "accelerator": "GPU", "intent": "Intent",
           "os": "Operating system", "platform": "Platform"}  # fmt: skip


def index(service: Service) -> Answer:
    """The page; same catalog, same bytes."""
    style = STYLE + PLAN_STYLE + _static("page.css")
    script = SCRIPT + _static("page.js")
    markup = page("aicr", [_body(service)], style=style, script=script, connect="'self'")
    policy = policy_of(style, script, "'self'") + "; frame-ancestors 'none'"
    return Answer(
        markup.encode("utf-8"),
        "text/html; charset=utf-8",
        headers={"content-security-policy": policy},
    )


def _static(name: str) -> str:
    with open(os.path.join(_STATIC, name), encoding="utf-8") as file:
        return file.read()


def _body(service: Service) -> str:
    values = service.catalog.criteria
    selects = "".join(_select(name, values[name]) for name in DIMENSIONS)
    deployers = "".join(f"<option>{text(name)}</option>" for name in DEPLOYERS)
    digest = service.catalog.digest.removeprefix("sha256:")[:12]
    return f"""\
<header class="top"><strong>aicr</strong>
<span class="quiet">{text(__version__)}, catalog {text(digest)}</span></header>
<form id="ask">
<div class="sides">
<fieldset><legend>What runs now</legend>
<label class="drop" for="from"><span>A recipe, or an archive of a bundle (.zip, .tar.gz):
drop it here or choose it</span>
<input type="file" id="from" accept=".yaml,.yml,.json,.zip,.gz,.tgz"></label>
</fieldset>
<fieldset><legend>What is wanted</legend>
<label class="drop" for="to"><span>A recipe or a bundle; without one, the criteria below; without
those, the same criteria on this catalog</span>
<input type="file" id="to" accept=".yaml,.yml,.json,.zip,.gz,.tgz"></label>
<div class="criteria">{selects}</div>
</fieldset>
</div>
<div class="acts">
<label>Deployer <select id="deployer"><option value="">as the bundle says</option>{deployers}
</select></label>
<button type="submit" value="check">Check the move</button>
<button type="submit" value="plan">Plan the way</button>
<button type="submit" value="recipe">Show the recipe</button>
<button type="submit" value="bundle">Download the bundle</button>
<button type="reset" class="plain">Start over</button>
</div>
</form>
<p id="said" role="status" aria-live="polite"></p>
<div id="failed" role="alert"></div>
<div id="answer" tabindex="-1"></div>
<noscript><p class="note">This page needs JavaScript. The command does the same:
aicr upgrade-check --from old-recipe.yaml --deployer helm --format html -o report.html</p>
</noscript>
"""


def _select(name: str, values: list[str]) -> str:
    options = "".join(f"<option>{text(value)}</option>" for value in values)
    return (
        f'<label>{text(_LABELS[name])} <select name="{name}"><option value="">any</option>'
        f"{options}</select></label>\n"
    )
