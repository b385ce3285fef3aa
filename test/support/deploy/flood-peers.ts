// Peers without a key before a proxy, as a process of their own: `node build/test/support/deploy/flood-peers.js FIRST
// COUNT ADDRESSES BACK_MS`. They are the peers FIRST and following of a flood from ADDRESSES addresses of 127.0.2.0 and
// above: a quarter says nothing, one sends half a head, one asks for the page and one for a code with a key that is
// none. Each comes back BACK_MS after it is closed. Ends with its input.
import { connect as connectPlain, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { connect, createSecureContext } from 'node:tls';

const PORT = 443;
const ASK_MS = 5000;
const HALF_HEAD = 'GET / HTTP/1.1\r\nHost: a\r\n';
const PAGE = `${HALF_HEAD}\r\n`;
const GUESS =
  'GET /v1/hexcodes/encode?lat=21.0288&lng=105.8525 HTTP/1.1\r\nHost: a\r\nX-API-Key: guessed\r\n\r\n';
/** Texts that the kinds send over TLS; the first never begins with it. */
const KINDS = [
  undefined,
  { text: HALF_HEAD, repeats: false },
  { text: PAGE, repeats: true },
  { text: GUESS, repeats: true },
];

/** One for all: to make it takes as long as a handshake. */
const secureContext = createSecureContext();
const [first = 0, count = 0, addresses = 1, backMs = 0] = process.argv.slice(2).map(Number);
process.stdin.on('end', () => process.exit(0)).resume();
for (let n = first; n < first + count; n++) {
  const address = n % addresses;
  open(n, `127.0.${2 + (address >> 7)}.${1 + (address & 127)}`);
  await nextTurn();
}

function open(n: number, localAddress: string): void {
  const where = { port: PORT, host: '127.0.0.1', localAddress };
  const kind = KINDS[n % KINDS.length];
  const socket: Socket =
    kind === undefined
      ? connectPlain(where)
      : connect({ ...where, secureContext, rejectUnauthorized: false });
  socket.on('error', () => {});
  socket.resume();
  let timer: NodeJS.Timeout | undefined;
  socket.once('secureConnect', () => {
    socket.write(kind!.text);
    if (kind!.repeats) timer = setInterval(() => socket.write(kind!.text), ASK_MS);
  });
  socket.once('close', () => {
    clearInterval(timer);
    void sleep(backMs).then(() => open(n, localAddress));
  });
}
