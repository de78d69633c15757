"""Matching of the leaves of two trees with different names and nesting.

Trees are matched top down. Subtrees whose leaves have the same sizes match if each side has exactly
one. Among several, numbered ones are matched by number, others by name, and the rest by their
position between matched ones. A subtree without a counterpart is replaced by its members, largest
first; thus blocks are matched as blocks, and their contents only with each other. Undecided
leaves are not guessed but listed as candidates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

from nestarray.container import Container
from nestarray.container.spec import LEAF, Path, Spec, join_path
from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError, ShapeError
from nestarray.interchange.naming.axes import Layout, Steps
from nestarray.interchange.naming.key_map import KeyMap
from nestarray.interchange.naming.layouts import is_transposed, order_of, possible_steps
from nestarray.interchange.naming.match_units import (
    Side,
    Unit,
    depth,
    families,
    overlap,
    shape_of,
)
from nestarray.interchange.naming.pairs import Pair, Shift, Term, in_order, taken_section
from nestarray.interchange.naming.parameter_names import (
    is_transposed_by_name,
    kind_by_name,
    name_of,
    similarity,
)
from nestarray.interchange.naming.projections import has_separate_projections, sections
from nestarray.interchange.naming.recurrent import Section, sections_of_layers, twin_of

Words = tuple[str, ...]
Place = tuple[int, int, Spec]  # the numbers of the leaves from and to, and the structure

#: The confidence from each kind of evidence.
_BY_SHAPE, _BY_NUMBER, _BY_ELIMINATION, _BY_PLACE, _BY_COUNT = 1.0, 0.95, 0.8, 0.7, 0.6
_LEAST_SIMILARITY, _MARGIN = 0.25, 0.08
_MOST_FAMILIES, _MOST_CANDIDATES = 200, 5


class Matching:
    """The state of a match: decided pairs and open units."""

    def __init__(
        self,
        c: Container,
        other: Container,
        known: Mapping[str, str],
        layouts: tuple[Mapping[str, Layout], Mapping[str, Layout]] = ({}, {}),
        kinds: Mapping[str, str] | None = None,
    ) -> None:
        self.specs = (c._spec, other._spec)
        places = _located(known, *self.specs)
        parts = sections_of_trees((c, other))
        for k in (0, 1):  # a known leaf is matched as a whole
            for _, ends in places:
                n, _, spec = ends[k]
                if spec is LEAF:
                    parts[k].pop(self.specs[k].paths[n], None)
        self.old, self.new = map(Side, (c, other), parts, layouts)
        self.kinds = {} if kinds is None else kinds
        self.decided: dict[int, tuple[int, float]] = {}
        self.twins: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self.open: list[tuple[list[Unit], list[Unit]]] = []
        self._match_known(places)

    def _kind(self, i: int, k: int) -> str:
        """The kind of a kernel, which the caller or the name of the layer tells; else ""."""
        paths = (self.old.paths[i], self.new.paths[k])
        return self.kinds.get(join_path(self.old.places[i][0])) or kind_by_name(paths)

    def _ways(self, i: int, k: int) -> list[Steps]:
        """The possible steps from leaf i to leaf k; [] if they have different roles."""
        old, new = self.old, self.new
        if old.roles[i] != new.roles[k]:
            return []
        paths = (old.paths[i], new.paths[k])
        return possible_steps(
            old.shapes[i],
            new.shapes[k],
            (old.layouts[i], new.layouts[k]),
            self._kind(i, k),
            (str(paths[0][-1]) if paths[0] else "", str(paths[1][-1]) if paths[1] else ""),
        )

    # matches given by the caller

    def _match_known(self, places: list[tuple[tuple[str, str], tuple[Place, Place]]]) -> None:
        """Record the caller's matches; the contents of subtrees are matched recursively."""
        # single leaves first: subtrees are then matched around them
        places.sort(key=lambda place: place[1][0][1] - place[1][0][0])
        taken = set()
        for (source, target), ((a, b, old), (p, q, new)) in places:
            a, b, p, q = (
                *(self.old.starts[n] for n in (a, b)),
                *(self.new.starts[n] for n in (p, q)),
            )
            sources = [i for i in range(a, b) if i not in self.decided]
            targets = [k for k in range(p, q) if k not in taken]
            if old is LEAF or new is LEAF:
                self._check_known_leaf(source, target, old, new, sources, targets)
                self.decided[a] = (p, _BY_SHAPE)
            elif sources and targets:
                units = (
                    self.old.unit(sources, depth(self.old, a, b)),
                    self.new.unit(targets, depth(self.new, p, q)),
                )
                self._match_members([units[0]], [units[1]], _BY_SHAPE)
            taken = {k for k, _ in self.decided.values()}

    def _check_known_leaf(
        self, source: str, target: str, old: Spec, new: Spec, sources: list[int], targets: list[int]
    ) -> None:
        if old is not new:
            leaf, node = (source, target) if old is LEAF else (target, source)
            raise ArgumentError(
                f"match: known: {source!r} → {target!r}: {leaf!r} is a leaf and {node!r} is a node"
            )
        if not sources or not targets:
            raise ArgumentError(
                f"match: known: {source!r} → {target!r}: one of them has another partner in `known`"
            )
        i, k = sources[0], targets[0]
        if not self._ways(i, k):
            raise ShapeError(
                f"match: known: {source!r} has the shape {self.old.shapes[i]}, {target!r} "
                f"{self.new.shapes[k]}; one is not the other transposed or reshaped"
            )

    # top down

    def match_rest(self) -> None:
        """Match the remaining leaves as far as possible."""
        taken = {k for k, _ in self.decided.values()}
        self.twins = twins = (_twins(self.old), _twins(self.new))
        if len(twins[0]) == len(twins[1]):  # both have two biases, as any other parameters
            self.twins = twins = ({}, {})
        old = [i for i in range(len(self.old.paths)) if i not in {*self.decided, *twins[0]}]
        new = [k for k in range(len(self.new.paths)) if k not in {*taken, *twins[1]}]
        common = {self.old.sizes[i] for i in old} & {self.new.sizes[k] for k in new}
        old = [i for i in old if self.old.sizes[i] in common]  # the others have no counterpart
        new = [k for k in new if self.new.sizes[k] in common]
        if old and new:
            self._match_members([self.old.unit(old)], [self.new.unit(new)], _BY_SHAPE)

    def _match_members(self, olds: list[Unit], news: list[Unit], confidence: float) -> None:
        """Match two lists of units, largest first."""
        pairs: list[tuple[Unit, Unit, float]] = []
        deferred: list[tuple[list[Unit], list[Unit]]] = []
        while olds and news:
            most = max(unit.count for unit in (*olds, *news))
            now = [[u for u in units if u.count == most] for units in (olds, news)]
            olds, news = ([u for u in units if u.count < most] for units in (olds, news))
            found, alone = self._match_largest(*now, deferred)
            pairs += found
            if most > 1:
                blocks = self._paired_blocks(alone, olds, news)
                pairs += blocks
                gone = {id(unit) for pair in blocks for unit in pair[:2]}
                olds, news = (
                    _opened(*units, gone) for units in ((olds, alone[0]), (news, alone[1]))
                )
        self._match_by_place(pairs, deferred)
        for old, new, own in pairs:
            self._decide(old, new, min(confidence, own))

    def _match_largest(
        self, olds: list[Unit], news: list[Unit], deferred: list[tuple[list[Unit], list[Unit]]]
    ) -> tuple[list[tuple[Unit, Unit, float]], tuple[list[Unit], list[Unit]]]:
        """Pairs of units of the same size, and the units without a counterpart on both sides.

        If nothing decides between similar units, all of them go to `deferred`.
        """
        pairs: list[tuple[Unit, Unit, float]] = []
        alone: tuple[list[Unit], list[Unit]] = ([], [])
        for old_group, new_group in self._groups(olds, news):
            found, old_left, new_left = self._paired(old_group, new_group)
            pairs += found
            if old_left and new_left:
                deferred.append((old_left, new_left))
            else:
                alone[0].extend(old_left)
                alone[1].extend(new_left)
        return pairs, alone

    def _decide(self, old: Unit, new: Unit, confidence: float) -> None:
        if old.count == new.count == 1:
            i, k = old.start, new.start
            if self.old.kinds[i] == self.new.kinds[k] == "float":
                same = dtype_of(self.old.leaves[i]) == dtype_of(self.new.leaves[k])
                confidence *= 1.0 if same else 0.98
            self.decided[i] = (k, confidence)
        else:
            olds, news = (u.members(inside=True) if u.children else [u] for u in (old, new))
            self._match_members(olds, news, confidence)

    def _groups(self, olds: list[Unit], news: list[Unit]) -> list[tuple[list[Unit], list[Unit]]]:
        """Groups of possible partners; leaves are grouped by rank if both sides have equal counts."""
        groups: dict[Hashable, tuple[list[Unit], list[Unit]]] = {}
        for side, units in enumerate((olds, news)):
            for unit in units:
                groups.setdefault(unit.signature, ([], []))[side].append(unit)
        result = []
        for old_group, new_group in groups.values():
            result += self._by_dimensions(old_group, new_group)
        return result

    def _by_dimensions(
        self, olds: list[Unit], news: list[Unit]
    ) -> list[tuple[list[Unit], list[Unit]]]:
        finer: dict[Hashable, tuple[list[Unit], list[Unit]]] = {}
        for side, (shapes, units) in enumerate(((self.old.shapes, olds), (self.new.shapes, news))):
            for unit in units:
                dims = Counter(tuple(sorted(d for d in shapes[i] if d != 1)) for i in unit.leaves)
                finer.setdefault(frozenset(dims.items()), ([], []))[side].append(unit)
        if len(finer) > 1 and all(len(a) == len(b) for a, b in finer.values()):
            return list(finer.values())
        return [(olds, news)]

    # within one group

    def _paired(
        self, olds: list[Unit], news: list[Unit]
    ) -> tuple[list[tuple[Unit, Unit, float]], list[Unit], list[Unit]]:
        """Match units of one signature: pairs with confidence, and the rest of both sides."""
        if len(olds) == len(news) == 1:
            if self._fits(olds[0], news[0]):
                return [(olds[0], news[0], _BY_SHAPE)], [], []
            return [], olds, news
        left, right = families(olds), families(news)
        pairs: list[tuple[Unit, Unit, float]] = []

        def take(a: Words, b: Words, confidence: float) -> bool:
            together = list(zip(left[a], right[b]))
            if len(left[a]) != len(right[b]) or not all(self._fits(*both) for both in together):
                return False
            numbered = confidence if len(together) == 1 else min(confidence, _BY_NUMBER)
            pairs.extend((old, new, numbered) for old, new in together)
            del left[a], right[b]
            return True

        for words in [words for words in left if words in right]:
            take(words, words, _BY_SHAPE)
        if len(left) <= _MOST_FAMILIES and len(right) <= _MOST_FAMILIES:
            while True:
                best = _best_matches(left, right)
                taken = [take(a, b, 0.6 + 0.4 * score) for a, b, score in best]
                if not any(taken):
                    break
        if len(left) == len(right) == 1:
            take(next(iter(left)), next(iter(right)), _BY_ELIMINATION)
        rest = [[unit for units in side.values() for unit in units] for side in (left, right)]
        return pairs, rest[0], rest[1]

    def _fits(self, old: Unit, new: Unit) -> bool:
        if old.count > 1 or new.count > 1:
            return True
        return bool(self._ways(old.start, new.start))

    def _paired_blocks(
        self, rest: tuple[list[Unit], list[Unit]], olds: list[Unit], news: list[Unit]
    ) -> list[tuple[Unit, Unit, float]]:
        """Match numbered blocks with equal counts on both sides, even if a few leaves differ."""
        sides = []
        for left, units in zip(rest, (olds, news), strict=True):
            found = families([*left, *units])
            names = dict.fromkeys(name_of(unit.path).words for unit in left)
            sides.append((found, [n for n in names if len(found[n]) > 1]))
        (old_families, old_names), (new_families, new_names) = sides
        pairs = []
        for name in old_names or list(old_families):
            options = []
            for other in new_families if name in old_names else new_names:
                a, b = old_families[name], new_families[other]
                if len(a) == len(b) > 1 and a[0].count > 1 and b[0].count > 1:
                    shared = min(overlap(x, y) for x, y in zip(a, b, strict=True))
                    if shared >= _BY_COUNT:
                        options.append((shared, a, b))
            if len(options) == 1:
                _, a, b = options[0]
                pairs += [(x, y, _BY_ELIMINATION) for x, y in zip(a, b, strict=True)]
        used = Counter(id(unit) for pair in pairs for unit in pair[:2])
        return [p for p in pairs if used[id(p[0])] == used[id(p[1])] == 1]

    def _match_by_place(
        self,
        pairs: list[tuple[Unit, Unit, float]],
        deferred: list[tuple[list[Unit], list[Unit]]],
    ) -> None:
        """Match single units between the same neighbours, if both sides have the same order."""
        known = sorted((old.start, new.start) for old, new, _ in pairs)
        follows = [new for _, new in known]
        in_one_order = len(known) > 1 and follows == sorted(follows)
        for olds, news in deferred:
            places: dict[int, tuple[list[Unit], list[Unit]]] = {}
            for side, units in enumerate((olds, news)):
                for unit in units:
                    place = sum(pair[side] < unit.start for pair in known)
                    places.setdefault(place, ([], []))[side].append(unit)
            if in_one_order and len(olds) == len(news):
                for a, b in places.values():
                    if len(a) == len(b) == 1 and self._fits(a[0], b[0]):
                        pairs.append((a[0], b[0], _BY_PLACE))
                        olds, news = (
                            [u for u in us if u not in (a[0], b[0])] for us in (olds, news)
                        )
            if olds or news:
                self.open.append((olds, news))

    # the result

    def key_map(self, min_confidence: float) -> KeyMap:
        """The decided pairs with their steps, and the candidates for open units."""
        votes = self._votes()
        pairs, candidates = [], []
        for i, (k, confidence) in self.decided.items():
            ways = self._possible_steps(i, k, votes)
            likely = [w for w in ways if w[1] == 1.0] or ways
            if len(likely) == 1:
                steps, share = likely[0]
                confidence *= share if share < 1 else 1.0
                is_twin = i in self.twins[0].values() or k in self.twins[1].values()
                of_leaf = (
                    self._twin_pairs(i, k, confidence)
                    if is_twin
                    else [self._pair(i, k, steps, confidence)]
                )
                (pairs if of_leaf[0].confidence >= min_confidence else candidates).extend(of_leaf)
            else:
                candidates += [self._pair(i, k, w, confidence * share) for w, share in likely]
        for olds, news in self.open:
            candidates += self._candidates(olds, news, votes)
        spec, other = self.specs
        return KeyMap(spec, other, in_order(pairs, other), in_order(candidates, other))

    def _pair(
        self,
        i: int,
        k: int,
        steps: Steps,
        confidence: float,
        terms: tuple[Term | None, Term | None] = (None, None),
    ) -> Pair:
        places = (self.old.places[i], self.new.places[k])
        (source, first), (target, last) = (
            (path, _with_term(to_section, term) if term else to_section)
            for (path, to_section), term in zip(places, terms, strict=True)
        )
        back = tuple([step.inverse() for step in reversed(last)])
        return Pair(source, target, (*first, *steps, *back), round(confidence, 2))

    def _twin_pairs(self, i: int, k: int, confidence: float) -> list[Pair]:
        """The pairs of two biases in one tree and their sum in the other, instead of one pair."""
        old = [n for n, twin in self.twins[0].items() if twin == i]
        new = [n for n, twin in self.twins[1].items() if twin == k]
        if bool(old) == bool(new):
            return [self._pair(n, q, (), confidence) for n, q in zip((i, *old), (k, *new))]
        pairs = zip([i, *old], [k, k]) if old else zip([i, i], [k, *new])
        terms = [(None, Term(n, 2)) if old else (Term(n, 2), None) for n in range(2)]
        return [
            self._pair(n, q, (), confidence, term)
            for (n, q), term in zip(pairs, terms, strict=True)
        ]

    def _votes(self) -> dict[Hashable, Counter[Any]]:
        """The transposition of arrays with two given last keys, where shapes determine it."""
        votes: dict[Hashable, Counter[Any]] = {}
        for i, (k, _) in self.decided.items():
            ways = self._ways(i, k)
            if len(ways) == 1 and len(self.old.shapes[i]) > 1:
                names = self._voters(i, k)
                for voters in (names, names[2]):
                    votes.setdefault(voters, Counter())[order_of(ways[0])] += 1
        return votes

    def _voters(self, i: int, k: int) -> tuple[Path, Path, int]:
        rank = min(len(self.old.shapes[i]), len(self.new.shapes[k]))
        return (self._kind(i, k), *self.old.paths[i][-1:]), self.new.paths[k][-1:], rank

    def _possible_steps(
        self, i: int, k: int, votes: dict[Hashable, Counter[Any]]
    ) -> list[tuple[Steps, float]]:
        """The possible steps from leaf i to leaf k, each with a confidence."""
        ways = self._ways(i, k)
        if len(ways) == 1:
            return [(ways[0], 1.0)]
        counts = votes.get(self._voters(i, k), Counter())
        voted = [way for way in ways if counts[order_of(way)]]
        if len(voted) == 1:
            return [(voted[0], 0.97)]
        if not voted and self._kind(i, k) != "transposed convolution":
            swapped = is_transposed_by_name(self.old.paths[i], self.new.paths[k])
            by_name = [way for way in ways if is_transposed(way) == swapped]
            if swapped is not None and by_name:
                return [(by_name[0], 0.9)]
            everywhere = votes.get(self._voters(i, k)[2], Counter())
            alike = [way for way in ways if everywhere[order_of(way)]]
            if len(everywhere) == 1 and len(alike) == 1:  # as for all matrices of these trees
                return [(alike[0], 0.8)]
        return [(way, round(1 / len(ways), 2)) for way in ways]

    def _candidates(
        self, olds: list[Unit], news: list[Unit], votes: dict[Hashable, Counter[Any]]
    ) -> list[Pair]:
        """For each leaf of the old units, its possible leaves in the new units."""
        result = []
        for n, old in enumerate(olds):
            if len(news) > _MOST_FAMILIES:  # too many for pairwise comparison
                first = min(max(0, n - _MOST_CANDIDATES // 2), len(news) - _MOST_CANDIDATES)
                options = news[first : first + _MOST_CANDIDATES]
            else:
                options = news
            scores = [self._score(old, new) for new in options]
            total = sum(scores) * max(1.0, len(news) / len(options))
            best = sorted(range(len(options)), key=lambda o: -scores[o])[:_MOST_CANDIDATES]
            for o in best:
                for i, k, share in self._inside(old, options[o]):
                    for steps, way in self._possible_steps(i, k, votes):
                        confidence = 0.9 * way * share * scores[o] / total
                        result.append(self._pair(i, k, steps, confidence))
        return result

    def _score(self, old: Unit, new: Unit) -> float:
        return 0.1 + similarity(name_of(old.path).words, name_of(new.path).words)

    def _inside(self, old: Unit, new: Unit) -> list[tuple[int, int, float]]:
        """The pairs of leaves that follow if these two units match."""
        trial = Matching.__new__(Matching)
        trial.specs, trial.old, trial.new = self.specs, self.old, self.new
        trial.kinds, trial.decided, trial.open = self.kinds, {}, []
        if old.count == new.count == 1:
            return [(old.start, new.start, 1.0)] if self._fits(old, new) else []
        trial._decide(old, new, 1.0)
        return [(i, k, confidence) for i, (k, confidence) in trial.decided.items()]


def _located(
    known: Mapping[str, str], spec: Spec, other: Spec
) -> list[tuple[tuple[str, str], tuple[Place, Place]]]:
    if not isinstance(known, Mapping):
        raise ArgumentError(
            f"match: known: got {type(known).__name__}, expected a dict of paths: "
            "path in the first tree → path in the other"
        )
    return [((a, b), (spec.locate(a), other.locate(b))) for a, b in known.items()]


def sections_of_trees(
    trees: tuple[Container, Container],
) -> tuple[dict[Path, list[Section]], dict[Path, list[Section]]]:
    """The leaves of both trees that are matched in sections: fused projections, and gates."""
    shapes = [
        {p: shape_of(x) for p, x in zip(c._spec.paths, c._leaves, strict=True)} for c in trees
    ]
    forms, parts = zip(*map(sections_of_layers, shapes), strict=True)
    # within one library, the gates are in one order
    result = parts if all(forms) and forms[0] != forms[1] else ({}, {})
    for k, c in enumerate(trees):
        if has_separate_projections(trees[1 - k]._spec.paths):
            nodes = {path[: n + 1] for path in c._spec.paths for n in range(len(path))}
            for path, shape in shapes[k].items():
                of_leaf = sections(path, shape)
                if of_leaf and not any(
                    part.path[: len(p)] in nodes for part in of_leaf for p in [path]
                ):
                    result[k][path] = of_leaf
    return result


def _with_term(steps: Steps, term: Term) -> Steps:
    """Steps from a leaf to a section that is a term of a sum; the first term has any constant."""
    cut = len(taken_section(steps))
    rest = [step for step in steps[cut:] if not (term.term and isinstance(step, Shift))]
    return (*steps[:cut], term, *rest)


def _twins(side: Side) -> dict[int, int]:
    """The number of a bias of the hidden state → the number of the bias that it is added to."""
    places = {path: n for n, (path, role) in enumerate(zip(side.paths, side.roles)) if role}
    twins = {n: places.get(twin_of(path) or ()) for path, n in places.items()}
    return {n: twin for n, twin in twins.items() if twin is not None}


def _opened(units: list[Unit], alone: list[Unit], gone: set[int]) -> list[Unit]:
    """`units`, with units in `alone` replaced by their members and units in `gone` removed."""
    kept = [unit for unit in units if id(unit) not in gone]
    left = [unit for unit in alone if id(unit) not in gone]
    return [*kept, *(member for unit in left for member in unit.members(inside=False))]


def _best_matches(
    left: Mapping[Words, list[Unit]], right: Mapping[Words, list[Unit]]
) -> list[tuple[Words, Words, float]]:
    """Families that are more similar to each other than to any other, by a clear margin."""
    scores = {
        (a, b): similarity(a, b)
        for a in left
        for b in right
        if len(left[a]) == len(right[b])
    }  # fmt: skip
    rows: dict[Any, list[float]] = {}
    for (a, b), score in scores.items():
        rows.setdefault((0, a), []).append(score)
        rows.setdefault((1, b), []).append(score)
    best = {key: sorted(row, reverse=True)[:2] for key, row in rows.items()}
    result = []
    for (a, b), score in scores.items():
        two = [best[0, a], best[1, b]]
        is_best = all(score == first for first, *_ in two)
        is_clear = all(second <= score - _MARGIN for _, *others in two for second in others)
        if is_best and is_clear and score >= _LEAST_SIMILARITY:
            result.append((a, b, score))
    return result
