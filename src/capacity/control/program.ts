// The control server in a process of its own: behaviour as JSON in the first argument, its port through the channel.
import { type Behaviour, startControlServer } from './control-server.js';

process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => {});
const { port } = await startControlServer(JSON.parse(process.argv[2]!) as Behaviour);
process.send?.({ port });
