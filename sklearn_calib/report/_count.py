"""The command that counts: from texts to a page, in one line."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sklearn_calib._files import FileError
from sklearn_calib._output import check_output, write_whole
from sklearn_calib._results import printable
from sklearn_calib.coref import load_antecedent_model
from sklearn_calib.explore import (
    AgentRule,
    CorrectedPosterior,
    CountPosterior,
    Lexicon,
    ReadingPlan,
    count_corpus,
    country_lexicon,
    reading_plan,
)
from sklearn_calib.explore._assertion import REASONS
from sklearn_calib.report._corpus import Corpus

__all__ = ["add_count", "count"]

_FIELDS = ("text", "date", "id", "title")
# What messages of Python functions say, and what it is called here.
_OPTIONS = {
    "on_error='skip'": "--on-error skip",
    "undated='skip'": "--undated skip",
    "(keys=)": "(--keys)",
    "parse=": "--spacy ",
    "n_samples": "--samples",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "checkpoint ": "--checkpoint ",
}


def add_count(commands: Any) -> None:
    """Add the command to a parser."""
    command = commands.add_parser(
        "count",
        help="count who did what, from texts to a page",
        description=(
            "Count the documents in which a country, or whatever a lexicon names, is the agent of "
            "a verb, with intervals for what coreference leaves open."
        ),
    )
    command.add_argument(
        "corpus",
        type=Path,
        help="parsed texts (.conllu), JSON lines (.jsonl), either also .gz, or a folder of .txt",
    )
    command.add_argument(
        "--spacy", metavar="PIPELINE", help="name or folder of a spaCy pipeline, for raw texts"
    )
    for name in _FIELDS:
        command.add_argument(
            f"--{name}-field", metavar="FIELD", help=f"field of JSON lines that holds the {name}"
        )
    command.add_argument("--out", type=Path, metavar="FILE", help="write a page of HTML")
    command.add_argument("--csv", type=Path, metavar="FILE", help="write the counts as a table")
    command.add_argument(
        "--force",
        action="store_true",
        help="replace files that are there already and are not pages of sklearn-calib",
    )
    _add_rule(command.add_argument_group("the rule"))
    _add_counting(command.add_argument_group("counting"))
    _add_reading(command.add_argument_group("reading by hand"))


def _add_rule(group: Any) -> None:
    group.add_argument(
        "--verbs",
        default=[],
        action="append",
        metavar="LIST",
        help='verbs, as in "attack,bomb"; with a name, as in "war=attack,bomb", and repeated, '
        "several lists (default: attack)",
    )
    group.add_argument(
        "--nouns",
        default=[],
        action="append",
        metavar="LIST",
        help='nouns that stand for deeds, in the same form: "an Israeli attack"',
    )
    group.add_argument("--lexicon", type=Path, metavar="FILE", help="names (default: of countries)")
    group.add_argument(
        "--exclude",
        type=_words,
        default=(),
        metavar="LIST",
        help=f"leave out what did not happen: {', '.join(REASONS)}, or several between commas",
    )
    group.add_argument(
        "--target", action="store_true", help="the deed must be done to another country"
    )
    group.add_argument(
        "--control", action="store_true", help='count "threatened to attack", "troops who attacked"'
    )
    group.add_argument(
        "--conjuncts", action="store_true", help='count all of "Iraq and Iran", "came and attacked"'
    )
    group.add_argument(
        "--returns",
        choices=("key", "verb", "pair", "triple"),
        default="key",
        help="count countries, verbs, both, or who did what to whom (default: key)",
    )
    group.add_argument(
        "--keys", type=_words, metavar="LIST", help="what to count (default: all that is found)"
    )


def _add_counting(group: Any) -> None:
    group.add_argument(
        "--period", choices=("D", "W", "M", "Q", "Y", "none"), default="Q", help="default: Q"
    )
    group.add_argument(
        "--model",
        default="english",
        metavar="NAME",
        help='a coreference model: "english", a file, or "none" (default: english)',
    )
    group.add_argument("--samples", type=int, default=100, metavar="N", help="default: 100")
    group.add_argument("--jobs", type=int, metavar="N", help="processes; -1 for one per core")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="default: 0")
    group.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FOLDER",
        help="keep what was counted there, so that the same command goes on after a crash",
    )
    group.add_argument(
        "--undated", choices=("raise", "skip"), default="raise", help="texts without a date"
    )
    group.add_argument(
        "--on-error", choices=("raise", "skip"), default="raise", help="texts that fail"
    )
    group.add_argument("--quiet", action="store_true", help="show no progress")


def _add_reading(group: Any) -> None:
    group.add_argument(
        "--read", type=int, metavar="N", help="draw N documents to be read by hand; needs --plan"
    )
    group.add_argument(
        "--plan", type=Path, metavar="FILE", help="the plan of --read, to be saved or, later, used"
    )
    group.add_argument(
        "--questions", type=Path, metavar="FILE", help="write the plan as a table to fill in"
    )
    group.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="correct the counts by such a table; needs the same --plan",
    )


def _words(text: str) -> tuple[str, ...]:
    """Return the words between commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _lists(texts: Iterable[str], option: str) -> Any:
    """Return words, or lists of words by name."""
    named: dict[str, tuple[str, ...]] = {}
    plain: list[str] = []
    for text in texts:
        name, equals, words = text.partition("=")
        if equals:
            if not _words(words):
                raise FileError(f"{option} {text!r} names no words.")
            named[name.strip()] = (*named.get(name.strip(), ()), *_words(words))
        else:
            plain += _words(text)
    if named and plain:
        raise FileError(f"{option} has lists with a name and others without: name all of them.")
    return named or plain


def count(options: argparse.Namespace) -> None:
    """Count a corpus, print the counts, and write what is wanted."""
    with _in_our_words():
        _check(options)
        given = {name: getattr(options, f"{name}_field") for name in _FIELDS}
        corpus = Corpus(options.corpus, {n: value for n, value in given.items() if value})
        if corpus.is_parsed and options.spacy is not None:
            raise FileError(f"{options.corpus} is parsed already: leave --spacy out.")
        if not corpus.is_parsed and options.spacy is None:
            raise FileError(
                f"{options.corpus} holds raw text, which must be parsed: name a spaCy pipeline, "
                "such as --spacy en_core_web_sm."
            )
        rule = _rule(options)
        model = None if options.model == "none" else load_antecedent_model(options.model)
        posterior = count_corpus(
            corpus,
            model,
            rule,
            parse=options.spacy,
            prefilter=not corpus.is_parsed,
            n_samples=options.samples,
            period=None if options.period == "none" else options.period,
            keys=options.keys,
            undated=options.undated,
            on_error=options.on_error,
            n_jobs=options.jobs,
            total=None if options.quiet else corpus.count(),
            verbose=0 if options.quiet else 1,
            checkpoint=options.checkpoint,
            random_state=options.seed,
        )
        plan, corrected = _reading(options, posterior)
        shown = posterior if corrected is None else corrected
        print(printable(repr(shown), keep="\n"))  # the most common keys, where there are many
        if corrected is not None:
            print(printable(corrected.summary().findings, keep="\n"))
        _write(options, corpus, rule, model, posterior, plan, corrected)


def _check(options: argparse.Namespace) -> None:
    """Refuse what cannot be done, before any work is."""
    if options.read is not None and options.plan is None:
        raise FileError("--read needs --plan FILE, where the plan is saved.")
    if options.answers is not None and (options.plan is None or options.read is not None):
        raise FileError("--answers needs the --plan FILE that --read made, without --read.")
    if options.questions is not None and options.plan is None:
        raise FileError("--questions needs --plan.")
    if options.plan is not None and options.read is None and not options.plan.is_file():
        raise FileError(f"--plan {options.plan}: there is no such file; --read N makes one.")
    inputs = [options.corpus, options.lexicon, options.answers]
    inputs += [] if options.read is not None else [options.plan]
    known = [path for path in inputs if path is not None]
    places = {"--out": options.out, "--csv": options.csv, "--questions": options.questions}
    if options.read is not None:
        places["--plan"] = options.plan
    for option, path in places.items():
        if path is not None:
            check_output(path, inputs=known, force=options.force, option=option)
    given = [path.resolve() for path in places.values() if path is not None]
    if len(set(given)) < len(given):
        raise FileError("two of the files to be written are the same.")


def _rule(options: argparse.Namespace) -> AgentRule:
    nouns = _lists(options.nouns, "--nouns")
    verbs = _lists(options.verbs, "--verbs") or (() if nouns else ("attack",))
    return AgentRule(
        country_lexicon() if options.lexicon is None else Lexicon.read(options.lexicon),
        verbs,
        nouns=nouns,
        exclude=options.exclude,
        target=options.target,
        control=options.control,
        conjuncts=options.conjuncts,
        returns=options.returns,
    )


def _reading(
    options: argparse.Namespace, posterior: CountPosterior
) -> tuple[ReadingPlan | None, CorrectedPosterior | None]:
    """Return the plan and the corrected counts, where they are wanted."""
    if options.plan is None:
        return None, None
    if options.read is not None:
        return reading_plan(posterior, options.read, random_state=options.seed), None
    plan = ReadingPlan.load(options.plan, posterior)
    if options.answers is None:
        return plan, None
    plan = plan.answered(options.answers)
    return plan, posterior.corrected(plan, random_state=options.seed)


def _write(
    options: argparse.Namespace,
    corpus: Corpus,
    rule: AgentRule,
    model: Any,
    posterior: CountPosterior,
    plan: ReadingPlan | None,
    corrected: CorrectedPosterior | None,
) -> None:
    """Write the files that are wanted, and say so.

    The page comes first: it takes time, and an interrupt should leave nothing half done.
    """
    if options.out is not None:
        posterior.to_html(
            options.out,
            documents=lambda: iter(corpus),
            model=model,
            rule=rule,
            parse=options.spacy,
            plan=plan,
            corrected=corrected,
            force=options.force,
        )
        _say(options.out)
    if options.csv is not None:
        table = (posterior if corrected is None else corrected).to_frame()
        write_whole(options.csv, table.to_csv(index=False))
        _say(options.csv)
    if plan is not None and options.read is not None:
        plan.save(options.plan, force=True)  # checked before
        _say(options.plan)
    if plan is not None and options.questions is not None:
        plan.to_csv(options.questions, force=True)
        _say(options.questions)


def _say(path: Path) -> None:
    print(f"wrote {printable(str(path))}")


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Let errors and warnings be a line each, in terms of the command line."""

    def warn(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"warning: {printable(_translated(str(message)))}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = warn
        try:
            yield
        except (RuntimeError, TypeError, ValueError) as error:
            raise FileError(_translated(str(error))) from error


def _translated(message: str) -> str:
    for theirs, ours in _OPTIONS.items():
        message = message.replace(theirs, ours)
    return " ".join(message.split())
