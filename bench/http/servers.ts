// The servers of the HTTP bench, one a process, picked by the first argument: ours, and those it is compared with. Each
// sends its port, and its CPU time when asked.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { latLngToCell } from 'h3-js';
import { loadUws, type UwsApp, type UwsRequest, type UwsResponse } from '#dist/server/transport/load-uws.js';
import { shippedPolygons } from '../rivals.js';
import { startService } from '../service.js';

export type ServerKind = 'bare' | 'hexcodes' | 'unmetered' | 'h3' | 'node';

/** As long as the usual answer of the service. */
const CONSTANT =
  '{"hexcodes":"HCM-33RHC-PRGQG","lat":10.776889,"lng":106.700806,"resolution":13,"admin_code":"HCM","status":"OK"}';

/** The constant answer to a batch of ten. */
const BATCH_CONSTANT = `{"status":"OK","summary":{"total":10,"ok":10,"failed":0},"results":[${Array.from({ length: 10 }, () => CONSTANT.replace('}', ',"id":1234}')).join(',')}]}`;

const STARTERS: Record<ServerKind, () => Promise<number>> = {
  // The control: a uWS handler that reads nothing and returns a constant.
  bare: () =>
    listen((app) => {
      app.get('/v1/hexcodes/encode', (res) => void res.end(CONSTANT));
      app.post('/v1/hexcodes/encode/batch', (res) => void res.end(BATCH_CONSTANT));
    }),

  hexcodes: () => startService('info'),

  // The service without limits, usage, metrics and the log of requests.
  unmetered: () => startService('info', { metering: false }),

  // The service from libraries, without keys: uWS's own query parsing, which-polygon over our provinces, h3-js.
  h3: () => {
    const provinceAt = shippedPolygons(readFileSync('data/index.bin'));
    const handler = (res: UwsResponse, req: UwsRequest): void => {
      const query = new URLSearchParams(req.getQuery());
      const lat = Number(query.get('lat'));
      const lng = Number(query.get('lng'));
      const resolution = Number(query.get('resolution') ?? 13);
      const admin_code = provinceAt(lat, lng);
      const hexcodes = `${admin_code}-${latLngToCell(lat, lng, resolution)}`;
      res.writeHeader('Content-Type', 'application/json');
      res.end(JSON.stringify({ hexcodes, lat, lng, resolution, admin_code, status: 'OK' }));
    };
    return listen((app) => app.get('/v1/hexcodes/encode', handler));
  },

  // The cost of Node itself for a constant.
  node: () =>
    new Promise((resolve) => {
      const server = createServer((_request, response) => {
        response.setHeader('Content-Type', 'application/json');
        response.end(CONSTANT);
      });
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    }),
};

async function listen(route: (app: UwsApp) => unknown): Promise<number> {
  const { uws } = await loadUws();
  const app = uws.App();
  route(app);
  return new Promise((resolve) => {
    app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket !== false) resolve(uws.us_socket_local_port(socket));
    });
  });
}

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system });
});
process.on('disconnect', () => process.exit(0));
const kind = process.argv[2] as ServerKind;
process.send?.({ port: await STARTERS[kind]() });
