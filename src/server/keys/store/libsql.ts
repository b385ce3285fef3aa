// Loads libsql. It asks Node for a report of the process, to know which libc there is, and a report with the interfaces
// of the network looks up their names: 12 ms of CPU in each thread, and 160 ms where no server of names answers.
import type { report } from 'node:process';
import type Libsql from 'libsql';

export type { Libsql };

const reports = process.report as typeof report & { excludeNetwork: boolean };
reports.excludeNetwork = true;

export const Database = (await import('libsql')).default;
