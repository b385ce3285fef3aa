// A whole plan: demand, machines, limits in their order, what-ifs, and how far each figure may be off.
import type { Interval } from '../compare/bootstrap.js';
import type { Results } from '../measure/results.js';
import { Costs } from './cost.js';
import { type Demand, demandOf, type Fleet } from './fleet.js';
import {
  kernelNsPerPoint,
  type Limit,
  limitsOf,
  type MachineSize,
  memoryBytesOf,
  networkBitsPerS,
} from './limits.js';
import { scalingOf } from './scaling.js';
import { loadOf, type Requirements, type Sizing, sizeFor } from './sizing.js';

export interface PlanRequest extends Requirements {
  readonly fleet: Fleet;
  /** Machines that may fail at the peak. */
  readonly survive: number;
  readonly memoryBytesPerMachine: number;
  readonly linkBitsPerS: number;
  /** Of one core for one hour, in any currency; undefined: unknown. */
  readonly pricePerCoreHour: number | undefined;
}

/** An answer with its uncertainty: between a plan with every figure at its better quartile and one at its worse. */
export interface Answer {
  readonly machines: Interval;
  readonly carrying: number;
  readonly processesPerMachine: number;
  readonly p50Us: Interval;
  readonly p99Us: Interval;
  readonly busyShare: Interval;
  readonly holdsTarget: boolean;
}

export interface WhatIf {
  readonly name: string;
  readonly answer: Answer;
  readonly firstLimit: Limit;
}

export interface Plan {
  readonly request: PlanRequest;
  readonly demand: Demand;
  readonly answer: Answer;
  readonly sizing: Sizing;
  /** Shares of a core at the peak, of all machines together. */
  readonly coresOfMessages: number;
  readonly coresOfPoints: number;
  readonly limits: readonly Limit[];
  readonly whatIfs: readonly WhatIf[];
  readonly memoryBytesPerMachine: number | null;
  readonly networkBitsPerS: number;
  readonly pricePerBillionPoints: number | null;
  readonly scalingRemark: string;
  readonly results: Pick<
    Results,
    'date' | 'machine' | 'version' | 'commit' | 'isQuick' | 'isQuietEnough' | 'node'
  >;
}

export function planFor(request: PlanRequest, results: Results): Plan {
  const demand = demandOf(request.fleet);
  const costs = new Costs(results);
  const planned = size(demand, request, results, costs);
  const { sizing, answer } = planned;
  const size0 = { memoryBytes: request.memoryBytesPerMachine, linkBitsPerS: request.linkBitsPerS };
  const { date, machine, version, commit, isQuick, isQuietEnough, node } = results;
  const processes = sizing.machines * sizing.processesPerMachine;
  const kernelNs = kernelNsPerPoint(results) ?? 0;
  const total = answer.carrying + request.survive;
  return {
    ...{ request, demand, answer, sizing },
    coresOfMessages: sizing.busyShare * processes,
    coresOfPoints: (demand.peakPointsPerS * kernelNs) / 1e9,
    limits: limitsOf(demand, sizing, results, size0),
    whatIfs: whatIfs(request, results, costs, size0),
    memoryBytesPerMachine: memoryBytesOf(demand, sizing, results),
    networkBitsPerS: networkBitsPerS(demand, results),
    pricePerBillionPoints:
      request.pricePerCoreHour === undefined
        ? null
        : (request.pricePerCoreHour * total * request.coresPerMachine * 1e9) / (3600 * demand.meanPointsPerS),
    scalingRemark: scalingOf(results.speedUps).remark,
    results: { date, machine, version, commit, isQuick, isQuietEnough, node },
  };
}

/** One demand, with costs in the middle and at the quartiles of what was measured. */
function size(
  demand: Demand,
  request: PlanRequest,
  results: Results,
  costs: Costs,
): { sizing: Sizing; answer: Answer } {
  const scaling = scalingOf(results.speedUps);
  const { median, low, high } = costs.way(demand.peak[0]!.kind).costBacklogUs!;
  const machine = { memoryBytes: request.memoryBytesPerMachine, linkBitsPerS: request.linkBitsPerS };
  const sizing = enlarged(sizeFor(demand, costs, scaling, request), demand, results, machine);
  const best = sizeFor(demand, costs.scaled(low / median), scaling, request, 'high');
  const worst = sizeFor(demand, costs.scaled(high / median), scaling, request);
  const around = (of: (sizing: Sizing) => number): Interval => {
    const values = [best, sizing, worst].map(of);
    return { low: Math.min(...values), high: Math.max(...values) };
  };
  const measuredUs = measuredP99Us(costs, demand, sizing);
  const p99Us = around(({ tail }) => tail.p99Us);
  return {
    sizing,
    answer: {
      machines: around(({ machines }) => machines + request.survive),
      carrying: sizing.machines,
      processesPerMachine: sizing.processesPerMachine,
      p50Us: around(({ tail }) => tail.p50Us),
      p99Us: { low: p99Us.low, high: Math.max(p99Us.high, measuredUs) },
      busyShare: around(({ busyShare }) => busyShare),
      holdsTarget: sizing.holdsTarget,
    },
  };
}

/** Memory and network may ask for more machines than CPU does; they are then less busy than the rest of the plan says. */
function enlarged(sizing: Sizing, demand: Demand, results: Results, machine: MachineSize): Sizing {
  const [least] = limitsOf(demand, sizing, results, machine).filter(
    ({ setting, name }) => setting === undefined && !name.startsWith('CPU'),
  );
  if (least === undefined || least.times >= 1 || least.times === 0) return sizing;
  return { ...sizing, machines: Math.ceil(sizing.machines / least.times) };
}

/** The p99 that the bench saw at the lowest rate at which a process is at least as busy as planned: with the noise of that machine. */
function measuredP99Us(costs: Costs, demand: Demand, { busyShare }: Sizing): number {
  const way = costs.way(demand.peak[0]!.kind);
  const busier = way.curve.filter(
    ({ ratePerS, costUs }) => costUs !== null && (ratePerS * costUs) / 1e6 >= busyShare,
  );
  return busier.length === 0 ? 0 : Math.min(...busier.map(({ p99Us }) => p99Us));
}

function whatIfs(request: PlanRequest, results: Results, costs: Costs, machine: MachineSize): WhatIf[] {
  const { fleet } = request;
  const changed = (name: string, change: Partial<Fleet>): WhatIf => {
    const demand = demandOf({ ...fleet, ...change });
    const { answer, sizing } = size(demand, request, results, costs);
    return { name, answer, firstLimit: limitsOf(demand, sizing, results, machine)[0]! };
  };
  const all = [
    changed('twice the fleet', { vehicles: 2 * fleet.vehicles }),
    changed('half the interval', { intervalMs: fleet.intervalMs / 2 }),
  ];
  if (fleet.profile !== 'stream')
    all.push(changed('binary frames on the stream instead', { profile: 'stream' }));
  if (fleet.profile !== 'single')
    all.push(changed('every report as an HTTP request instead', { profile: 'single', flush: undefined }));
  if (fleet.flush === undefined)
    all.push(
      changed(`collected for 1 s by ${fleet.gateways} gateways`, {
        profile: 'stream',
        flush: { everyMs: 1000 },
      }),
    );
  if (fleet.togetherShare === 0 && fleet.flush === undefined)
    all.push(changed('a fifth of the vehicles report in the same moment', { togetherShare: 0.2 }));
  return all;
}

/** One machine fewer than those that carry the peak, without another in its place. */
export function busyWithOneLess({ demand, sizing, request }: Plan, results: Results): number | null {
  if (sizing.machines + request.survive < 2) return null;
  const processes = (sizing.machines + request.survive - 1) * sizing.processesPerMachine;
  const stretch = sizing.processesPerMachine / sizing.speedUp.low;
  const streams = loadOf(demand.peak, new Costs(results), processes, stretch);
  return streams.reduce((sum, { messagesPerS, costUs }) => sum + (messagesPerS * costUs) / 1e6, 0);
}
