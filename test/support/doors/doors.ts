// Every door of the project. A new one is an entry in a list here.

import { COMMAND } from './command.js';
import type { Door } from './door.js';
import { ELSEWHERE } from './elsewhere.js';
import { LIBRARY } from './library.js';
import { SERVICE } from './service.js';

export const DOORS: readonly Door[] = [...LIBRARY, ...SERVICE, ...COMMAND, ...ELSEWHERE];
