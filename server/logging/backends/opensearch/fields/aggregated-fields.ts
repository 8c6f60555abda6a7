// Where fields that hold whole values are aggregated over. A store does not build an aggregation over analysed text, even
// where no document would take part in it; so where a field is that in some of the indices, the others are named.
import { ROOM_FOR_NAMES } from '../connection/first-line.ts';
import type { FieldCoverage } from './field-map.ts';

export interface AggregatedFields {
  /** Part of a path. */
  readonly indices: string;
  readonly fields: readonly string[];
}

/** One question for each: the first is about all of `indices`, and perhaps no field; almost always the only one. */
export function aggregatedFields(indices: string, { fields }: FieldCoverage): AggregatedFields[] {
  const everywhere = fields.filter((field) => field.indices === undefined).map(({ name }) => name);
  const elsewhere = fields.flatMap((field) =>
    paths(field.indices ?? []).map((path) => ({ indices: path, fields: [field.name] })),
  );
  return [{ indices, fields: everywhere }, ...elsewhere];
}

/** All the names, as many of them together as a path has room for. */
function paths(names: readonly string[]): string[] {
  const found: string[] = [];
  for (const name of names.map(encodeURIComponent)) {
    const last = found.at(-1);
    if (last === undefined || last.length + name.length >= ROOM_FOR_NAMES) found.push(name);
    else found[found.length - 1] = `${last},${name}`;
  }
  return found;
}
