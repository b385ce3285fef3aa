// The admin port of long-running commands: /livez, /readyz and /metrics, and a warning where a stream has little
// space left. The bus is polled every few seconds, and a scrape shows the last poll.
import type { Server } from 'node:http';
import { memoryUsage } from 'node:process';
import type { Command } from 'commander';
import type { BusLook } from '../bus/bus.js';
import { DURATION_BOUNDS_S, type Durations } from '../bus/engine.js';
import { NEARLY_FULL } from '../bus/sizing.js';
import { adminServer } from '../config/admin-server.js';
import { ConfigError, readSettings } from '../config/config.js';
import { badUsage, CliFailure, EXIT, requireCount } from '../files/exit-codes.js';
import { say } from '../files/terminal/say.js';
import { VERSION } from '../hexcodes/version.js';
import { slowRowCounts } from '../hexcodes/wire/rows/row-report.js';

export interface AdminOptions {
  readonly adminPort?: string;
  readonly adminHost: string;
}

export const addAdminOptions = (command: Command): Command =>
  command
    .option('--admin-port <n>', 'port of /livez, /readyz and /metrics (none; 0: any free one)')
    .option('--admin-host <address>', 'address of that port', '127.0.0.1');

/**
 * Metrics that commands count themselves, by name without the prefix; docs/reference/worker-metrics.md describes
 * them.
 */
export interface WatchedFigures {
  readonly counters: Readonly<Record<string, number>>;
  readonly gauges?: Readonly<Record<string, number>>;
  readonly times: Durations;
}

/** Longer than the default interval at which servers sync their files (`sync_interval`). */
export const GIVE_BACK_AFTER = '150s';

export interface WatchedOptions {
  readonly role: 'worker' | 'collector';
  readonly look: () => Promise<BusLook>;
  readonly figures: () => WatchedFigures;
  /** Called with each poll; returns the number of messages it has removed. */
  readonly giveBack?: ((afterMs: number) => Promise<number>) | undefined;
  readonly giveBackAfterMs?: number | undefined;
  /** Called with sentences for people. */
  readonly say: (sentence: string) => void;
}

const LOOK_MS = 5000;
/** Age of the last poll beyond which the command is not ready. */
const READY_MS = 15_000;
/** Age of the last stored answer beyond which the command is not ready while messages wait. */
const STALLED_MS = 60_000;

export class Watched {
  #server: Server | undefined;
  #timer: NodeJS.Timeout;
  #last: { readonly atMs: number; readonly look: BusLook } | undefined;
  /** Time when an answer was last stored, or nothing waited. */
  #progressMs = performance.now();
  #done = -1;
  #isStopping = false;

  /** @throws CliFailure where the port is not available */
  static async open(options: WatchedOptions, { adminPort, adminHost }: AdminOptions): Promise<Watched> {
    const watched = new Watched(options);
    try {
      if (adminPort !== undefined)
        await watched.#listen(requireCount('--admin-port', adminPort, 0, 65_535), adminHost);
    } catch (error) {
      watched.end();
      throw error;
    }
    return watched;
  }

  private constructor(private readonly options: WatchedOptions) {
    const { giveBackAfterMs = LOOK_MS } = options;
    this.#timer = setInterval(() => void this.#look(), Math.min(LOOK_MS, Math.max(100, giveBackAfterMs / 2)));
    void this.#look();
  }

  /** Makes the command not ready. */
  stopping(): void {
    this.#isStopping = true;
  }

  end(): void {
    clearInterval(this.#timer);
    this.#server?.close();
    this.#server?.closeAllConnections();
  }

  async #look(): Promise<void> {
    const look = await this.options.look().catch(() => undefined);
    if (look === undefined) return;
    this.#last = { atMs: performance.now(), look };
    const { counters, gauges } = this.options.figures();
    const { messages = 0, already = 0, dead_letters = 0 } = counters;
    const done = messages + already + dead_letters;
    // Workers on NATS share waiting messages; a member of a Kafka group has its own.
    const waiting = (gauges?.held_messages ?? 0) + (look.streams.length === 0 ? look.waiting : 0);
    if (done !== this.#done || waiting === 0) this.#progressMs = performance.now();
    this.#done = done;
    const full = look.streams.filter(
      ({ bytes, maxBytes }) => maxBytes > 0 && bytes >= NEARLY_FULL * maxBytes,
    );
    for (const { name, bytes, maxBytes } of full)
      this.options.say(
        `warning: ${name} is ${Math.floor((100 * bytes) / maxBytes)} % full and refuses more when it is full; hexcodes worker setup --max-bytes makes it larger`,
      );
    await this.#giveBack();
  }

  async #giveBack(): Promise<void> {
    const { giveBack, giveBackAfterMs, say } = this.options;
    if (giveBack === undefined || giveBackAfterMs === undefined) return;
    try {
      const count = await giveBack(giveBackAfterMs);
      if (count > 0) say(`room is given back: ${count} messages that are done with are removed`);
    } catch (error) {
      say(
        `room cannot be given back: ${(error as Error).message}; hexcodes worker setup --backlog prints the permissions that it needs`,
      );
    }
  }

  #listen(port: number, host: string): Promise<void> {
    const server = adminServer(host, adminNames(), (request, response) => {
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const [status, text] = isRead ? this.#page(request.url ?? '') : [405, 'only GET'];
      response.writeHead(status, {
        'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
        'Cache-Control': 'no-store',
      });
      response.end(`${text}\n`);
    });
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', (error) =>
        reject(new CliFailure(EXIT.FAILED, `--admin-port ${port}: ${error.message}`)),
      );
      server.listen(port, host, () => {
        const address = server.address();
        const at = typeof address === 'object' ? address?.port : port;
        say(`hexcodes: /livez, /readyz and /metrics on ${host}:${at}\n`);
        resolve();
      });
      server.unref();
    });
  }

  #page(url: string): [number, string] {
    const reason = this.#unready;
    switch (url.split('?')[0]) {
      case '/livez':
        return [200, 'alive'];
      case '/readyz':
        return reason === undefined ? [200, 'ready'] : [503, reason];
      case '/metrics':
        return [200, [...this.#lines()].join('\n')];
      default:
        return [404, 'there are /livez, /readyz and /metrics'];
    }
  }

  get #unready(): string | undefined {
    if (this.#isStopping) return 'stopping';
    if (this.#last === undefined || performance.now() - this.#last.atMs > READY_MS)
      return 'the bus does not answer';
    const stalledMs = performance.now() - this.#progressMs;
    if (stalledMs > STALLED_MS)
      return `no answer was stored for ${Math.round(stalledMs / 1000)} s, and messages wait`;
    return undefined;
  }

  *#lines(): Generator<string> {
    const { role, figures } = this.options;
    const { counters, gauges = {}, times } = figures();
    const own = `role="${role}"`;
    const one = (name: string, kind: string, value: number, labels = own): string =>
      `# TYPE ${name} ${kind}\n${name}{${labels}} ${value}`;
    yield one('hexcodes_worker_info', 'gauge', 1, `${own},version="${VERSION}"`);
    yield one('hexcodes_worker_ready', 'gauge', this.#unready === undefined ? 1 : 0);
    for (const [name, value] of Object.entries(counters))
      yield one(`hexcodes_worker_${name}_total`, 'counter', value);
    yield '# TYPE hexcodes_worker_slow_rows_total counter';
    for (const { origin, reason, rows } of slowRowCounts())
      if (origin === 'bulk' && reason !== 'line' && reason !== 'values')
        yield `hexcodes_worker_slow_rows_total{${own},reason="${reason}"} ${rows}`;
    for (const [name, value] of Object.entries(gauges)) yield one(`hexcodes_worker_${name}`, 'gauge', value);
    yield* histogram('hexcodes_worker_duration_seconds', own, times);
    const { look } = this.#last ?? {};
    if (look !== undefined) {
      yield one('hexcodes_worker_waiting_messages', 'gauge', look.waiting);
      yield one('hexcodes_worker_under_way_messages', 'gauge', look.underWay);
      for (const [name, member] of [
        ['messages', 'messages'],
        ['bytes', 'bytes'],
        ['limit_bytes', 'maxBytes'],
      ] as const) {
        if (look.streams.length > 0) yield `# TYPE hexcodes_bus_stream_${name} gauge`;
        for (const stream of look.streams)
          yield `hexcodes_bus_stream_${name}{${own},stream="${stream.name}"} ${stream[member]}`;
      }
    }
    const { user, system } = process.cpuUsage();
    yield `# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total ${(user + system) / 1e6}`;
    yield `# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes ${memoryUsage().rss}`;
    yield `# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds ${Math.round(performance.timeOrigin / 1000)}`;
  }
}

/** Host names of the port, as for the service. @throws CliFailure */
function adminNames(): readonly string[] {
  try {
    return readSettings(['adminNames'], {}, process.env).config.adminNames;
  } catch (error) {
    throw error instanceof ConfigError ? badUsage(error.message) : error;
  }
}

function* histogram(name: string, labels: string, { counts, sumS }: Durations): Generator<string> {
  yield `# TYPE ${name} histogram`;
  let count = 0;
  for (const [i, here] of counts.entries()) {
    count += here;
    yield `${name}_bucket{${labels},le="${DURATION_BOUNDS_S[i] ?? '+Inf'}"} ${count}`;
  }
  yield `${name}_sum{${labels}} ${sumS}\n${name}_count{${labels}} ${count}`;
}
