// One abuser of the catalogue as a process: its name, the port and its key are the arguments. Sends a message once it
// runs, and its counts when it is told to stop; it goes when its parent does, and leaves the core to honest clients.
import { setPriority } from 'node:os';
import { abusersOf, Sender } from '../support/abusers.js';

const [name = '', port = '', key = ''] = process.argv.slice(2);
const abuse = abusersOf(key)[name];
if (abuse === undefined) throw new Error(`no abuser is called ${name}`);
setPriority(10);
const sender = new Sender(Number(port), abuse);
process.on('disconnect', () => process.exit());
process.on('message', () => {
  const { sentBytes, receivedBytes, cuts } = sender;
  process.send?.({ sentBytes, receivedBytes, cuts });
  sender.stop();
});
process.send?.('runs');
