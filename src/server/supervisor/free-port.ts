// Whether a port is free, asked by taking it for a moment. The processes of the service share theirs, so none of them
// would notice that a stranger's process, or another service of the same user, listens on it already.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { listenSentence } from '../listen-fault.js';

/** Resolves to the number of the port (0: any free one); rejects with a sentence if it cannot be had. */
export async function probePort(host: string, port: number): Promise<number> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Error(listenSentence({ host, port, use: 'the service' }, error as Error));
  }
  const taken = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return taken;
}
