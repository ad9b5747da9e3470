"""Which images the workers of tasks and of functions are, as a render resolves them.

Placeholders are literal text and replaced wherever they occur, the host name first. What goes
wrong is said in the words of the published runbook, and then more.
"""

from __future__ import annotations

from aicr.artifact.image_ref import ImageRef, parse_image
from aicr.documents.nodes import Map, Node, kind_of
from aicr.nvcf.render import NoGo, Rendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

INIT_KEY = "init-container"
WORKER_KEY = "utils-container"
SECRETS_KEY = "ess-agent-container"
UNUSED = "dummy"


class TaskImages:
    """``init`` and ``worker`` are what every task pulls; ``ess_agent`` what tasks with secrets
    pull too, None where the render names none."""

    __slots__ = ("ess_agent", "init", "worker")

    def __init__(self, init: ImageRef, worker: ImageRef, ess_agent: ImageRef | None) -> None:
        self.init = init
        self.worker = worker
        self.ess_agent = ess_agent

    def chosen(self, *, with_ess_agent: bool) -> list[ImageRef]:
        """The images to print and to check, in the runbook's order."""
        third = [self.ess_agent] if with_ess_agent and self.ess_agent is not None else []
        return [self.init, self.worker, *third]


def task_images(rendered: Rendered, *, with_ess_agent: bool = False) -> TaskImages:
    """The task images. Raises ``NoGo``; a broken third image only where it is asked for."""
    sidecars = rendered.sidecars if rendered.sidecars is not None else Map()
    init = _resolve(rendered, INIT_KEY, sidecars.get(INIT_KEY))
    worker = _resolve(rendered, WORKER_KEY, sidecars.get(WORKER_KEY))
    # The runbook says all that is wrong with placeholders before anything else.
    found = [_checked(rendered, INIT_KEY, init), _checked(rendered, WORKER_KEY, worker)]
    third: ImageRef | None = None
    node = sidecars.get(SECRETS_KEY)
    if isinstance(node, str) and node not in ("", UNUSED):
        try:
            third = _checked(rendered, SECRETS_KEY, _resolve(rendered, SECRETS_KEY, node))
        except NoGo:
            if with_ess_agent:
                raise
    elif with_ess_agent:
        raise NoGo(_missing(rendered, SECRETS_KEY, node))
    return TaskImages(found[0], found[1], third)


def function_images(rendered: Rendered) -> dict[str, ImageRef]:
    """The images of function workers by key; nested keys are joined with a dot. Raises NoGo."""
    found: dict[str, ImageRef] = {}
    for key, text in _leaves(rendered.sidecars if rendered.sidecars is not None else Map(), ""):
        if text != UNUSED:
            found[key] = _checked(rendered, key, _resolve(rendered, key, text))
    if not found:
        raise NoGo(f"Missing task image: {rendered.where}: names no image of a function worker")
    return found


def _leaves(node: Map, prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in node.items():
        if isinstance(value, Map):
            yield from _leaves(value, f"{prefix}{key}.")
        elif isinstance(value, str) and value:
            yield prefix + key, value


def _resolve(rendered: Rendered, key: str, node: Node | None) -> str:
    if not isinstance(node, str) or not node:
        raise NoGo(_missing(rendered, key, node))
    text = _replaced(rendered.settings, node, f"{rendered.where}, {_path(rendered, key)}")
    if "${" in text:
        raise NoGo(
            f"Unresolved task image: {text}: {rendered.where}, {_path(rendered, key)}: only "
            f"{' and '.join(rendered.settings)} are known"
        )
    return text


def _replaced(settings: Mapping[str, str], text: str, where: str) -> str:
    for placeholder, value in settings.items():
        if placeholder in text:
            if not value:
                raise NoGo(f"Missing registry setting: {placeholder}: needed by {where}")
            text = text.replace(placeholder, value)
    return text


def _checked(rendered: Rendered, key: str, text: str) -> ImageRef:
    found = parse_image(text)
    if found is None:
        raise NoGo(
            f"No image reference: {text}: {rendered.where}, {_path(rendered, key)}: expected "
            "[registry/]repository[:tag][@digest]"
        )
    return found


def _missing(rendered: Rendered, key: str, node: Node | None) -> str:
    found = "it is absent" if node is None else f"expected text, found {kind_of(node)}"
    if node == "":
        found = "it is empty"
    return f"Missing task image: {_path(rendered, key)}: {found} ({rendered.where})"


def _path(rendered: Rendered, key: str) -> str:
    return f"{rendered.service.root}.sidecars.{key}"
