// Creates the profile of any kind except nodes: status, selectable fields and sort keys of lists.
import { record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ObjectIdentity } from '../../cache/resource-cache.ts';
import { SharedValues } from '../../memory/shared-values.ts';
import { exactName, type Kind } from '../kind.ts';
import { type Comparison, comparing, type KindProfile, ordered } from '../kind-profile.ts';
import { FactsReader, type ObjectFacts } from '../object-facts.ts';
import { columnValues } from './custom-columns.ts';
import { podRestarts } from './pod-status.ts';
import { OWN_FIELDS, selectableFields } from './selectable-fields.ts';
import { statusesOf, statusOf } from './status-words.ts';

export interface KindFacts extends ObjectFacts {
  /** Values of the fields that many objects share. */
  readonly fieldValues: readonly string[];
  /** Values of the fields that differ between objects, joined by NUL. */
  readonly ownValues: string;
  /** Values of the additional sort keys, in the order of the profile. A missing number is -Infinity. */
  readonly sortValues: readonly (string | number)[];
}

type Read<Value> = (object: unknown) => Value;

/** Returns the profile of a kind. `domain`: of the platform, for instance `platform.io`. */
export function kindProfile(kind: Kind, domain: string): KindProfile<KindFacts> {
  const reader = new FactsReader(domain);
  const fields = Object.entries(selectableFields(kind));
  const ownFields = fields.filter(([field]) => OWN_FIELDS.has(field));
  const sharedFields = fields.filter(([field]) => !OWN_FIELDS.has(field));
  const sharedValues = new SharedValues<readonly string[]>();
  const sorts = sortsOf(kind);
  const sortReads = [...sorts.values()];
  const sharedSorts = new SharedValues<KindFacts['sortValues']>();
  const status = statusOf(kind);
  const reads = Object.fromEntries([
    ...sharedFields.map(([field], i) => fieldOf(field, ({ fieldValues }) => fieldValues[i])),
    ...ownFields.map(([field], i) => fieldOf(field, ({ ownValues }) => ownValues.split('\0')[i])),
  ]);
  return {
    facts: (object) => {
      // Without a spread, which would take more memory for each object.
      const { createdAt, alias, annotations, owners, searchText } = reader.read(object);
      return {
        createdAt,
        alias,
        annotations,
        owners,
        searchText,
        status: reader.words(status(object)),
        fieldValues: sharedValues.json(sharedFields.map(([, read]) => read(object))),
        ownValues: ownFields.map(([, read]) => read(object)).join('\0'),
        sortValues: sharedSorts.json(sortReads.map((read) => read(object))),
      };
    },
    fields: reads,
    sortKeys: {
      ...Object.fromEntries([...sorts.keys()].map((name, i) => [name, bySortValue(i)])),
      ...(isPods(kind) && reads['spec.nodeName'] ? { node: comparing(reads['spec.nodeName']) } : {}),
    },
    statuses: statusesOf(kind),
    filters: {},
  };
}

function isPods(kind: Kind): boolean {
  return exactName(kind) === 'pods';
}

function fieldOf(
  field: string,
  read: (facts: KindFacts) => string | undefined,
): [field: string, read: (object: ObjectIdentity<KindFacts>) => string] {
  return [field, ({ facts }) => read(facts) ?? ''];
}

function sortsOf(kind: Kind): ReadonlyMap<string, Read<string | number>> {
  if (kind.custom) return columnValues(kind.custom.columns);
  if (isPods(kind)) return new Map([['restarts', podRestarts]]);
  if (isEvents(kind)) return new Map([['lastTimestamp', lastSeen]]);
  return new Map();
}

function isEvents(kind: Kind): boolean {
  return ['events', 'events.events.k8s.io'].includes(exactName(kind));
}

/** Returns the time of kubectl's column LAST SEEN, in ms since the epoch. A repeated event has its first creation time. */
function lastSeen(event: unknown): number {
  const { lastTimestamp, deprecatedLastTimestamp, eventTime } = record(event);
  const { lastObservedTime } = recordIn(event, 'series');
  const times = [lastObservedTime, lastTimestamp, deprecatedLastTimestamp, eventTime].map(text);
  const time = Date.parse(times.find((each) => each !== '') ?? '');
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}

function bySortValue(i: number): Comparison<KindFacts> {
  return (left, right) => {
    const [a, b] = [left.facts.sortValues[i] ?? '', right.facts.sortValues[i] ?? ''];
    if (typeof a === 'string' && typeof b === 'string') return ordered(a, b);
    if (typeof a === 'number' && typeof b === 'number') return ordered(a, b);
    // A column of numbers with a text in some objects: numbers first.
    return typeof a === 'number' ? -1 : 1;
  };
}
