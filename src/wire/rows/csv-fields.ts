// The fields of one CSV row as texts, for header rows and for the few rows whose answers need them.
import { parse } from 'csv-parse/sync';

/** The fields of a row without its line end; undefined where a quoted field has no end. */
export function csvFields(text: string, delimiter: number): string[] | undefined {
  try {
    const rows = parse(text, {
      delimiter: String.fromCharCode(delimiter),
      record_delimiter: ['\r\n', '\n'],
      relax_quotes: true,
      relax_column_count: true,
    });
    return rows.length === 0 ? [''] : rows[0];
  } catch {
    return undefined;
  }
}
