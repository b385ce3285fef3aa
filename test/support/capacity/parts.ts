// Parts of src/capacity that its tests, and proofs of its figures, measure and reckon with: no other file of test/
// names its modules.
export { Gauge, QuietGuard, ratesOf } from '#dist/capacity/measure/gauge.js';
export { PROFILES, type Profile, searchKnee, wasSentOnTime } from '#dist/capacity/measure/knee-search.js';
export {
  type RatePoint,
  type Results,
  samplesOf,
  type WayResult,
  withoutImpossible,
} from '#dist/capacity/measure/results.js';
export { areQuiet, cpuMicrosOf, familyOf, memoryOf } from '#dist/capacity/processes/machine.js';
export {
  CoreSpeed,
  GeneratorProcess,
  measuringCore,
  ServiceProcess,
} from '#dist/capacity/processes/pinned-process.js';
export { Traffic } from '#dist/capacity/traffic/traffic.js';
