// Every door that a machine with Node alone has, driven from one table of positions, texts, numbers and files.
import { DOORS } from '../support/doors/doors.js';
import { drive } from '../support/doors/drive.js';

drive(DOORS);
