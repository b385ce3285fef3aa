// The doors that need a bus, a database or another language, driven from the same table as doors.test.ts.
import { DOORS } from '../support/doors/doors.js';
import { drive } from '../support/doors/drive.js';

drive(DOORS.filter(({ isHeavy }) => isHeavy));
