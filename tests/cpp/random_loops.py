"""Small loop nests at random, and what a program that runs one of their loops in parallel does.

A loop is dealt out to three threads, one after the other: each has variables of its own as the
clauses say, and runs every third iteration, in any order. Nothing races, so that a wrong proof of
independence gives another result each time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

PARAMETERS = "long* x, long* y, long* z, const long* k, int n, int m, int hop, long* out"
HELPERS = """
static long seen = 1;
static inline long next() { seen = seen * 3 + 1; return seen; }
static inline void bump(long& v) { v += 3; }
static inline void put(long* at, long v) { at[0] = v; }
static inline long get(const long* at, int i) { return at[i]; }
static inline long* pick(long* a, long* b) { return a < b ? b : a; }
struct Held { long* d; };
"""


def _forms(lines: str) -> list[str]:
    return lines.replace("\n", "|").split("|")


_INDEX = _forms(
    """v|v|v * n + w|v + c|w * n + v|v - c|2 * v|2 * v + 1|n - 1 - v|v * n + w|w * n + v
v * m + w|v + w|v - w|v * hop|n + v|m * n + v|v * v|(v + 1) % n|v % m|v / 2|v & 3|v ^ 1
v >> 1|v << 1|k[v]|k[v] + n * v|(unsigned char)(v * 64)|(int)(v * 0.5)|std::min(v, 3)
std::max(v, m)|(v > 2 ? v : 2)|c|n|m|abs(v - 3)|v * n + w * 2|v * (n - w)|t|t + v
v * n + t|-v + n|(v + m) % m * n + v|v * n + n - w|u|n * m * v + w"""
)
_PLACES = _forms(
    """long* p = y + (I);|long* p = &z[I];|long* p = v > 2 ? y : z;|long* p = pick(y, z);
long* p = y; p += I;|long* p = y; if (v > 1) p = z;|auto p = x; p++;|long* p; p = y + (I);
long* rows[2] = {y, z}; long* p = rows[v % 2];|Held h{y}; long* p = h.d;
long* p = (long*)(y + n);|long& r = y[I]; r += n; long* p = &r;|long* p = std::next(y, v);
long* p = y, *q = z; std::swap(p, q);|long* q = y; y = z; z = q; long* p = q;
auto& q = y; long* p = q + v;
const auto g = [&](int a) { return y + a; }; long* p = g(v);|long* p = y + (I); --p;
long* p = v % 2 ? y + n : y;|long own[8192] = {0}; long* p = own + 4096;"""
)
_STATEMENTS = _forms(
    """A = E;|A += E;|s += E;|A = E;|w1 = E; A = w1 + E;|A = A + E;|A = E - A;|s ^= E;
(v & 1 ? y : z)[I] = E;|pick(y, z)[I] = E;|std::swap(y, z);|{ long* q = y; y = z; z = q; }
(*(v & 1 ? &y : &z))[I] = E;
s = std::max(s, long(E));|if (E > s) s = E;|s = E - s;|s -= E; A = s;|A = s;|++s;
out[s++ & 63] = E;|if (E > 0) A = E;|if (E & 1) continue;|if (E > 100) break;|last = E;
if (E & 1) last = v;|w1 = E; A = w1;|if (E & 1) w1 = E; A = w1;|A = w1; w1 = E;|bump(A);
put(&A, E);|A = get(y, I);|std::swap(A, A);|A = next();|if (E > s) { s = E; last = v; }
buf[v & 7] = E; A = buf[2];|buf[(I) & 7] += E;
for (int q = 0; q < 8; ++q) buf[q] = E; A = buf[3];|if (E & 2) ++v;|A++;
std::fill(y + v, y + v + 2, E);|if (A < E) A = E;|A = std::min(A, long(E));
A = A > E ? A : E;|*p = E;|*p++ = E;|p[I] = E;|p += 2; *p = E;
{ static long kept = 0; A = kept; kept = E; }|{ long w4 = E; A = w4; }|A = B = E;
out[3] = E;|u++; A = E;|t += 2; A = E;|{ int t2 = I; A = E + t2; }
{ unsigned char e = v * 40; y[e] = E; }|out[m & 7] += E;|s = A += E;
do { A += E; ++w1; } while (w1 < v);
switch (v & 3) { case 0: A = E; break; default: s += E; }
{ const int e = (int)(v * 0.3); y[e] = E; }|{ const int e = I; y[e] = E; }
{ int e = I; e += 1; z[e] = E; }|{ int e = I; if (E & 1) e = v; z[e] = E; }
memcpy(y + v, x + v, 16);|{ const auto g = [&](long a) { s += a; }; g(E); }
for (int q = 0; q < 8; ++q) buf[q] = E; for (int q = 1; q < 8; ++q) A += buf[q - 1];
for (int q = 0; q < 7; ++q) buf[q] = E; for (int q = 7; q >= 0; --q) A += buf[q];
for (int q = 7; q > 0; --q) buf[q] = E; A = buf[4]; for (int q = 1; q < 7; ++q) A += buf[q + 1];
buf[0] = E; for (int q = 1; q < 8; ++q) buf[q] = buf[q - 1] + E; A = buf[6];
for (int q = 0; q < 8; ++q) { if (E > 2) continue; buf[q] = E; } A = buf[3];
for (int q = 0; q < 8; q += 2) buf[q] = E; A = buf[2]; s += buf[4];
buf[1] = E; A = buf[1]; for (int q = 0; q < 2; ++q) y[q + v * 2] = buf[q];"""
)
_VALUES = _forms(
    """x[I]|x[I]|w|x[v]|y[I]|z[I]|v|x[I] * 3|y[I] - z[I]|c|k[v]|get(x, v)|t|p[I]|*p|(x[I] >> 1)
(v > 2 ? x : y)[I]|(x[I] > 2 ? x[I] : y[I])|x[I] + v|next()|w1|last|s|buf[v & 7]"""
)
_HEADS = _forms(
    """0;<n;++|0;<n;++|0;<n;++|1;<n;++|1;<n - 1;++|n - 1;>=0;--|n - 1;>0;--|0;<n;+=2|0;<=m;++
3;<n;+=hop|0;!=n;++|V;<n;++|0;<=V;++|0;<V;++|n;>V;--|0;<m;++|V + 1;<n;++|V;<V + 3;++
0;<2;++"""
)


@dataclass
class Nest:
    """A loop, and the statements and loops in its body."""

    variable: str
    head: str  # in brackets
    body: "list[str | Nest]" = field(default_factory=list)


class RandomLoops:
    """One function, drawn at random; `nests` are its loops in the order of the text."""

    def __init__(self, random: Random) -> None:
        self.random, self.nests, self.wild = random, list[Nest](), random.choice((0.1, 0.3, 0.9))
        place = random.choice(_PLACES) if random.random() < 0.4 else "long* p = y;"
        variables = "long s = 0, last = 0, w1 = 5, buf[8] = {0}; int i = 0, j = 0, l = 0, t = 1;"
        self.before = f"{variables} unsigned u = 2; {self._filled(place, ['m'])}"
        self.parts = [self._nest([]) for _ in range(random.choice((1, 1, 2)))]
        read = random.choice(("", "", "s", "s, last", "s, last, w1, t, u, i, j, p - y"))
        self.after = f"long end[] = {{{read}}}; memcpy(out + 70, end, sizeof end);" * bool(read)

    def text(self, dealt: int = -1, clauses: str = "") -> str:
        """The body; with loop `dealt` run as threads would."""
        inside = "".join(self._shown(part, dealt, clauses) for part in self.parts)
        return f"{self.before}\n{inside}{self.after}"

    def _nest(self, around: list[str]) -> Nest:
        draw, variable = self.random.choice, "ijl"[len(around)]
        start, end, step = draw(_HEADS).replace("V", around[-1] if around else "m").split(";")
        step = f"{step}{variable}" if step in ("++", "--") else f"{variable} {step[:2]} {step[2:]}"
        declared = "int " if self.random.random() < 0.8 else ""
        nest = Nest(variable, f"({declared}{variable} = {start}; {variable} {end}; {step})")
        self.nests.append(nest)
        inner = [*around, variable]
        if self.random.random() < 0.35:
            locals_ = "int t = I;", "int t = I; t += 1;", "unsigned u = I;"
            local = self._filled(draw((*_PLACES, *locals_)), inner)
            nest.body.append(re.sub(r"(?<= = )([^;]*)\b[tu]\b", r"\1m", local))
        for _ in range(draw((1, 1, 2, 3))):
            deeper = len(inner) < 3 and self.random.random() < 0.35
            nest.body.append(
                self._nest(inner) if deeper else self._filled(self._one(_STATEMENTS), inner)
            )
        return nest

    def _one(self, forms: list[str]) -> str:
        """One of the forms, rather one of the first five, which are plain."""
        return self.random.choice(forms if self.random.random() < self.wild else forms[:5])

    def _filled(self, form: str, around: list[str]) -> str:
        """A form with values for its capital letters, and for the variables v and w."""
        draw = self.random.choice
        form = re.sub(r"\b[AB]\b", lambda _: f"{self._one(list('yyyyyzx'))}[I]", form)
        form = re.sub(r"\bE\b", lambda _: self._one(_VALUES), form)
        form = re.sub(r"\bI\b", lambda _: self._one(_INDEX), form)
        form = re.sub(r"\bc\b", lambda _: draw("1234"), form)
        return re.sub(r"\b[vw]\b", lambda v: around[-1] if v[0] == "v" else draw(around), form)

    def _shown(self, part: str | Nest, dealt: int, clauses: str) -> str:
        if isinstance(part, str):
            return f"{part}\n"
        # a number is taken before the loops within have theirs
        number = next(k for k, nest in enumerate(self.nests) if nest is part)
        body = "".join(self._shown(inner, dealt, clauses) for inner in part.body)
        if number == dealt:
            return _threads(part, body, clauses)
        return f"for {part.head} {{\n{body}}}\n"


def _threads(nest: Nest, body: str, clauses: str) -> str:
    """A loop as three threads run it."""
    found = [clause.groups() for clause in _CLAUSE.finditer(clauses)]
    kept = {
        name for kind, _, names in found if kind == "lastprivate" for name in _NAME.findall(names)
    }
    own = [line for kind, sign, names in found for line in _own(kind, sign, names, nest.variable)]
    before, begin, lasts, end = map(" ".join, zip(*own, strict=True)) if own else ("",) * 4
    declared = nest.head.startswith("(int") or nest.variable in kept
    spoilt = "" if declared else f"spoil({nest.variable});"
    return f"""{{
    std::vector<int> at; for {nest.head} at.push_back({nest.variable});
    {before} for (long team = 0; team < 3; ++team) {{
    {begin} bool is_last = false;
    for (long which : ordered(team, at.size())) {{
    is_last = which + 1 == (long)at.size(); int {nest.variable} = at[which]; do {{
{body}}} while (false); {lasts} }} {end} }} }} {spoilt}
"""


def _own(kind: str, sign: str, listed: str, counter: str) -> Iterator[tuple[str, str, str, str]]:
    """Of each variable of a clause: text before all, and at begin, last iteration, end of each."""
    first, join = _SIGNS_OF.get(sign or "", ("", ""))
    for name in _NAME.findall(listed):
        plain, _, length = name.rstrip("]").partition("[:")
        outer, own = f"auto& outer_{plain} = {plain};", f"decltype({plain}) {plain}"
        if length:
            own = f"std::vector<long> all_{plain}(4096, {first}); long* {plain} = &all_{plain}[9];"
            joins = join.format(f"outer_{plain}[q]", f"{plain}[q]")
            yield outer, own, "", f"for (long q = 0; q < {length}; ++q) {joins}"
        elif kind == "reduction":
            yield outer, f"{own} = {first};", "", join.format(f"outer_{plain}", plain)
        elif kind == "lastprivate" and plain != counter:  # also firstprivate
            before = f"{outer} const auto first_{plain} = {plain};"
            yield before, f"{own} = first_{plain};", f"if (is_last) outer_{plain} = {plain};", ""
        elif kind == "firstprivate" and plain == "buf":
            yield outer, f"long {plain}[8]; memcpy({plain}, outer_{plain}, sizeof {plain});", "", ""
        elif kind == "private":
            yield "", f"{own}; spoil({plain});", "", ""


_NAME = re.compile(r"\w+(?:\[[^]]*\])?")
_CLAUSE = re.compile(r"(\w+)\((?:([^\s:()]+):)?((?:[^()]|\([^()]*\))*)\)")
_SIGNS_OF = {
    "+": ("0", "{0} += {1};"),
    "*": ("1", "{0} *= {1};"),
    "^": ("0", "{0} ^= {1};"),
    "|": ("0", "{0} |= {1};"),
    "&": ("-1", "{0} &= {1};"),
    "max": ("LONG_MIN", "{0} = std::max({0}, {1});"),
    "min": ("LONG_MAX", "{0} = std::min({0}, {1});"),
}
PROGRAM = (
    """
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
static unsigned drawn = 7;
static long junk[4096];
static void spoil(long& own) { own = 77777; }
static void spoil(int& own) { own = 777; }
static void spoil(unsigned& own) { own = 777; }
static void spoil(long*& own) { own = junk + 2048; }
template <int n> void spoil(long (&own)[n]) { for (long& one : own) one = 77777; }
static std::vector<long> ordered(long team, long all) {
    std::vector<long> mine;
    for (; team < all; team += 3) mine.push_back(team);
    for (size_t q = mine.size(); q > 1; --q) {
        drawn = drawn * 1664525u + 1013904223u;
        std::swap(mine[q - 1], mine[(drawn >> 8) % q]);
    }
    return mine;
}
"""
    + HELPERS
)
MAIN = """
using Run = void (*)(%s);
static std::vector<long> after(Run run, int n, int m) {
    std::vector<long> all(4 * 8192);
    long k[64];
    for (size_t q = 0; q < all.size(); ++q) all[q] = (long)(q * 7919 %% 101) - 20;
    for (int q = 0; q < 64; ++q) k[q] = (q * 5 + 2) %% 9;
    seen = 1;
    run(&all[4096], &all[8192 + 4096], &all[16384 + 4096], k, n, m, 3, &all[24576 + 4096]);
    return all;
}
/* 0: both give the same; 1: they differ; by a signal: one of them does not end well */
static int differ(Run serial, Run dealt) {
    const pid_t child = fork();
    if (!child) {
        alarm(1);
        for (int n : {13, 6, 9}) {
            auto wanted = after(serial, n, n / 2 + 1);
            if (wanted != after(dealt, n, n / 2 + 1)) _exit(1);
        }
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}
int main() {
    const Run runs[][2] = {%s};
    for (auto& pair : runs)
        if (!differ(pair[0], pair[0]) && differ(pair[0], pair[1]))
            std::printf("%%td ", &pair - runs);
}
"""
