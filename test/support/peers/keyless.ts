// Peers without a key, as a process of their own: `node build/test/support/peers/keyless.js PORT FROM COUNT ASK_MS`.
// Each asks every ASK_MS, and comes back when it is closed. Prints a line when all have connected for the first time;
// ends with its input.
import { KeylessPeers } from '../keyless-peers.js';

const [port = '', from = '', count = '', askMs = ''] = process.argv.slice(2);
const peers = new KeylessPeers(Number(port), from);
process.stdin.on('end', () => process.exit(0)).resume();
await peers.open(Number(count), Number(askMs), true);
console.log('all have connected');
