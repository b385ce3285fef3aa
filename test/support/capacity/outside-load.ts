// Load by programs of another make, which share no line with the generator: vegeta for HTTP and k6 for the stream. Both
// send at a rate of their own. `go install github.com/tsenart/vegeta/v12@latest go.k6.io/k6@latest` builds them.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cpuMicrosOf, measuringCore } from './parts.js';

type WayKind = 'single' | 'batch' | 'csv' | 'stream';

/** Requests and answers of a kind, as the generator has them. */
interface Traffic {
  exchangesOf(kind: WayKind, points: number, base: URL, key: string): readonly { readonly request: Buffer }[];
}

/** A service under load. */
interface Subject {
  readonly base: string;
  readonly key: string;
  readonly pids: readonly number[];
}

const run = promisify(execFile);
/** Bytes of a client's head of a WebSocket message below 126 bytes, its mask included. */
const SHORT_HEAD_BYTES = 6;
const FRAME_POINTS = 1;
const MAX_CONNECTIONS = 512;
/** k6 compiles its script and opens its connections before the measured time. */
const K6_START_MS = 4000;
/** Vegeta opens its connections, and sends for a while, before and after the measured time. */
const VEGETA_START_MS = 700;
const VEGETA_END_MS = 300;
/** As many WebSockets as those of the curve, whose state is as cold then; each of k6's users has several. */
const VEHICLES = 512;
const PER_USER = 128;

export interface OutsideRun {
  /** As sent or answered with success. */
  readonly ratePerS: number;
  /** CPU time of the subject for one, in microseconds. */
  readonly costUs: number;
  /** Turns of the subject's event loop a second that it slept before. */
  readonly turnsPerS: number;
}

export class OutsideLoad {
  /** @param folder for targets, bodies and reports */
  constructor(
    private readonly folder: string,
    private readonly traffic: Traffic,
    private readonly programs: { readonly vegeta: string; readonly k6: string },
  ) {}

  /** Requests of one kind at a constant rate. @throws Error where one was not answered with 200 */
  async http(
    subject: Subject,
    kind: WayKind,
    points: number,
    ratePerS: number,
    ms: number,
  ): Promise<OutsideRun> {
    const targets = this.#targets(subject, kind, points);
    const output = join(this.folder, 'vegeta.bin');
    const allMs = VEGETA_START_MS + ms + VEGETA_END_MS;
    const args = [
      ...['attack', `-targets=${targets}`, `-rate=${Math.round(ratePerS * 1000)}/1000s`],
      ...[`-duration=${allMs}ms`, `-output=${output}`, `-max-connections=${MAX_CONNECTIONS}`, '-timeout=10s'],
    ];
    const done = this.#pinned(this.programs.vegeta, args);
    await sleep(VEGETA_START_MS);
    const spent = await spentIn(subject, ms);
    await done;
    const { stdout } = await run(this.programs.vegeta, ['report', '-type=json', output]);
    const report = JSON.parse(stdout) as {
      readonly requests: number;
      readonly duration: number;
      readonly status_codes: Readonly<Record<string, number>>;
    };
    const { requests, duration, status_codes: codes } = report;
    if (codes['200'] !== requests) throw new Error(`vegeta: ${JSON.stringify(codes)} of ${requests}`);
    const seenPerS = (1e9 * requests) / duration;
    return { ratePerS: seenPerS, costUs: spent.cpuUsPerS / seenPerS, turnsPerS: spent.turnsPerS };
  }

  /** Vehicles that each send one frame in the same interval, evenly spread over it. */
  async stream(subject: Subject, ratePerS: number, ms: number): Promise<OutsideRun> {
    const script = join(this.folder, 'k6.js');
    const startMs = Date.now() + K6_START_MS;
    const [frames, summary] = [join(this.folder, 'frames.bin'), join(this.folder, 'k6.json')];
    const requests = this.traffic
      .exchangesOf('stream', FRAME_POINTS, new URL(subject.base), subject.key)
      .map(({ request }) => request.subarray(SHORT_HEAD_BYTES));
    writeFileSync(frames, Buffer.concat(requests));
    writeFileSync(
      script,
      k6Script({
        ...{
          url: `${subject.base.replace('http', 'ws')}/v1/hexcodes/stream`,
          key: subject.key,
          frames,
          summary,
        },
        ...{
          frameBytes: requests[0]!.length,
          intervalMs: (1000 * VEHICLES) / ratePerS,
          startMs,
          ms,
        },
      }),
    );
    const done = this.#pinned(this.programs.k6, ['run', '--quiet', '--no-usage-report', script]);
    await sleep(startMs - Date.now());
    const spent = await spentIn(subject, ms);
    await done;
    const { answered } = JSON.parse(readFileSync(summary, 'utf8')) as { readonly answered: number };
    const seenPerS = (1000 * answered) / ms;
    return { ratePerS: seenPerS, costUs: spent.cpuUsPerS / seenPerS, turnsPerS: spent.turnsPerS };
  }

  #targets({ base, key }: Subject, kind: WayKind, points: number): string {
    const bodies = join(this.folder, `${kind}-${points}`);
    mkdirSync(bodies, { recursive: true });
    const lines = this.traffic.exchangesOf(kind, points, new URL(base), key).map(({ request }, at) => {
      const headEnd = request.indexOf('\r\n\r\n');
      const [first, ...headers] = request.toString('latin1', 0, headEnd).split('\r\n');
      const [method, path] = first!.split(' ');
      const kept = headers.filter((header) => !/^(host|content-length):/i.test(header));
      const body = request.subarray(headEnd + 4);
      const file = join(bodies, String(at));
      if (body.length > 0) writeFileSync(file, body);
      // Go asks for gzip unless told otherwise.
      kept.push('Accept-Encoding: identity');
      return [`${method} ${base}${path}`, ...kept, ...(body.length > 0 ? [`@${file}`] : []), ''].join('\n');
    });
    const targets = join(this.folder, 'targets');
    writeFileSync(targets, `${lines.join('\n')}\n`);
    return targets;
  }

  /**
   * On the core of everything that measures, before other processes of the machine. That core is kept awake meanwhile,
   * as the generator of the bench keeps it: beside one that sleeps, a wake-up costs more.
   */
  async #pinned(program: string, args: readonly string[]): Promise<void> {
    const env = { ...process.env, GOMAXPROCS: '2' };
    const pin = ['-c', String(measuringCore()), 'chrt'];
    const awake = spawn('taskset', [...pin, '--idle', '0', process.execPath, '-e', 'for (;;);'], {
      stdio: 'ignore',
    });
    try {
      await run('taskset', [...pin, '--rr', '1', program, ...args], { env, maxBuffer: 1e8 });
    } finally {
      awake.kill('SIGKILL');
    }
  }
}

/** Times that the main thread of a process has slept so far: each turn of its event loop that was waited for. */
export function sleepsIn(status: string): number {
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN);
}

/** CPU time and turns of a subject a second, from now on. */
async function spentIn({ pids }: Subject, ms: number) {
  const now = () => ({
    ms: performance.now(),
    cpuUs: cpuMicrosOf(pids),
    sleeps: sleepsIn(readFileSync(`/proc/${pids[0]!}/status`, 'utf8')),
  });
  const from = now();
  await sleep(ms);
  const to = now();
  const seconds = (to.ms - from.ms) / 1000;
  return {
    cpuUsPerS: (to.cpuUs - from.cpuUs) / seconds,
    turnsPerS: (to.sleeps - from.sleeps) / seconds,
  };
}

interface K6Settings {
  readonly url: string;
  readonly key: string;
  readonly frames: string;
  readonly summary: string;
  readonly frameBytes: number;
  readonly intervalMs: number;
  readonly startMs: number;
  readonly ms: number;
}

/** Vehicles connect, wait for the ready message, send from `startMs` on, and leave a second after their last frame. */
const k6Script = (settings: K6Settings): string => `
import { WebSocket } from 'k6/websockets';
import { Counter } from 'k6/metrics';
const s = ${JSON.stringify(settings)};
const frames = new Uint8Array(open(s.frames, 'b'));
const count = frames.length / s.frameBytes;
const answered = new Counter('answered');
export const options = {
  scenarios: { fleet: { executor: 'per-vu-iterations', vus: ${VEHICLES / PER_USER}, iterations: 1, maxDuration: '120s' } },
};
export default function () {
  for (let at = 0; at < ${PER_USER}; at++) drive((__VU - 1) * ${PER_USER} + at);
}
function drive(vehicle) {
  const socket = new WebSocket(s.url, ['hexcodes.v1.binary'], { headers: { 'X-API-Key': s.key } });
  socket.binaryType = 'arraybuffer';
  let at = vehicle * 7;
  let timer;
  const send = () => {
    const from = (at++ % count) * s.frameBytes;
    socket.send(frames.slice(from, from + s.frameBytes).buffer);
  };
  socket.onmessage = ({ data }) => {
    if (typeof data !== 'string') {
      answered.add(1);
      return;
    }
    const firstMs = s.startMs + (s.intervalMs * vehicle) / ${VEHICLES};
    setTimeout(() => {
      send();
      timer = setInterval(send, s.intervalMs);
    }, Math.max(0, firstMs - Date.now()));
    setTimeout(() => clearInterval(timer), s.startMs + s.ms - Date.now());
    setTimeout(() => socket.close(), s.startMs + s.ms + 1000 - Date.now());
  };
  socket.onerror = (event) => {
    throw new Error(event.error);
  };
}
export function handleSummary(data) {
  return { [s.summary]: JSON.stringify({ answered: data.metrics.answered.values.count }) };
}
`;
