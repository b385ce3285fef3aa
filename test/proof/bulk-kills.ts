// Workers killed 200 times while CSV bodies are answered: every answer whole, no row lost or doubled.
import type { Pool } from '#dist/pool/pool.js';
import { csvBody, dueAnswer, exchangeBulk } from '../support/bulk-bodies.js';
import { openKernel, randomFrom } from '../support/open-world.js';
import { startServer } from '../support/server.js';
import type { BulkProofOptions } from './bulk-part.js';

export default async function kills({ size = 200, seed }: BulkProofOptions): Promise<string> {
  let pool: Pool | undefined;
  const server = await startServer({}, undefined, {
    withPool: (made) => {
      pool = made;
    },
  });
  const random = randomFrom(seed);
  const body = csvBody(seed, 400_000);
  const due = dueAnswer(openKernel(), 'encode', 'csv', body);
  const request = { path: '/v1/hexcodes/encode/bulk', key: server.key, format: 'csv' } as const;
  let killed = 0;
  let bodies = 0;
  try {
    while (killed < size) {
      let running = true;
      const exchange = exchangeBulk(server.port, request, body).finally(() => {
        running = false;
      });
      while (running && killed < size) {
        await new Promise((resolve) => setTimeout(resolve, random() * 30));
        if (pool!.figures.blocks === 0) continue;
        const { completed } = pool!.figures;
        const { loadedWorkers } = pool!;
        const worker = loadedWorkers[Math.floor(random() * loadedWorkers.length)];
        if (worker === undefined) continue;
        await worker.terminate();
        killed++;
        // A block is tried three times: let those that were hit get through before the next blow.
        while (running && pool!.figures.completed < completed + 8) {
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }
      const peer = await exchange;
      if (!peer.isWhole || !peer.body.equals(due)) throw new Error(`answer ${bodies} is not what is due`);
      bodies++;
    }
    const { lostWorkers } = pool!.figures;
    return `${killed} workers killed under ${bodies} bodies of 400,000 rows, ${lostWorkers} blocks hit; every answer whole and equal`;
  } finally {
    await server.stop();
  }
}
