// The columns of GeoJSON features: position, id and properties.

import { badInput } from '../../file-faults.js';
import type { JsonDocument, RowFit, TableColumn } from '../table.js';
import { jsonText } from '../values/exact-json.js';
import { FieldSurvey, surveyedValue } from './json-columns.js';

const POSITION_COLUMNS: readonly TableColumn[] = [
  { name: 'lat', kind: 'double' },
  { name: 'lng', kind: 'double' },
];

/** Facts about all features, from a survey. */
export interface KnownFeatures {
  readonly columns: readonly TableColumn[];
  readonly idName: IdName;
}

/** The column of feature ids: another than `id` where features have a property of this name and another value. */
type IdName = 'id' | 'feature_id';

/** @param fit whether kinds are those of a target with types */
export function knownOf(documents: readonly JsonDocument[], fit: RowFit): KnownFeatures {
  const survey = new FeatureSurvey();
  survey.add(documents, fit === 'types');
  const known = survey.known(fit === 'types');
  // Documents that are passed on hold both ids.
  return fit === 'any' ? { ...known, idName: 'id' } : known;
}

/** The columns of all features of several inputs, for a target with types. */
export async function surveyGeoJson(batches: AsyncIterable<JsonDocument[]>): Promise<KnownFeatures> {
  const survey = new FeatureSurvey();
  for await (const documents of batches) survey.add(documents, true);
  return survey.known(true);
}

class FeatureSurvey {
  readonly #withId = new FieldSurvey();
  readonly #properties = new FieldSurvey();
  readonly #ids = new FieldSurvey();
  #isTwofold = false;

  add(documents: readonly JsonDocument[], isTyped: boolean): void {
    for (const document of documents) {
      const feature = isTyped ? surveyedValue(document) : document.value;
      const properties = tableProperties(feature);
      if (feature.id !== undefined) this.#ids.add({ feature_id: feature.id });
      if (hasOtherId(feature)) this.#isTwofold = true;
      this.#properties.add(properties);
      this.#withId.add(feature.id === undefined ? properties : { id: feature.id, ...properties });
    }
  }

  known(isTyped: boolean): KnownFeatures {
    if (!this.#isTwofold)
      return { idName: 'id', columns: [...POSITION_COLUMNS, ...this.#withId.columns(isTyped)] };
    const columns = [...this.#ids.columns(isTyped), ...this.#properties.columns(isTyped)];
    return { idName: 'feature_id', columns: [...POSITION_COLUMNS, ...columns] };
  }
}

function hasOtherId(feature: Record<string, unknown>): boolean {
  const properties = propertiesOf(feature);
  if (feature.id === undefined || !Object.hasOwn(properties, 'id')) return false;
  return jsonText(feature.id) !== jsonText(properties.id);
}

/**
 * A feature as the fields of a row, but for its position.
 * @throws CliFailure BAD_INPUT if it is none, or if the table has one column for two ids
 */
export function rowOf(
  document: JsonDocument,
  { idName, fit }: { idName: IdName; fit: RowFit },
  file: string,
  row: number,
): Record<string, unknown> {
  const { value } = document;
  if (value.type !== 'Feature') {
    throw badInput({ file, row }, `not a GeoJSON feature: ${document.text.slice(0, 40)}`);
  }
  const properties = tableProperties(value);
  if (value.id === undefined) return properties;
  if (idName === 'feature_id') return { feature_id: value.id, ...properties };
  if (fit !== 'any' && hasOtherId(value)) {
    throw badInput(
      { file, row, column: 'id' },
      `the feature's id ${jsonText(value.id)} is not its property id ${jsonText(propertiesOf(value).id)}`,
      'Write GeoJSON or NDJSON, which hold both.',
    );
  }
  return { id: value.id, ...properties };
}

/** Properties that become columns: a position is that of the geometry. */
function tableProperties(feature: Record<string, unknown>): Record<string, unknown> {
  const { lat: _lat, lng: _lng, ...properties } = propertiesOf(feature);
  return properties;
}

export function propertiesOf(feature: Record<string, unknown>): Record<string, unknown> {
  const properties = feature.properties;
  return typeof properties === 'object' && properties !== null ? (properties as Record<string, unknown>) : {};
}
