"""Two spellings of one program have one normal form; two programs never have."""

import random
import time

import pytest

from regraph_kg.cpp.tokens import normalized

SAME = {
    "indentation": ("if (a) {\n\tb();\n}", "if (a)\n{\n    b();\n}\n"),
    "blanks around operators": ("a=b+c;", "a = b + c ;"),
    "line comments": ("int a; // one", "int a; // two\n"),
    "block comments": ("int /* of\n things */ a;", "int a;"),
    "a comment that ends no directive": (
        "#pragma omp /* x\n y */ for\nfor (;;) {}",
        "#pragma omp for\nfor (;;) {}",
    ),
    "empty lines": ("int a;\n\n\n#include <x>\n\nint b;", "int a;\n#include <x>\nint b;"),
    "line ends": ("int a;\r\nint b;\r\n", "int a;\nint b;\n"),
    "indented directives": ("  #  pragma   unroll  4\nf();", "#pragma unroll 4\nf();"),
    "comments before directives": ("int a;\n/* x\n y */ #if B\n", "int a;\n#if B"),
    "directives spelled otherwise": ("f();\n%: pragma unroll", "f();\n%:pragma unroll"),
    "blanks at the end": ("int a; /* x */ \n\n  ", "int a;"),
    "continued lines": ("#pragma omp parallel \\\n  for", "#pragma omp parallel for"),
    "continued comments": ("int a; // x \\\nint b;\nint c;", "int a;\nint c;"),
    "blanks at the end of a macro": ("#define N 4   // four\n", "#define  N  4\n"),
}

OTHER = {
    "operators": ("a - -b", "a--b"),
    "the order of operators": ("a+ ++b", "a++ +b"),
    "shifts and templates": ("a > > b", "a >> b"),
    "launches": ("f << < 1 > > > (x)", "f<<<1>>>(x)"),
    "names": ("intx;", "int x;"),
    "numbers": ("1.5", "1 .5"),
    "digit separators": ("1'000 + 2", "1 '000 + 2'"),
    "the values of digits": ("x = 1'000;", "x = 1'001;"),
    "blanks in strings": ('f("a  b");', 'f("a b");'),
    "comment marks in strings": ('f("a // b");', 'f("a ");'),
    "what a string hides": ('f("/*"); g(); f("*/");', 'f("/*"); h(); f("*/");'),
    "escaped quotes": (r'f("\" // a");', r'f("\" // b");'),
    "characters": ("f('\"'); // \"", "f('\\''); // \""),
    "blanks as characters": ("f(' ');", "f('  ');"),
    "prefixes of strings": ('f(L"a");', 'f(L "a");'),
    "suffixes of strings": ('"a"_x', '"a" _x'),
    "raw strings": ('R"(a // b\n c)"', 'R"(a \n c)"'),
    "fences of raw strings": ('R"x()" // a)x"', 'R"x()" // b)x"'),
    "ends of directives": ("#pragma unroll\nf();", "#pragma unroll f();"),
    "places of directives": ("f();\n#pragma unroll\ng();", "f();\ng();\n#pragma unroll"),
    "marks that begin no directive": ("f();\n#a", "f();\n##a"),
    "comments after which no directive begins": ("f(); /*\n*/ #a", "f();\n#a"),
    "quotes after numbers": ("1+'a'", "1'a'"),
    "arguments of macros": ("#define f(x) x", "#define f (x) x"),
    "macros that quote": ("#define S(a) #a\nS(a+b)", "#define S(a) #a\nS(a + b)"),
    "continued raw strings": ('R"(a\\\nb)"', 'R"(ab)"'),
    "line numbers": ("f();\n\ng(__LINE__);", "f();\ng(__LINE__);"),
    "commented code": ("// int a;\nint b;", "// int a; int b;"),
    "pragmas": ("#pragma omp for\n", "#pragma omp simd\n"),
    "included files": ("#include <a.h>\n", "#include <b.h>\n"),
}

TOKENS = [
    *("a", "x1", "int", "1", "0x1p+3", "1'000", ".5f", "'a'", "'\\''", '"b  /* c */"', 'R"(d)"'),
    *("+", "++", "-", "--", "->", "->*", "/", "*", "&", "&&", "|", "^=", "%", "~"),
    *(">", ">>", ">>=", ">=", "<", "<<<", ">>>", "<=>", "=", "=="),
    *(".", "...", "::", ":", "?", "(", ")", "[", "]", "{"),
]
BLANKS = [" ", "\n", "\t ", " /* x */", " // x\n", "\n\n  "]


@pytest.mark.parametrize("case", SAME)
def test_spellings_of_one_program_are_equal(case: str) -> None:
    one, two = SAME[case]
    assert normalized(one) == normalized(two)


@pytest.mark.parametrize("case", OTHER)
def test_programs_that_differ_in_a_token_are_not(case: str) -> None:
    one, two = OTHER[case]
    assert normalized(one) != normalized(two)


@pytest.mark.parametrize("seed", range(50))
def test_however_tokens_are_spaced_they_come_back_as_they_are(seed: int) -> None:
    rng = random.Random(seed)
    tokens = rng.choices(TOKENS, k=40)
    spaced = "".join(rng.choice(BLANKS) + token for token in tokens)
    assert normalized(spaced) == " ".join(tokens)


@pytest.mark.parametrize(
    "code", ["", "\n", '"', "'", "/*", 'R"(', "\\", "#", "#define", "\x00", "é"]
)
def test_any_text_has_a_normal_form(code: str) -> None:
    assert isinstance(normalized(code), str)


@pytest.mark.parametrize(
    "part",
    [
        *('R"(', "/*", '\\"', "'", 'R"', "#define f ", "\\\n", "'\"", "\n", " ", "\n/**/", "\n#"),
        *("1'", "1.", "a/", "\n#define S(a) #a"),
    ],
)
def test_hostile_text_takes_no_longer_than_its_length(part: str) -> None:
    begin = time.process_time()
    normalized(part * (60_000 // len(part)))
    assert time.process_time() - begin < 5  # seconds; quadratic time would be minutes
