// 01 Parameters
// Put in your own values and run, before the queries below.
//   device              a GPU, or a CPU with its threads: as `regraph techniques show` names them
//   target              cuda or openmp
//   source, technique   ids of techniques: where a step starts, and what it does
//   example             id of an example, from the last column of query 05
:params {
  device: 'NVIDIA H200',
  target: 'cuda',
  source: 'cuda/start',
  technique: 'cuda/thread-per-element',
  example: ''
}
