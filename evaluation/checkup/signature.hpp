// Stands behind the serial code: an error names the type of the entry where it is not the declared
// one. %(entry)s and %(declared)s are put in (signature.py).
#include <stddef.h>
#include <type_traits>
namespace regraph_signature {
template <class T> struct kind { using type = T; };
template <class T> struct kind<const T> : kind<T> {};
template <class T> struct kind<T*> { using type = typename kind<T>::type*; };
template <> struct kind<char> { using type = signed char; };
template <> struct kind<long long> { using type = long; };
template <> struct kind<unsigned long long> { using type = unsigned long; };
template <class A, class B>
constexpr bool alike = std::is_same_v<typename kind<A>::type, typename kind<B>::type>;
template <class R, class... A>  // a template deduces this of functions that are noexcept, too
typename kind<R>::type (*plain(R (*)(A...)))(typename kind<A>::type...);
}
template <bool, class T> struct regraph_same { static constexpr bool right = true; };
template <class T> struct regraph_same<false, T>;  // never defined: an error message names T
static_assert(regraph_same<std::is_same_v<decltype(regraph_signature::plain(&::%(entry)s)),
    decltype(regraph_signature::plain(static_cast<%(declared)s>(nullptr)))>,
    decltype(&::%(entry)s)>::right, "");
