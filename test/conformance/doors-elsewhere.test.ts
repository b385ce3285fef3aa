// The doors that need a bus, a database or another language, driven from the same table as doors.test.ts.
import { drive } from '../support/doors/drive.js';
import { ELSEWHERE } from '../support/doors/elsewhere.js';

drive(ELSEWHERE);
