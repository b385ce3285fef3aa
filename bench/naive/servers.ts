// Services as one would write them without hexcodes: twenty lines around h3-js and which-polygon, in four frameworks.
// No keys, no limits, no metrics, no log, no check symbol. Picked by the first argument.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'csv-parse/sync';
import { latLngToCell } from 'h3-js';
import { loadUws } from '#dist/server/transport/load-uws.js';
import { FRAMEWORKS, type NaiveServer, OwnPackages, shippedPolygons } from '../rivals.js';
import { startService } from '../service.js';

const provinceAt = shippedPolygons(readFileSync('data/index.bin'));

interface Point {
  readonly lat: number;
  readonly lng: number;
  readonly id?: number;
}

function encode({ lat, lng, id }: Point): object {
  const admin_code = provinceAt(lat, lng);
  if (admin_code === null) return { lat, lng, id, status: 'NOT_FOUND' };
  const hexcodes = `${admin_code}-${latLngToCell(lat, lng, 13)}`;
  return { hexcodes, lat, lng, resolution: 13, admin_code, id, status: 'OK' };
}

const single = (query: Readonly<Record<string, string | undefined>>): object =>
  encode({ lat: Number(query.lat), lng: Number(query.lng) });

const batch = ({ points }: { points: readonly Point[] }): object => ({
  status: 'OK',
  results: points.map(encode),
});

const line = (lat: string, lng: string): string => {
  const admin = provinceAt(Number(lat), Number(lng));
  return `${lat},${lng},${admin === null ? ',NOT_FOUND' : `${admin}-${latLngToCell(Number(lat), Number(lng), 13)},OK`}`;
};

/** A parser makes an object of each row. */
function csvByParser(text: string): string {
  const rows = parse(text, { columns: true }) as { lat: string; lng: string }[];
  return ['lat,lng,hexcodes,status', ...rows.map(({ lat, lng }) => line(lat, lng)), ''].join('\n');
}

/** Split at line ends and commas: no quotes, no other order of columns. */
function csvBySplit(text: string): string {
  const rows = text.trimEnd().split('\n').slice(1);
  const answers = rows.map((row) => {
    const [lat, lng] = row.split(',');
    return line(lat!, lng!);
  });
  return ['lat,lng,hexcodes,status', ...answers, ''].join('\n');
}

const LIMIT = 64 * 2 ** 20;
const [SINGLE, BATCH, CSV] = ['/v1/hexcodes/encode', '/v1/hexcodes/encode/batch', '/v1/hexcodes/encode/bulk'];

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const STARTERS: Record<NaiveServer | 'hexcodes', () => Promise<number>> = {
  hexcodes: () => startService('info'),

  'node:http': async () => {
    const server = createServer(async (request, response) => {
      const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
      if (pathname === CSV) {
        const answer = csvBySplit(await textOf(request));
        response.writeHead(200, { 'Content-Type': 'text/csv', 'Content-Length': Buffer.byteLength(answer) });
        response.end(answer);
        return;
      }
      const answer = JSON.stringify(
        pathname === BATCH
          ? batch(JSON.parse(await textOf(request)))
          : single(Object.fromEntries(searchParams)),
      );
      response.writeHead(200, {
        ...{ 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) },
      });
      response.end(answer);
    });
    return new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
  },

  fastify: async () => {
    const { default: fastify } = await new OwnPackages('naive', FRAMEWORKS).load<Fastify>('fastify');
    const app = fastify({ bodyLimit: LIMIT });
    app.get(SINGLE!, (request) => single(request.query as Record<string, string>));
    app.post(BATCH!, (request) => batch(request.body as { points: Point[] }));
    app.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) => done(null, body));
    app.post(CSV!, (request, reply) => reply.type('text/csv').send(csvByParser(request.body as string)));
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    return Number(new URL(address).port);
  },

  hono: async () => {
    const packages = new OwnPackages('naive', FRAMEWORKS);
    const { Hono } = await packages.load<{ Hono: new () => HonoApp }>('hono');
    const { serve } = await packages.load<HonoServer>('@hono/node-server');
    const app = new Hono();
    app.get(SINGLE!, (c) => c.json(single(c.req.query())));
    app.post(BATCH!, async (c) => c.json(batch(await c.req.json())));
    app.post(CSV!, async (c) => c.body(csvBySplit(await c.req.text()), 200, { 'Content-Type': 'text/csv' }));
    return new Promise((resolve) => {
      serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port));
    });
  },

  uWS: async () => {
    const { uws } = await loadUws();
    const app = uws.App();
    app.get(SINGLE!, (res, req) => {
      const query = new URLSearchParams(req.getQuery());
      res.writeHeader('Content-Type', 'application/json');
      res.end(JSON.stringify(single(Object.fromEntries(query))));
    });
    const post = (path: string, type: string, answer: (text: string) => string): void => {
      app.post(path, (res) => {
        const chunks: Buffer[] = [];
        res.onAborted(() => {});
        res.onData((chunk, isLast) => {
          chunks.push(Buffer.from(chunk.slice(0)));
          if (!isLast) return;
          const text = answer(Buffer.concat(chunks).toString());
          res.cork(() => {
            res.writeHeader('Content-Type', type);
            res.end(text);
          });
        });
      });
    };
    post(BATCH!, 'application/json', (text) => JSON.stringify(batch(JSON.parse(text))));
    post(CSV!, 'text/csv', csvBySplit);
    return new Promise((resolve) => {
      app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
        if (socket !== false) resolve(uws.us_socket_local_port(socket));
      });
    });
  },
};

/** As far as they are used here: their types are installed with them. */
interface Fastify {
  default(options: object): {
    get(path: string, handle: (request: { query: unknown }) => object): void;
    post(
      path: string,
      handle: (
        request: { body: unknown },
        reply: { type(text: string): { send(text: string): object } },
      ) => object,
    ): void;
    addContentTypeParser(
      type: string,
      options: object,
      parse: (request: unknown, body: string, done: (error: null, body: string) => void) => void,
    ): void;
    listen(at: { port: number; host: string }): Promise<string>;
  };
}

interface HonoContext {
  readonly req: {
    query(): Record<string, string>;
    json(): Promise<{ points: Point[] }>;
    text(): Promise<string>;
  };
  json(value: object): unknown;
  body(text: string, status: number, headers: Record<string, string>): unknown;
}

interface HonoApp {
  get(path: string, handle: (c: HonoContext) => unknown): void;
  post(path: string, handle: (c: HonoContext) => unknown): void;
  readonly fetch: unknown;
}

interface HonoServer {
  serve(options: object, listening: (at: { port: number }) => void): void;
}

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: await STARTERS[process.argv[2] as NaiveServer]() });
