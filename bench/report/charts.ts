// The plots of the report, in their order.
import type { Results } from '#dist/capacity/measure/results.js';
import type { Chart, PeerStep } from './chart.js';
import { ladderChart, memoryChart, scalingChart } from './machine-charts.js';
import { latencyChart, sizesChart, throughputChart } from './service-charts.js';

export function chartsOf(results: Results, peers: readonly PeerStep[]): Chart[] {
  return [
    throughputChart(results),
    latencyChart(results),
    scalingChart(results),
    sizesChart(results),
    ladderChart(results, peers),
    ...(results.memory === null ? [] : [memoryChart(results.memory)]),
  ];
}
