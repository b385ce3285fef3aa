// A server that does nothing, in a process of its own, to find what the generator itself can: it answers HTTP requests
// without a body with a constant. It listens on a free port of the loopback, and tells it through the channel.
import { type AddressInfo, createServer } from 'node:net';

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok');
const REQUEST_END = '\r\n\r\n';

process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => {});
const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  let rest = '';
  socket.on('data', (bytes) => {
    const parts = (rest + bytes.toString('latin1')).split(REQUEST_END);
    rest = parts.pop()!;
    for (const _ of parts) socket.write(ANSWER);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
