// The answers of the client's calls, each a union by `status` where more than one thing can come (docs/http.md).
// Positions are `lat` and `lng` in degrees, WGS 84; `admin_code` is a code of ADMIN_UNITS of the library.
import type { Fault } from './errors.js';

/** A position has a code: of `encode`. */
export interface EncodeAnswer {
  readonly hexcodes: string;
  readonly lat: number;
  readonly lng: number;
  readonly resolution: number;
  readonly admin_code: string;
  /** The province before July 2025, where asked for. */
  readonly former_province?: string;
  /** Whole metres to the nearest border between two provinces, null beyond 5 km, where `certainty` asks for it. */
  readonly border_m?: number | null;
  /**
   * The share of positions at this distance from a border whose province is right, 0 to 1, where `certainty` asks for
   * it; null where the service's boundaries have no shares.
   */
  readonly certainty?: number | null;
  readonly status: 'OK';
}

/** The centre of a hexcode's cell: of `decode`. */
export interface DecodedAnswer {
  readonly lat: number;
  readonly lng: number;
  readonly resolution: number;
  /** The text as it was sent. */
  readonly hexcodes: string;
  readonly status: 'OK';
}

/** A text that is not a hexcode: of `decode`. */
export interface InvalidAnswer {
  readonly lat: null;
  readonly lng: null;
  readonly resolution: null;
  /** The text as it was sent. */
  readonly hexcodes: string;
  readonly status: 'INVALID_HEXCODES';
}

/** The answer of `decode`. An invalid code is an answer, not an error. */
export type DecodeAnswer = DecodedAnswer | InvalidAnswer;

/** The `id` of an item, repeated by its result. */
export interface ItemId {
  readonly id?: string | number;
}

/** A point of `encodeBatch` in no province of Viet Nam nor its sea. */
export interface OutsideResult extends ItemId {
  readonly hexcodes: null;
  readonly lat: number;
  readonly lng: number;
  readonly resolution: number;
  readonly admin_code: null;
  readonly former_province?: null;
  readonly border_m?: null;
  readonly certainty?: null;
  readonly status: 'OUTSIDE_COVERAGE';
  readonly message: string;
}

/** An invalid point of `encodeBatch`; the fields that were understood are not null. */
export interface InvalidPointResult extends ItemId {
  readonly hexcodes: null;
  readonly lat: number | null;
  readonly lng: number | null;
  readonly resolution: number | null;
  readonly admin_code: null;
  readonly former_province?: null;
  readonly border_m?: null;
  readonly certainty?: null;
  readonly status: 'INVALID_REQUEST';
  readonly message: string;
  readonly details: readonly Fault[];
}

/** The result of one point of `encodeBatch`. */
export type EncodeBatchResult = (EncodeAnswer & ItemId) | OutsideResult | InvalidPointResult;

/** An item of `decodeBatch` that is not text, or an empty one. */
export interface InvalidItemResult extends ItemId {
  readonly lat: null;
  readonly lng: null;
  readonly resolution: null;
  readonly hexcodes: null;
  readonly status: 'INVALID_REQUEST';
  readonly message: string;
  readonly details: readonly Fault[];
}

/** The result of one item of `decodeBatch`. */
export type DecodeBatchResult = (DecodeAnswer & ItemId) | InvalidItemResult;

/** The answer to a batch: one result an item, in the order of the items. */
export interface BatchAnswer<Result> {
  readonly status: 'OK';
  readonly summary: { readonly total: number; readonly ok: number; readonly failed: number };
  readonly results: readonly Result[];
}

/** GeoJSON (RFC 7946), longitude first. */
export interface BoundaryFeature<Type extends string, Coordinates, Properties> {
  readonly type: 'Feature';
  readonly geometry: { readonly type: Type; readonly coordinates: Coordinates };
  readonly properties: Properties;
}

type Ring = readonly (readonly [lng: number, lat: number])[];

/** The content of a code: of `read`. */
export interface CodeInfo {
  readonly status: 'OK';
  /** Canonical hexcode. */
  readonly hexcodes: string;
  readonly resolution: number;
  readonly admin_code: string;
  /** Name of the province. */
  readonly province: string;
  /** H3 index of the cell in hexadecimal. */
  readonly h3_cell: string;
  /** Centre of the cell. */
  readonly lat: number;
  readonly lng: number;
  /** Area of the cell, square metres. */
  readonly area_m2: number;
  /** Mean length of its edges, metres. */
  readonly edge_m: number;
  readonly boundary: BoundaryFeature<
    'Polygon',
    readonly Ring[],
    { readonly hexcodes: string; readonly resolution: number; readonly admin_code: string }
  >;
  /** The code one resolution coarser, of the same province; null at resolution 0. */
  readonly parent: string | null;
  /** Up to six codes of the same resolution. */
  readonly neighbors: readonly string[];
}

/** The answer of `read`. */
export type ReadAnswer =
  | CodeInfo
  | { readonly status: 'INVALID_HEXCODES'; readonly hexcodes: string; readonly message: string };

/** A valid code that a mistyped text may stand for: of `suggest`. */
export interface SuggestedCode {
  readonly hexcodes: string;
  readonly resolution: number;
  readonly admin_code: string;
  /** Centre of the cell. */
  readonly lat: number;
  readonly lng: number;
  /** The slip that turns this code into the text. */
  readonly slip: 'none' | 'twin' | 'swap' | 'substitution' | 'extra' | 'missing' | 'province';
  /** From `near` to the cell's centre, metres; absent without `near`. */
  readonly distance_m?: number;
}

/** One of the 34 provinces: of `adminUnits`. */
export interface AdminUnitRow {
  readonly admin_code: string;
  readonly name: string;
  /** The provinces before the merger of 2025 that it consists of. */
  readonly merged_units: readonly string[];
}

/** One province with everything that the service attributes to it, its sea included: of `adminUnit`. */
export interface AdminUnitAnswer extends AdminUnitRow {
  readonly status: 'OK';
  readonly boundary: BoundaryFeature<'MultiPolygon', readonly (readonly Ring[])[], AdminUnitRow>;
  /** The line to show wherever the boundary is shown. */
  readonly notice: string;
}

/** Versions and the source of the boundaries: of `meta`. */
export interface MetaAnswer {
  readonly status: 'OK';
  readonly service: { readonly name: string; readonly version: string };
  readonly code_format: number;
  readonly transport: { readonly name: string; readonly version: string };
  readonly boundary_data: {
    readonly source: string;
    readonly date: string;
    readonly licence: string;
    readonly notice: string;
    readonly sha256: string;
    /**
     * The `certainty` of distances to a border below `below_m`, null for the last band; absent where none was
     * measured.
     */
    readonly bands?: readonly { readonly below_m: number | null; readonly certainty: number }[];
    /** A description in English of the reference that the shares were measured against. */
    readonly bands_note?: string;
  };
}
