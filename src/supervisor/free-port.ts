// Whether a port is free, asked by taking it for a moment. The processes of the service share theirs, so none of them would
// notice that a stranger's process, or another service of the same user, listens on it already.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Resolves to the number of the port (0: any free one); rejects with a sentence if it cannot be had. */
export async function probePort(host: string, port: number): Promise<number> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch {
    throw new Error(`cannot listen on ${host}:${port}: the port is in use or the address is not ours`);
  }
  const taken = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return taken;
}
