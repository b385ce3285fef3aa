// The library for Node.
export { ADMIN_UNITS, type AdminUnit } from './admin-units.js';
export { HexcodesError, type HexcodesErrorCode } from './errors.js';
