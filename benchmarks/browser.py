"""Neo4j Browser on the hottest pair, bounded and not, and the saved queries on 15,000 examples.

    python -m benchmarks.browser

In the repository's root; writes benchmarks/results/browser.json and the pictures of the pair. Needs
what the test of the Browser needs. A pair of techniques gets 5,000 examples; the Browser is asked
for 12 of them. As it comes, it adds every relationship between the two. `drawn_s` ends when the
picture moves no more (looked at every 0.3 s), `frozen_ms` is the longest time without an animation
frame until then; `zoom_ms` is from a click on the magnifying glass to the second frame after it.
Medians of 3. The Chromium is headless and draws without a GPU: compare rows, not machines.
"""

import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import neo4j

from benchmarks.run import RESULTS, ROOT, machine
from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import MergePlan
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store, write_browser_pack
from tests.browser.server import FRAMES, Browser, Served, opened, served
from tests.contract.plans import H200, failure, measured, plan

PAIR, STEPS, BATCH = 5_000, 5, 100
WALKS, TECHNIQUES, SUCCESSORS = 2_000, 36, 6
UNBOUND, BOUND = 10 * PAIR, 128
SHOWN = 12
ASK = (
    "MATCH (s:Technique {id: 'cuda/start'})-[x:TRANSITION]->(d:Technique {id: 'cuda/hot'})"
    f" RETURN s, x, d LIMIT {SHOWN}"
)
LOOKS, TIMES, PATIENCE = 3, 5, 600.0
WATCH = """(() => {
  let last = performance.now();
  window.frozen = 0;
  const next = now => {
    window.frozen = Math.max(window.frozen, now - last);
    last = now;
    requestAnimationFrame(next);
  };
  if (!window.watched) requestAnimationFrame(next);
  window.watched = true;
})()"""
ZOOM = f"""new Promise(done => {{
  const start = performance.now();
  {FRAMES}[0].querySelector('[aria-label=zoom-out]').click();
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
}})"""
BODY = "  for (int i = 0; i < n; ++i) x[i] += 1.0f;\n" * 40


def hot() -> Iterator[MergePlan]:
    """Examples of one pair: all the same step, of eight problems."""
    rng = random.Random(1)
    for number in range(PAIR):
        yield plan(
            ["hot"],
            problem=f"problem-{number % 8}",
            code=f"// {number}\n{BODY}",
            measurements=[measured(effect=rng.lognormvariate(1, 0.5))],
        )


def walks() -> Iterator[MergePlan]:
    """Random walks over a graph of fixed out-degree; every fourth ends in a failure."""
    rng = random.Random(2)
    follows = [rng.sample(range(TECHNIQUES), SUCCESSORS) for _ in range(TECHNIQUES)]
    for number in range(WALKS):
        path = [rng.randrange(TECHNIQUES)]
        while len(path) <= STEPS:
            path.append(rng.choice(follows[path[-1]]))
        *names, last = (f"technique-{at}" for at in path)
        yield plan(
            names,
            problem=f"problem-{number % 8}",
            code=f"// {number}\n{BODY}",
            measurements=[measured(effect=rng.lognormvariate(0.3, 0.3))],
            failures=[failure(last, STEPS)] if number % 4 == 0 else (),
        )


def merge(store: GraphStore, plans: Iterator[MergePlan]) -> None:
    while batch := list(islice(plans, BATCH)):
        store.merge(batch)


def bound(store: GraphStore, examples: int) -> None:
    for _ in store.set_bound(examples):
        pass


def look(served: Served, only: bool, bounded: bool) -> dict[str, object]:
    """What the pair costs a fresh Browser; `only` = it draws what the query returns, no more."""
    profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # a child still writes
    with profile as folder, opened(served, Path(folder)) as browser:
        _, style = write_browser_pack(Path(folder) / "pack")
        browser.drop(style, "document.body.innerText.includes('relationship.NEXT')")
        browser.run(f":config {{autoComplete: {json.dumps(not only)}}}")
        browser.run("RETURN 1")
        looks = [once(browser) for _ in range(LOOKS)]
        drawn, frozen, zoom = (statistics.median(column) for column in zip(*looks, strict=True))
        if bounded or not only:
            keep(browser, f"{'bounded' if bounded else 'unbounded'}{'-results-only' * only}")
        shown = browser.settle(PATIENCE)
        return {
            "bound": BOUND if bounded else None,
            "results_only": only,
            "drawn_s": round(drawn, 1),
            "frozen_ms": round(frozen),
            "zoom_ms": round(zoom),
            "relationships": len(shown.arrows),
            "page_elements": shown.elements,
        }


def once(browser: Browser) -> tuple[float, float, float]:
    """Seconds until it was drawn, longest freeze, and milliseconds of a zoom."""
    browser.page.evaluate("document.querySelector('[data-testid=frame] [title=Close]').click()")
    browser.page.evaluate(WATCH)
    start = time.perf_counter()
    browser.run(ASK, PATIENCE)
    drawn = time.perf_counter() - start
    frozen = browser.page.evaluate("window.frozen")
    zoom = statistics.median(browser.page.evaluate(ZOOM) for _ in range(TIMES))
    return drawn, frozen, zoom


def keep(browser: Browser, name: str) -> None:
    box = browser.page.box("[data-testid=frame]")
    picture = ROOT / "docs" / "images" / f"browser-hottest-pair-{name}.png"
    picture.write_bytes(browser.page.picture(box))


def saved_queries(settings: Settings) -> dict[str, float]:
    """Median milliseconds of each saved query, planned already."""
    password = settings.store_password.get_secret_value()
    with (
        neo4j.GraphDatabase.driver(settings.store, auth=("neo4j", password)) as driver,
        driver.session() as session,
    ):
        given = {"device": H200, "target": "cuda"}
        given |= {"source": "cuda/technique-0", "technique": "cuda/technique-1", "example": ""}
        (row,) = session.run("MATCH ()-[x:TRANSITION]->() RETURN x.id AS id LIMIT 1").data()
        given["example"] = row["id"]
        return {
            path.stem: milliseconds(session, path.read_text(encoding="utf-8"), given)
            for path in sorted((ROOT / "cypher" / "browser").glob("*.cypher"))
            if path.stem not in ("draw-results-only", "parameters")
        }


def milliseconds(session: neo4j.Session, query: str, given: dict[str, str]) -> float:
    taken = []
    for _ in range(TIMES + 1):
        start = time.perf_counter()
        session.run(query, given).consume()
        taken.append(1e3 * (time.perf_counter() - start))
    return round(statistics.median(taken[1:]), 1)


def main() -> None:
    date, start = datetime.now(UTC), time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as data,
        served(Path(data)) as server,
        closing(open_store(server.settings)) as store,
    ):
        bound(store, UNBOUND)
        merge(store, hot())
        rows = [look(server, only, bounded=False) for only in (False, True)]
        bound(store, BOUND)
        rows += [look(server, only, bounded=True) for only in (False, True)]
        merge(store, walks())
        queries = saved_queries(server.settings)
        examples = store.stats().transitions
    result = {
        "benchmark": "browser",
        "command": "python -m benchmarks.browser",
        "date": f"{date:%Y-%m-%d %H:%M} UTC",
        "seconds": round(time.perf_counter() - start),
        "machine": machine(),
        "figures": {"pair": PAIR, "rows": rows, "examples": examples, "queries_ms": queries},
    }
    text = json.dumps(result, indent=2)
    (RESULTS / "browser.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
