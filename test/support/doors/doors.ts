// Every door that a machine with Node alone has. A new one is an entry in a list here, or in elsewhere.ts.

import { COMMAND } from './command.js';
import type { Door } from './door.js';
import { LIBRARY } from './library.js';
import { SERVICE } from './service.js';

export const DOORS: readonly Door[] = [...LIBRARY, ...SERVICE, ...COMMAND];
