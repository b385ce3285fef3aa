// The admin port of the supervisor. /livez and /readyz speak for all processes; /metrics has the samples of all, each
// with a label that names its process; /activity adds up what the keys do in all; /processes/2/… is what the admin port
// of process 2 answers; every other path goes to the first process that accepts requests.
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { faultBody, pathOf, requestIdOf, SharedWork } from '../../../config/admin-server.js';
import { canonicalAddress, type Networks } from '../../../config/networks.js';
import { SUPERVISOR_HEADER } from '../../admin/keys.js';
import { type AdminListener, openListener } from '../../admin/port.js';
import { clientAddress } from '../../http/exchange.js';

// Pages of metrics of several processes as one, in the text format of Prometheus (0.0.4): each sample gets a label
// `process`, and all samples of a metric come together after its HELP and TYPE, as the format demands.

interface NumberedPage {
  readonly number: number;
  readonly text: string;
}

interface Family {
  readonly comments: string[];
  readonly samples: string[];
}

const COMMENT = /^# (?:HELP|TYPE) (\S+)/;
const SAMPLE = /^([A-Za-z_:][\w:]*)(\{)?(.*)$/;

export function mergeMetrics(pages: readonly NumberedPage[]): string {
  const families = new Map<string, Family>();
  const familyOf = (name: string): Family => {
    const known = families.get(name);
    if (known !== undefined) return known;
    const made: Family = { comments: [], samples: [] };
    families.set(name, made);
    return made;
  };
  for (const { number, text } of pages) {
    // Samples follow the comments of their metric; those of a histogram have longer names than it.
    let current: Family | undefined;
    let currentName = '';
    for (const line of text.split('\n')) {
      const commented = COMMENT.exec(line)?.[1];
      if (commented !== undefined) {
        currentName = commented;
        current = familyOf(commented);
        if (!current.comments.includes(line)) current.comments.push(line);
        continue;
      }
      const [, name, brace, rest = ''] = SAMPLE.exec(line) ?? [];
      if (name === undefined) continue;
      const family = current !== undefined && name.startsWith(currentName) ? current : familyOf(name);
      const label = `process="${number}"`;
      const labels =
        brace === undefined ? `{${label}}${rest}` : `{${label}${rest.startsWith('}') ? '' : ','}${rest}`;
      family.samples.push(name + labels);
    }
  }
  return [...families.values()]
    .map(({ comments, samples }) => `${[...comments, ...samples].join('\n')}\n`)
    .join('\n');
}

interface KeyActivity {
  readonly id: string;
  readonly requests: number;
  readonly points: number;
}

/** @param pages answers of `/activity`; anything else is left out */
export function mergeActivity(pages: readonly string[]): { keys: KeyActivity[] } {
  const sums = new Map<string, KeyActivity>();
  for (const key of pages.flatMap(keysOf)) {
    const sum = sums.get(key.id) ?? { id: key.id, requests: 0, points: 0 };
    sums.set(key.id, {
      id: key.id,
      requests: sum.requests + key.requests,
      points: sum.points + key.points,
    });
  }
  return { keys: [...sums.values()] };
}

function keysOf(page: string): readonly KeyActivity[] {
  try {
    return (JSON.parse(page) as { keys: readonly KeyActivity[] }).keys;
  } catch {
    return [];
  }
}

/** A process as far as this port uses it. */
export interface AdminTarget {
  readonly number: number;
  /** Undefined while it accepts no requests. */
  readonly adminPort: number | undefined;
}

export interface AdminSource {
  processes(): readonly AdminTarget[];
  isStopping(): boolean;
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: Networks | undefined;
  /** Names that the port is asked by. */
  readonly names: readonly string[];
  /** Token by which the processes know that it is the supervisor who asks. */
  readonly token: string;
  /** How often a process has died so far. */
  deaths(): number;
}

/** A process that does not answer by then is taken for one that hangs. */
const ASK_TIMEOUT_MS = 2000;
const LOOPBACK = '127.0.0.1';

/** Rejects with a sentence if it cannot listen there. */
export async function openSupervisorAdmin(
  host: string,
  port: number,
  source: AdminSource,
): Promise<AdminListener> {
  const pages = new SharedWork<Page>();
  return openListener(host, port, source.names, (incoming, response) => {
    const id = requestIdOf(incoming);
    response.setHeader('X-Request-Id', id);
    incoming.headers['x-request-id'] = id;
    void handle(source, pages, incoming, response).catch(() =>
      send(
        response,
        502,
        faultBody('UNAVAILABLE', 'unavailable', 'the process does not answer', id),
        'application/json',
      ),
    );
  });
}

interface Page {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
}

async function handle(
  source: AdminSource,
  pages: SharedWork<Page>,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = incoming.url ?? '/';
  const isRead = incoming.method === 'GET' || incoming.method === 'HEAD';
  const page = isRead ? PAGES[pathOf(incoming)] : undefined;
  if (page !== undefined) {
    const { status, text, type } = await pages.of(pathOf(incoming), () => page(source));
    return send(response, status, text, type);
  }
  const processes = source.processes();
  const [, number, rest] = /^\/processes\/(\d+)(\/.*)$/.exec(target) ?? [];
  const asked =
    number === undefined
      ? processes.find(({ adminPort }) => adminPort !== undefined)
      : processes.find((process) => process.number === Number(number));
  if (asked === undefined && number !== undefined) {
    const id = requestIdOf(incoming);
    const body = faultBody('NOT_FOUND', 'not_found', `there is no process ${number}`, id);
    return send(response, 404, body, 'application/json');
  }
  if (asked?.adminPort === undefined)
    return send(response, 503, 'not ready\nreason: the process is starting or stopping\n');
  await handOn(incoming, response, asked.adminPort, rest ?? target, source);
}

/** Pages about all processes, the same for all callers. */
const PAGES: Readonly<Record<string, (source: AdminSource) => Promise<Page>>> = {
  '/livez': async () => ({ status: 200, text: 'alive\n' }),
  '/readyz': (source) => readinessOf(source.processes(), source.isStopping()),
  '/activity': async (source) => {
    const activity = mergeActivity((await pagesOfAll(source, '/activity')).map(({ text }) => text));
    return { status: 200, text: JSON.stringify(activity), type: 'application/json' };
  },
  '/metrics': async (source) => {
    const pages = await pagesOfAll(source, '/metrics');
    const text = `${ownMetrics(source.processes(), source.deaths())}\n${mergeMetrics(pages)}`;
    return { status: 200, text, type: 'text/plain; version=0.0.4; charset=utf-8' };
  },
};

function pagesOfAll(source: AdminSource, path: string): Promise<NumberedPage[]> {
  return Promise.all(
    source.processes().map(async ({ number, adminPort }) => {
      const page = await ask(adminPort, path);
      return { number, text: page?.status === 200 ? page.text : '' };
    }),
  );
}

/** Samples that only the supervisor knows. */
function ownMetrics(processes: readonly AdminTarget[], deaths: number): string {
  const ready = processes.filter(({ adminPort }) => adminPort !== undefined).length;
  return [
    '# HELP hexcodes_processes Processes that the supervisor keeps running.',
    '# TYPE hexcodes_processes gauge',
    `hexcodes_processes ${processes.length}`,
    '# HELP hexcodes_processes_ready Of these, the ones that accept requests.',
    '# TYPE hexcodes_processes_ready gauge',
    `hexcodes_processes_ready ${ready}`,
    '# HELP hexcodes_process_deaths_total How often a process has died and was started again.',
    '# TYPE hexcodes_process_deaths_total counter',
    `hexcodes_process_deaths_total ${deaths}`,
    '',
  ].join('\n');
}

/** Ready where one process is: it serves the shared port for all. */
async function readinessOf(
  processes: readonly AdminTarget[],
  isStopping: boolean,
): Promise<{ status: number; text: string }> {
  const pages = await Promise.all(processes.map(({ adminPort }) => ask(adminPort, '/readyz')));
  const isReady = !isStopping && pages.some((page) => page?.status === 200);
  const notes = pages.flatMap((page, i) => {
    const lines = page?.text.trim().split('\n').slice(1) ?? ['it does not accept requests'];
    return lines.map((line) => `process ${processes[i]?.number}: ${line.replace(/^\w+: /, '')}`);
  });
  if (isReady)
    return { status: 200, text: `${['ready', ...notes.map((note) => `warning: ${note}`)].join('\n')}\n` };
  const reasons = isStopping ? ['the service is stopping'] : notes;
  return {
    status: 503,
    text: `${['not ready', ...reasons.map((reason) => `reason: ${reason}`)].join('\n')}\n`,
  };
}

/** The answer of a process; undefined if it does not answer. */
async function ask(
  port: number | undefined,
  path: string,
): Promise<{ status: number; text: string } | undefined> {
  if (port === undefined) return undefined;
  try {
    const answer = await fetch(`http://${LOOPBACK}:${port}${path}`, {
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    });
    return { status: answer.status, text: await answer.text() };
  } catch {
    return undefined;
  }
}

/** The process believes the supervisor alone about the client, so what a client itself says of that goes no further. */
function handOn(
  incoming: IncomingMessage,
  response: ServerResponse,
  port: number,
  path: string,
  { trustedProxies, token }: AdminSource,
): Promise<void> {
  const peer = canonicalAddress(incoming.socket.remoteAddress ?? '') ?? '';
  const forwarded = [incoming.headers['x-forwarded-for'] ?? ''].flat().join(',');
  const headers = {
    ...incoming.headers,
    'x-forwarded-for': clientAddress(peer, forwarded, trustedProxies, true),
    [SUPERVISOR_HEADER]: token,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: LOOPBACK, port, path, method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on('end', resolve);
      answer.on('error', reject);
    });
    outgoing.on('error', reject);
    response.once('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
}

function send(response: ServerResponse, status: number, text: string, type = 'text/plain'): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' });
  response.end(text);
}
