// `npm run bench -- streams [--streams 10000] [--points 64] [--share 0.7] [--seconds 20]`: many open streams on one
// core. Each sends a frame at even intervals, all together as many as take this share of the service's core; latencies
// count from the moment a frame was due. The service is bound to one core, this process, the load, to another.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { clientFrame, encodeFrame, handshake } from '../test/support/raw-stream.js';
import { bindLoad, ServerProcess, uwsVersion } from './server-process.js';
import { BENCH_KEY } from './service.js';
import { BenchTable, head, quantile } from './table.js';
import type { ServiceState } from './watched-service.js';

const PROGRAM = new URL('./watched-service.js', import.meta.url);
/** Handshakes at a time. */
const OPENING = 100;
/** A step of which less is answered in time was too much. */
const BEHIND = 0.95;

/** One stream: its frames have their answers in their order. */
class Stream {
  /** When the frames that are not answered were due. */
  readonly #dueMs: number[] = [];
  #received = 0;

  constructor(
    private readonly socket: Socket,
    private readonly answerBytes: number,
    private readonly answered: (ms: number) => void,
  ) {
    socket.on('data', (bytes: Buffer) => {
      this.#received += bytes.length;
      while (this.#received >= this.answerBytes) {
        this.#received -= this.answerBytes;
        this.answered(performance.now() - this.#dueMs.shift()!);
      }
    });
    socket.on('close', () => {
      throw new Error('the service has closed a stream');
    });
  }

  send(frame: Buffer, dueMs: number): void {
    this.#dueMs.push(dueMs);
    this.socket.write(frame);
  }

  end(): void {
    this.socket.removeAllListeners('close');
    this.socket.destroy();
  }
}

/** Resolves when the service has said that it is ready. */
function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    socket.once('error', reject);
    let text = '';
    const take = (bytes: Buffer): void => {
      text += bytes.toString('latin1');
      if (!text.startsWith('HTTP/1.1 101'.slice(0, text.length))) reject(new Error(`refused: ${text}`));
      if (!text.includes('"ready"') || !text.endsWith('}')) return;
      socket.off('data', take);
      resolve(socket);
    };
    socket.on('data', take);
    socket.write(handshake(BENCH_KEY, ['Sec-WebSocket-Protocol: hexcodes.v1.binary']));
  });
}

interface Run {
  readonly wantedPerSecond: number;
  /** Answers in the time in which frames were sent. */
  readonly answeredPerSecond: number;
  readonly share: number;
  readonly loadShare: number;
  readonly sentMicros: number;
  readonly latenciesMs: readonly number[];
}

export default async function benchStreams(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      streams: { type: 'string', default: '10000' },
      points: { type: 'string', default: '64' },
      share: { type: 'string', default: '0.7' },
      seconds: { type: 'string', default: '20' },
    },
  });
  const [count, points, seconds] = [values.streams, values.points, values.seconds].map(Number) as [
    number,
    number,
    number,
  ];
  const headOfRun = head([], await uwsVersion());
  const server = await ServerProcess.start(PROGRAM, JSON.stringify({}));
  bindLoad();
  const state = async (): Promise<ServiceState> => (await server.ask('state')) as ServiceState;
  const pairsDeg = Float64Array.from({ length: 2 * points }, (_, i) =>
    i % 2 === 0 ? 10.5 + i / 1000 : 106.5 + i / 1000,
  );
  const frame = clientFrame(encodeFrame(1, pairsDeg));
  const payloadBytes = 16 + 20 * points;
  let latenciesMs: number[] = [];
  const answered = (ms: number): void => void latenciesMs.push(ms);
  const answerBytes = payloadBytes + (payloadBytes < 126 ? 2 : payloadBytes < 65_536 ? 4 : 10);

  const before = await state();
  const streams: Stream[] = [];
  while (streams.length < count) {
    const sockets = Array.from({ length: Math.min(OPENING, count - streams.length) }, () =>
      open(server.port),
    );
    for (const socket of await Promise.all(sockets)) streams.push(new Stream(socket, answerBytes, answered));
  }
  await sleep(1000);
  const idle = await state();

  const run = async (perSecond: number, runMs: number): Promise<Run> => {
    latenciesMs = [];
    const cpuBefore = (await state()).cpuMicros;
    const ownBefore = process.cpuUsage();
    const startMs = performance.now();
    let sent = 0;
    for (;;) {
      const nowMs = performance.now() - startMs;
      if (nowMs >= runMs) break;
      for (const due = (nowMs * perSecond) / 1000; sent < due; sent++)
        streams[sent % count]!.send(frame, startMs + (sent * 1000) / perSecond);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    // Later answers are of frames for which the rate has left no time.
    const answeredPerSecond = (1000 * latenciesMs.length) / (performance.now() - startMs);
    while (latenciesMs.length < sent) await sleep(1);
    const tookMicros = (performance.now() - startMs) * 1000;
    const { user, system } = process.cpuUsage(ownBefore);
    const cpuMicros = (await state()).cpuMicros - cpuBefore;
    return {
      wantedPerSecond: perSecond,
      answeredPerSecond,
      share: cpuMicros / tookMicros,
      loadShare: (user + system) / tookMicros,
      sentMicros: cpuMicros / sent,
      latenciesMs: [...latenciesMs].sort((a, b) => a - b),
    };
  };
  const titles = ['', 'frames/s wanted', 'answered', 'of a core', 'load, of a core', 'CPU of a frame, µs'];
  const notes = `${count} streams, frames of ${points} points; memory of the service alone, after a collection.`;
  const table = new BenchTable('streams', headOfRun, [...titles, 'ms: median, p90, p99, p99.9'], notes);
  const print = (name: string, measured: Run): Run => {
    const { wantedPerSecond, answeredPerSecond, share, loadShare, sentMicros, latenciesMs: ms } = measured;
    const rates = [wantedPerSecond.toFixed(0), answeredPerSecond.toFixed(0)];
    const shares = [share.toFixed(2), loadShare.toFixed(2), sentMicros.toFixed(1)];
    const latencies = [0.5, 0.9, 0.99, 0.999].map((at) => quantile(ms, at).toFixed(2)).join(', ');
    const { latenciesMs: _all, ...figures } = measured;
    table.row([name, ...rates, ...shares, latencies], { name, ...figures });
    return measured;
  };
  // The cost of a frame depends on how many come at a time, so the rate is found in steps: by the CPU of a frame, and
  // never beyond what was answered where a step was not answered in time.
  let perSecond = 5000;
  const wanted = Number(values.share);
  for (let step = 1; step <= 4; step++) {
    const { answeredPerSecond, sentMicros } = print(`step ${step}`, await run(perSecond, 2000));
    const byCpu = (wanted * 1e6) / sentMicros;
    const isBehind = answeredPerSecond < BEHIND * perSecond;
    perSecond = Math.min(byCpu, isBehind ? answeredPerSecond : 2.5 * perSecond);
  }
  print(`${seconds} s`, await run(perSecond, seconds * 1000));
  const after = await state();
  const each = (bytes: number): number => Math.round((bytes - before.memoryBytes) / count);
  for (const stream of streams) stream.end();
  server.end();
  const memory = { open: each(idle.memoryBytes), after: each(after.memoryBytes) };
  console.log(`\nBytes of an open stream: ${memory.open}, after the run ${memory.after}.`);
  table.end({ count, points, memory });
}
