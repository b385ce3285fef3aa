// The control server in a process of its own: behaviour as JSON in the first argument, its port through the channel,
// and its delays as a histogram in base64 for every message.
import { type Behaviour, startControlServer } from './control-server.js';

process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => {});
const { port, delays } = await startControlServer(JSON.parse(process.argv[2]!) as Behaviour);
process.on('message', () => process.send?.({ delays: delays.encode() }));
process.send?.({ port });
