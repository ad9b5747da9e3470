"""Which chain of hops to a goal is the best one, over nodes in ascending order.

The weight of a hop is a whole number that sums like (hops, manual hops, stops that no release
pins), or 0 where the hop cannot be walked.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HOP = 1 << 40
MANUAL_HOP = 1 << 20
UNPINNED_STOP = 1


def best_chains(goal: int, weights: Callable[[int], Sequence[int]]) -> tuple[list[int], list[int]]:
    """For each node from 0 to the goal: the next node of its best chain to the goal (-1 where
    there is none), and what that chain weighs.

    ``weights(i)`` are those of the hops from node i to each later one, 0 for a hop that cannot
    be walked. The best chain weighs least; of equal ones it has the higher first differing node.
    """
    following = [-1] * (goal + 1)
    total = [0] * (goal + 1)
    for node in range(goal - 1, -1, -1):
        following[node], total[node] = best_hop(node + 1, weights(node), following, total)
    return following, total


def best_hop(
    first: int, weights: Sequence[int], following: Sequence[int], total: Sequence[int]
) -> tuple[int, int]:
    """The first node of the best chain, given the best chains of the nodes from ``first`` to the
    goal and the weights of the hops to them; (-1, 0) where no chain leads to the goal."""
    goal = first + len(weights) - 1
    best, least = -1, 0
    for node in range(goal, first - 1, -1):
        hop = weights[node - first]
        if hop and (node == goal or following[node] >= 0):
            weight = hop + total[node]
            if best < 0 or weight < least:
                best, least = node, weight
    return best, least
