// A process on the core of the server: works for as many milliseconds as a message says, and answers with the time of a
// piece.
import { measureWorkUs } from './machine.js';

process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => {});
process.on('message', (ms: number) => process.send?.({ workUs: measureWorkUs(ms) }));
process.send?.({ workUs: measureWorkUs(1) });
