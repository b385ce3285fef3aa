// The bodies of the calls for servers that track vehicles, as JSON Schema: of Traccar, and in the shape of Nominatim.
import Type, { type TSchema } from 'typebox';
import { adminCode, answer, code, lat, lng, orNull, resolution, word } from './body-parts.js';

const knownNumber = Type.Optional(orNull(Type.Number()));
const time = orNull(
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:?\\d\\d)$' }),
);
const tracked = {
  id: Type.String({
    pattern: '^[0-9a-f]{32}$',
    description: 'The same where the position comes again; sinks get it, too',
  }),
  resolution,
  forwarded: Type.Boolean({ description: 'Whether it goes on to a sink' }),
};

export const TRACKER_BODIES: Readonly<Record<string, TSchema>> = {
  Reversed: answer({
    licence: Type.String({ description: 'The line to show wherever the boundaries are shown' }),
    lat: Type.String({ description: 'Centre of the cell, degrees north' }),
    lon: Type.String({ description: 'Centre of the cell, degrees east' }),
    name: code,
    display_name: Type.String({ description: 'Code, province, country' }),
    address: Type.Optional(
      answer({ state: Type.String(), country: word('Việt Nam'), country_code: word('vn') }),
    ),
    boundingbox: Type.Array(Type.String(), {
      minItems: 4,
      maxItems: 4,
      description: 'Of the cell: south, north, west, east',
    }),
    hexcodes: code,
    resolution,
    admin_code: adminCode,
    status: word('OK'),
  }),
  NotReversed: answer({ error: Type.Literal('Unable to geocode') }),
  TraccarRequest: Type.Object(
    {
      position: Type.Object({
        latitude: lat,
        longitude: lng,
        fixTime: Type.Optional(time),
        deviceTime: Type.Optional(time),
        serverTime: Type.Optional(time),
        ...{ speed: knownNumber, course: knownNumber, altitude: knownNumber, accuracy: knownNumber },
        valid: Type.Optional(orNull(Type.Boolean())),
        protocol: Type.Optional(orNull(Type.String())),
        attributes: Type.Optional(orNull(Type.Object({}))),
      }),
      device: Type.Object({
        uniqueId: Type.String({ minLength: 1, maxLength: 128 }),
        name: Type.Optional(orNull(Type.String())),
      }),
    },
    {
      examples: [
        {
          position: { fixTime: '2026-11-22T08:15:02.000+00:00', latitude: 21.0288, longitude: 105.8525 },
          device: { uniqueId: '860123456789012', name: '51C-123.45' },
        },
      ],
    },
  ),
  Tracked: answer({ ...tracked, hexcodes: code, admin_code: adminCode, status: word('OK') }),
  TrackedOutside: answer({
    ...tracked,
    hexcodes: Type.Null(),
    admin_code: Type.Null(),
    status: word('NOT_FOUND'),
  }),
};
