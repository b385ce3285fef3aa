// The tasks that proxied.ts puts to two nodes behind a proxy. Each says how much it did and names every fault.
import type { Task } from './task.js';
import { sendBodies } from './task-bodies.js';
import { callBesideFlood } from './task-flood.js';
import { forgeAddresses } from './task-forged.js';
import { killNodes } from './task-killed.js';
import { sendOrdinary } from './task-ordinary.js';
import { reportPaced } from './task-paced.js';
import { sendRefused } from './task-refused.js';
import { saturate } from './task-saturated.js';
import { closeStreams } from './task-streams.js';

export const TASKS = {
  bodies: sendBodies,
  flood: callBesideFlood,
  forged: forgeAddresses,
  killed: killNodes,
  ordinary: sendOrdinary,
  paced: reportPaced,
  refused: sendRefused,
  saturated: saturate,
  streams: closeStreams,
} satisfies Record<string, Task>;

export type TaskName = keyof typeof TASKS;
