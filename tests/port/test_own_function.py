"""Of a file that `problem new` made a model gets the user's function alone."""

from regraph_kg.cpp.tokens import normalized
from regraph_kg.port.own_function import own_function
from tests.port.test_port import HEAD, problem

VIEWED = """#include <vector>
#include <cmath>

// A std::vector's place, over memory of somebody else.
template <class T>
class View {
public:
    View(T* data, std::size_t size);
    T* begin() const;
    T* end() const;
};

struct Scale { float by; };

// What it weighs.
static float weight(float x) { return 2 * std::sqrt(x); }

float weighed(View<const float> x) {
    float sum = 0;
    for (float one : x) sum += weight(one);
    return sum;
}

extern "C" float f(const float* x, float* y, int n) {
    const auto returned = weighed(View<const float>(x, n));
    return returned;
}
"""


def test_a_model_gets_the_function_and_what_it_calls_without_the_wrapper() -> None:
    own = own_function(problem(VIEWED))
    assert own is not None
    assert own.start.startswith("struct Scale")
    assert "class View" not in own.start
    assert own.function == "weighed"
    assert own.signature == "float weighed(View<const float> x)"
    assert normalized(own.whole(own.start)) == normalized(VIEWED)


def test_an_answer_takes_the_functions_place() -> None:
    own = own_function(problem(VIEWED))
    assert own is not None
    whole = own.whole("float weighed(View<const float> x) { return x[0]; }")
    assert whole.index("#include <cmath>") < whole.index("return x[0]") < whole.index('extern "C"')
    assert own.part(whole).strip().endswith("return x[0]; }")


def test_an_entry_that_does_the_work_itself_is_the_model_s() -> None:
    assert own_function(problem(f"{HEAD} {{ for (int i = 0; i < n; ++i) y[i] = x[i]; }}")) is None
    assert own_function(problem("no code at all")) is None


def test_a_cast_result_and_bytes_as_numbers_are_passed_on() -> None:
    passed = "View<const float>(reinterpret_cast<const float*>(x), n)"
    cast = f"static_cast<float>(weighed({passed}))"
    own = own_function(problem(VIEWED.replace("weighed(View<const float>(x, n))", cast)))
    assert own is not None
    assert own.function == "weighed"
