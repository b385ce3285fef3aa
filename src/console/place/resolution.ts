// The resolution of codes that are made here, 0 to 15.
import { DEFAULT_RESOLUTION } from '../../hexcodes/wire/params/resolution.js';
import { Value } from '../shell/value.js';

export const chosenResolution = new Value(DEFAULT_RESOLUTION);
