// problem: tests/adversarial/problem/histogram-device
// style: thrust: sorted copy, upper bounds of 0 to 255, differences of neighbours (slow)
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/sort.h>

extern "C" void histogram(const int *x, int *counts, int n) {
  const thrust::device_ptr<const int> keys(x);
  thrust::device_vector<int> sorted(keys, keys + n);
  thrust::sort(sorted.begin(), sorted.end());
  thrust::device_vector<int> upto(256);
  const thrust::counting_iterator<int> bin(0);
  thrust::upper_bound(sorted.begin(), sorted.end(), bin, bin + 256, upto.begin());
  thrust::adjacent_difference(upto.begin(), upto.end(), thrust::device_ptr<int>(counts));
}
