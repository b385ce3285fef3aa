// Holds WebSockets that send nothing, as a process of its own: port, key, how many, from which address. Sends a message
// once all are open, and how many are still open when it is asked; it goes when its parent does.
import WebSocket from 'ws';

const [port = '', key = '', count = '', localAddress = ''] = process.argv.slice(2);
/** Handshakes at the same time. */
const AT_ONCE = 50;

const sockets: WebSocket[] = [];
let next = 0;

async function openSome(): Promise<void> {
  while (next < Number(count)) {
    next++;
    await new Promise<void>((resolve, reject) => {
      const url = `ws://127.0.0.1:${port}/v1/hexcodes/stream`;
      const options = { headers: { 'X-API-Key': key }, localAddress, perMessageDeflate: false };
      const socket = new WebSocket(url, 'hexcodes.v1.binary', options);
      socket.on('error', reject);
      socket.once('message', () => resolve());
      sockets.push(socket);
    });
  }
}

process.on('message', () => {
  process.send?.({ open: sockets.filter(({ readyState }) => readyState === WebSocket.OPEN).length });
});
process.on('disconnect', () => process.exit());
await Promise.all(Array.from({ length: AT_ONCE }, openSome));
process.send?.('open');
