// The processes of the bulk bench, picked by the first argument: the service; a uWS echo of the same bytes, by
// WebSocket and by HTTP; and the kernel alone, which works on request. Each sends its port, and its CPU time when
// asked.
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { loadUws } from '#dist/server/transport/load-uws.js';
import { startService } from '../service.js';

export type BulkProcess = 'hexcodes' | 'echo' | 'kernel';

/** A request to the kernel process: a number of points of the corpus, in blocks of one call each. */
export interface KernelWork {
  readonly operation: 'encode' | 'decode';
  readonly points: number;
  readonly pairsDeg: Float64Array;
}

const STARTERS: Record<BulkProcess, () => Promise<number>> = {
  hexcodes: () => startService('warn'),

  echo: async () => {
    const { uws } = await loadUws();
    const app = uws.App();
    app.ws('/*', {
      ...{ maxPayloadLength: 4 * 2 ** 20, maxBackpressure: 64 * 2 ** 20, idleTimeout: 0, maxLifetime: 0 },
      ...{ closeOnBackpressureLimit: true, sendPingsAutomatically: false, compression: uws.DISABLED },
      upgrade: (res, req, context) => {
        const header = (name: string) => req.getHeader(name);
        res.upgrade({}, header('sec-websocket-key'), header('sec-websocket-protocol'), '', context);
      },
      open: (ws) => void ws.send('ready', false),
      message: (ws, message) => void ws.send(message, true),
      drain: () => {},
      close: () => {},
    });
    // The body goes back in chunks as large as those of the service.
    app.post('/*', (res) => {
      const waiting: Uint8Array[] = [];
      let isWritable = true;
      let isLast = false;
      let ended = false;
      const flush = (): void => {
        while (isWritable && waiting.length > 0) {
          const piece = waiting.shift() as Uint8Array;
          res.cork(() => {
            isWritable = res.write(piece);
          });
        }
        if (!isLast || waiting.length > 0 || !isWritable || ended) return;
        ended = true;
        res.cork(() => res.end());
      };
      res.onAborted(() => {
        ended = true;
      });
      res.onWritable(() => {
        isWritable = true;
        setImmediate(flush);
        return true;
      });
      res.onData((chunk, last) => {
        const bytes = new Uint8Array(chunk.slice(0));
        for (let at = 0; at < bytes.length; at += 15_000) waiting.push(bytes.subarray(at, at + 15_000));
        isLast = last;
        setImmediate(flush);
      });
    });
    return new Promise((resolve) => {
      app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
        if (socket !== false) resolve(uws.us_socket_local_port(socket));
      });
    });
  },

  kernel: async () => {
    const library = await Hexcodes.load();
    const { kernel } = library;
    const { capacity, input, inputBytes, output, exports } = kernel;
    process.on('message', (work: KernelWork | 'cpu') => {
      if (work === 'cpu') return;
      const { operation, points, pairsDeg } = work;
      const records = operation === 'decode' ? recordsOf(pairsDeg) : undefined;
      const blocks = Math.floor(pairsDeg.length / (2 * capacity));
      for (let done = 0, block = 0; done < points; done += capacity, block = (block + 1) % blocks) {
        if (records === undefined) {
          input.set(pairsDeg.subarray(2 * capacity * block, 2 * capacity * (block + 1)));
          exports.encodeBatch(capacity, 13);
        } else {
          inputBytes.set(records.subarray(output.length * block, output.length * (block + 1)));
          exports.decodeBatch(capacity);
        }
      }
      process.send?.({ done: true });
    });

    let kept: Uint8Array | undefined;
    function recordsOf(pairsDeg: Float64Array): Uint8Array {
      kept ??= library.encodeBatch(pairsDeg);
      return kept;
    }
    return 1;
  },
};

process.on('message', (what) => {
  if (what !== 'cpu') return;
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: await STARTERS[process.argv[2] as BulkProcess]() });
