// A worker of the bench as a process of its own, with the kernel or with a constant in its place. It connects, waits
// for the word, answers as many messages as it is told, and reports the time from the first answer to the last and its
// CPU time.

import { MessageConverter } from '#dist/bus/messages/message-converter.js';
import { DEFAULT_RULES } from '#dist/bus/messages/message-shape.js';
import { openBus } from '#dist/bus/open-bus.js';
import { SubjectMap } from '#dist/bus/subjects.js';
import { Worker } from '#dist/bus/worker.js';
import { workerKernel } from '#dist/files/library.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { Pool } from '#dist/pool/pool.js';

/** `pool`: the kernel of one thread of a pool, as with --threads 1. */
export type Subject = 'kernel' | 'pool' | 'control';

export interface Measured {
  readonly ms: number;
  readonly cpuMs: number;
}

const HEADER_BYTES = 16;
const POINT_BYTES = 16;
const RECORD_BYTES = 20;

const [url = '', subject = '', wanted = ''] = process.argv.slice(2);
const names = [
  'natsUser',
  'natsPassword',
  'natsToken',
  'natsNkey',
  'natsCreds',
  'natsTlsCa',
  'natsTlsCert',
  'natsTlsKey',
];
const none = Object.fromEntries(names.map((name) => [name, undefined]));
const settings = { ...none, natsUrl: [url] } as unknown as Parameters<typeof openBus>[0];
const bus = await openBus(settings, { isPatient: true, say: console.error });
const pool =
  subject === 'pool' ? new Pool({ kernel: await workerKernel(), threads: 1, maxQueued: 256 }) : undefined;
const converter = new MessageConverter((await Hexcodes.load()).kernel, DEFAULT_RULES, pool);
if (subject === 'control')
  // As much memory is taken and as many bytes leave, and no point is looked at.
  converter.convert = async (bytes) => {
    const points = (bytes.length - HEADER_BYTES) / POINT_BYTES;
    return { bytes: new Uint8Array(HEADER_BYTES + points * RECORD_BYTES), points, failed: 0 };
  };
const shared = {
  maps: [new SubjectMap('hexcodes.in.>=hexcodes.out.>')],
  deadPrefix: 'hexcodes.dead',
  mostHeldBytes: 64 * 1024 * 1024,
};
const { engine } = await bus.work({
  ...shared,
  ...{ names: { input: 'HEXCODES_IN', output: 'HEXCODES_OUT', dead: 'HEXCODES_DEAD', consumer: 'hexcodes' } },
  ...{ mostMessages: 32, isOrdered: false, monitor: undefined, instance: undefined },
});
const worker = new Worker(engine, converter, {
  ...{ ...shared, rules: DEFAULT_RULES },
  ...{ tries: 3, keepEveryMs: 1000, say: console.error },
});
process.once('message', async () => {
  const running = worker.run();
  while (worker.figures.messages === 0) await new Promise(setImmediate);
  const before = { ms: performance.now(), cpu: process.cpuUsage(), messages: worker.figures.messages };
  while (worker.figures.messages < Number(wanted)) await new Promise((resolve) => setTimeout(resolve, 1));
  const { user, system } = process.cpuUsage(before.cpu);
  const share = Number(wanted) / (Number(wanted) - before.messages);
  const measured: Measured = {
    ms: (performance.now() - before.ms) * share,
    cpuMs: ((user + system) / 1000) * share,
  };
  process.send!(measured);
  worker.stop(0);
  await running;
  await bus.close();
  process.exit(0);
});
process.send!('ready');
