// `npm run bench -- bulk [--rounds 7] [--points 200000] [--only NAME]`: server CPU of one point by every bulk way in, against the
// kernel alone and a uWS echo of the same bytes; then the pool on large jobs against one worker. Servers are processes
// of their own on one core, the load on another; rounds are interleaved.
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Hexcodes } from '#dist/node.js';
import { decodeFrame, encodeFrame } from '../test/e2e/stream-frames.js';
import { loadHttp, loadStream } from './bulk-load.js';
import { poolAgainstOneWorker } from './bulk-pool.js';
import type { BulkProcess, KernelWork } from './bulk-servers.js';
import { CORPUS_NOTES, makeCorpora } from './corpora.js';
import { head, headLine, saveResult } from './head.js';
import { spread, spreadText, table } from './measure.js';

const CORPUS_POINTS = 65_536;
const USUAL_POINTS = 4096;
const JSON_POINTS = 1024;
const BODY_POINTS = 65_536;
const LARGE_SCALE = 32;

/** One way in: what a process must do for `points` points; the same bytes for the echo. */
interface Way {
  readonly name: string;
  readonly operation: 'encode' | 'decode';
  readonly connections: number;
  /** How many times the points of a round: ways that cost little need more of them to outlast their beginning. */
  readonly scale: number;
  /** Resolves to the points that were answered: at least `points`. */
  run(port: number, points: number, isEcho: boolean): Promise<number>;
  readonly hasEcho: boolean;
  /** The service has all cores and so its workers; else it is bound to one, where it does without. */
  readonly isOnAllCores?: boolean;
}

class Peer {
  private constructor(
    readonly child: ChildProcess,
    readonly port: number,
  ) {}

  static async start(kind: BulkProcess, isBound = true): Promise<Peer> {
    const child = fork(new URL('./bulk-servers.js', import.meta.url), [kind], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    if (isBound) pin(child.pid as number, 0);
    return new Peer(child, port);
  }

  async cpuMicros(): Promise<number> {
    this.child.send('cpu');
    const [{ cpuMicros }] = (await once(this.child, 'message')) as [{ cpuMicros: number }];
    return cpuMicros;
  }

  async work(work: KernelWork): Promise<void> {
    this.child.send(work);
    await once(this.child, 'message');
  }
}

/** Servers on one core, the load on another, where taskset is there. */
function pin(pid: number, core: number): void {
  try {
    execFileSync('taskset', ['-a', '-cp', String(core), String(pid)], { stdio: 'ignore' });
  } catch {
    // Without it the numbers are noisier, not wrong.
  }
}

export default async function benchBulk(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '7' },
      points: { type: 'string', default: '200000' },
      only: { type: 'string', default: '' },
    },
  });
  const rounds = Number(values.rounds);
  const smallPoints = Number(values.points);
  const library = await Hexcodes.load();
  const pairsDeg = makeCorpora(library.kernel, readFileSync('data/index.bin'), CORPUS_POINTS).land;
  const pool = values.only === '' ? await poolAgainstOneWorker(pairsDeg, rounds) : { text: '' };
  pin(process.pid, 1);
  const [kernel, echo, onOneCore, onAllCores] = [
    await Peer.start('kernel'),
    await Peer.start('echo'),
    await Peer.start('hexcodes'),
    await Peer.start('hexcodes', false),
  ];

  const rows: string[][] = [];
  const nanosOfRounds: Record<string, Record<string, number[]>> = {};
  for (const way of waysOf(library, pairsDeg)) {
    if (!way.name.includes(values.only)) continue;
    const nanos = { kernel: [] as number[], echo: [] as number[], hexcodes: [] as number[] };
    const perSecond: number[] = [];
    const echoPerSecond: number[] = [];
    const points = smallPoints * way.scale;
    const ours = way.isOnAllCores ? onAllCores : onOneCore;
    for (let round = -1; round < rounds; round++) {
      const cost = async (peer: Peer, run: () => Promise<number>): Promise<[number, number]> => {
        const before = await peer.cpuMicros();
        const startMs = performance.now();
        const answered = await run();
        const tookMs = performance.now() - startMs;
        return [((await peer.cpuMicros()) - before) * (1000 / answered), (answered * 1000) / tookMs];
      };
      const [kernelNanos] = await cost(kernel, async () => {
        await kernel.work({ operation: way.operation, points, pairsDeg });
        return points;
      });
      const [ourNanos, ourRate] = await cost(ours, () => way.run(ours.port, points, false));
      const echoed = way.hasEcho ? await cost(echo, () => way.run(echo.port, points, true)) : undefined;
      // The first round warms all sides.
      if (round < 0) continue;
      nanos.kernel.push(kernelNanos);
      nanos.hexcodes.push(ourNanos);
      perSecond.push(ourRate);
      if (echoed === undefined) continue;
      nanos.echo.push(echoed[0]);
      echoPerSecond.push(echoed[1]);
    }
    const ratios = nanos.hexcodes.map((value, round) => value / nanos.kernel[round]!);
    const text = (values: number[], digits: number): string =>
      values.length === 0 ? '' : spreadText(spread(values), digits);
    const millions = (values: number[]): string =>
      values.length === 0 ? '' : (spread(values).median / 1e6).toFixed(2);
    rows.push([
      way.name,
      String(way.connections),
      text(ratios, 2),
      text(nanos.hexcodes, 0),
      text(nanos.kernel, 0),
      text(nanos.echo, 0),
      millions(perSecond),
      millions(echoPerSecond),
    ]);
    nanosOfRounds[`${way.name}, ${way.connections}`] = nanos;
  }
  for (const { child } of [kernel, echo, onOneCore, onAllCores]) child.disconnect();
  const start = head(['uWebSockets.js', 'piscina']);
  const path = saveResult('bulk', { head: start, rounds, points: smallPoints, nanosOfRounds, pool });
  const titles = ['way', 'connections', 'CPU ÷ kernel', 'server, ns a point', 'kernel, ns', 'echo, ns'];
  console.log(`${headLine(start)}

Corpus "land": ${CORPUS_NOTES.land}; ${rounds} rounds of ${smallPoints * LARGE_SCALE} points (frames below 1,024 points:
${smallPoints}), medians and quartiles. CPU is that of the whole
server process, on one core; where the name says so it has all cores and its workers share in. The load is one process on
the other core; its own ceiling shows in what the echo answers it: the last column.

${table([...titles, 'M points/s', 'echo, M points/s'], rows)}

${pool.text}

${path}`);
}

function waysOf(library: Hexcodes, pairsDeg: Float64Array): Way[] {
  const part = (points: number): Float64Array => pairsDeg.slice(0, 2 * points);
  const records = library.encodeBatch(pairsDeg);
  const codes = Array.from({ length: CORPUS_POINTS }, (_, i) =>
    Buffer.from(records.subarray(i * 20, i * 20 + 19))
      .toString('latin1')
      .replace(/\0+$/, ''),
  );
  const stream = (
    name: string,
    frame: Uint8Array,
    framePoints: number,
    connections: number,
    answerBytes: number,
    isBinary = true,
    operation: 'encode' | 'decode' = 'encode',
  ): Way => ({
    name,
    operation,
    connections,
    scale: framePoints < 1024 ? 1 : LARGE_SCALE,
    hasEcho: isBinary,
    run: async (port, points, isEcho) =>
      framePoints *
      (await loadStream(port, {
        ...{ frame, isBinary, connections, depth: framePoints > 16_384 ? 2 : 8 },
        answerBytes: isEcho ? frame.length : answerBytes,
        frames: Math.ceil(points / framePoints),
      })),
  });
  const http = (
    name: string,
    path: string,
    contentType: string,
    body: Uint8Array,
    bodyPoints: number,
  ): Way => ({
    name,
    operation: path.includes('decode') ? 'decode' : 'encode',
    connections: 8,
    scale: LARGE_SCALE,
    hasEcho: true,
    run: async (port, points) =>
      bodyPoints *
      (await loadHttp(port, {
        path,
        contentType,
        body,
        connections: 8,
        requests: Math.ceil(points / bodyPoints),
      })),
  });
  const of = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
  const lat = (i: number): string => pairsDeg[2 * i]!.toFixed(6);
  const lng = (i: number): string => pairsDeg[2 * i + 1]!.toFixed(6);
  const text = (lines: string[]): Uint8Array => Buffer.from(`${lines.join('\n')}\n`);
  const frames = (make: (from: number) => Uint8Array): Uint8Array =>
    Buffer.concat(of(BODY_POINTS / USUAL_POINTS).map((i) => make(i * USUAL_POINTS)));
  const usual = { encode: '/v1/hexcodes/encode/bulk', decode: '/v1/hexcodes/decode/bulk' };
  const [frameType, csvType, lineType] = [
    'application/vnd.hexcodes.frames',
    'text/csv',
    'application/x-ndjson',
  ];
  const encodeOf = (points: number) => encodeFrame(1, part(points));
  const ways = [
    ...[1, 64, 1024, USUAL_POINTS, 16_384, 65_536].map((points) =>
      stream(`WebSocket binary encode, ${points} a frame`, encodeOf(points), points, 8, 16 + points * 20),
    ),
    ...[1, 64].map((connections) =>
      stream(
        `WebSocket binary encode, ${USUAL_POINTS} a frame`,
        encodeOf(USUAL_POINTS),
        USUAL_POINTS,
        connections,
        16 + USUAL_POINTS * 20,
      ),
    ),
    stream(
      `WebSocket binary decode, ${USUAL_POINTS} a frame`,
      decodeFrame(1, records.subarray(0, USUAL_POINTS * 20)),
      USUAL_POINTS,
      8,
      16 + USUAL_POINTS * 18,
      true,
      'decode',
    ),
    http(
      `HTTP frames encode, ${USUAL_POINTS} a frame`,
      usual.encode,
      frameType,
      frames((from) => encodeFrame(1, pairsDeg.slice(2 * from, 2 * (from + USUAL_POINTS)))),
      BODY_POINTS,
    ),
    http(
      `HTTP frames decode, ${USUAL_POINTS} a frame`,
      usual.decode,
      frameType,
      frames((from) => decodeFrame(1, records.subarray(20 * from, 20 * (from + USUAL_POINTS)))),
      BODY_POINTS,
    ),
    http(
      'HTTP CSV encode',
      usual.encode,
      csvType,
      text(['lat,lng', ...of(BODY_POINTS).map((i) => `${lat(i)},${lng(i)}`)]),
      BODY_POINTS,
    ),
    http(
      'HTTP CSV decode',
      usual.decode,
      csvType,
      text(['hexcodes', ...codes.slice(0, BODY_POINTS)]),
      BODY_POINTS,
    ),
    http(
      'HTTP NDJSON encode',
      usual.encode,
      lineType,
      text(of(BODY_POINTS).map((i) => `{"lat":${lat(i)},"lng":${lng(i)}}`)),
      BODY_POINTS,
    ),
    http(
      'HTTP NDJSON decode',
      usual.decode,
      lineType,
      text(codes.slice(0, BODY_POINTS).map((code) => `{"hexcodes":"${code}"}`)),
      BODY_POINTS,
    ),
    stream(
      `WebSocket JSON encode, ${JSON_POINTS} a frame`,
      Buffer.from(
        `{"seq":1,"op":"encode","points":[${of(JSON_POINTS).map((i) => `[${lat(i)},${lng(i)}]`)}]}`,
      ),
      JSON_POINTS,
      8,
      0,
      false,
    ),
    http(
      `HTTP JSON batch encode, ${USUAL_POINTS} items`,
      '/v1/hexcodes/encode/batch',
      'application/json',
      Buffer.from(`{"points":[${of(USUAL_POINTS).map((i) => `[${lat(i)},${lng(i)}]`)}]}`),
      USUAL_POINTS,
    ),
  ];
  const onAllCores = ways
    .filter(({ name }) => name === 'HTTP CSV encode' || name === 'HTTP NDJSON encode')
    .map((way) => ({ ...way, name: `${way.name}, all cores`, hasEcho: false, isOnAllCores: true }));
  return [...ways, ...onAllCores];
}
