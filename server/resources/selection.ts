// The selection of a list or watch request: namespace, label selector and field selector.
import { newBadRequest, newExpired } from '../../apis/meta/v1/errors.ts';
import type { FieldRequirement } from '../../apis/meta/v1/field-selector.ts';
import type { ListOptions } from '../../apis/meta/v1/list-options.ts';
import type { CachedObject, Snapshot, WatchEvent, WatchEventType } from '../cache/resource-cache.ts';
import type { ResourceDefinition } from './resource-definition.ts';

type Test<Facts> = (object: CachedObject<Facts>) => boolean;

function fieldReader<Facts>(
  definition: ResourceDefinition<Facts>,
  field: string,
): (object: CachedObject<Facts>) => string {
  if (field === 'metadata.name') return (object) => object.name;
  if (field === 'metadata.namespace' && definition.namespaced) return (object) => object.namespace;
  const own = Object.hasOwn(definition.fields, field) ? definition.fields[field] : undefined;
  if (!own) throw newBadRequest(`field label not supported: ${field}`);
  return own;
}

/** Fields that are always exact. */
const IDENTITY: ReadonlySet<string> = new Set(['metadata.name', 'metadata.namespace']);
const INEXACT = 'An object has a value that only kube-apiserver knows exactly.';

export class Selection<Facts> {
  /** True if all objects are selected. */
  readonly everything: boolean;
  /** True if the request has no selectors. As in kube-apiserver, remainingItemCount requires this. */
  readonly countable: boolean;
  /** Empty for all namespaces. */
  readonly namespace: string;
  readonly #tests: readonly Test<Facts>[];

  /**
   * Throws BadRequest for a field that the resource does not support. `isTable`: the caller also reads the cells. Then, and
   * with fields, the selection throws Expired at an object that is not exact.
   */
  constructor(
    definition: ResourceDefinition<Facts>,
    options: Pick<ListOptions, 'labelSelector' | 'fieldSelector'>,
    namespace: string,
    isTable = false,
  ) {
    const { labelSelector } = options;
    const tests: Test<Facts>[] = [];
    const inexact: Test<Facts>[] = [];
    for (const [field, passes] of fieldTests(options.fieldSelector)) {
      const read = fieldReader(definition, field);
      (IDENTITY.has(field) ? tests : inexact).push((object) => passes(read(object)));
    }
    if (labelSelector.requirements.length > 0) tests.push(({ labels }) => labelSelector.matches(labels));
    this.countable = tests.length + inexact.length === 0;
    if (namespace !== '') tests.unshift((object) => object.namespace === namespace);
    this.namespace = namespace;
    const { isExact } = definition;
    if (isExact && (isTable || inexact.length > 0)) {
      inexact.unshift((object) => {
        if (!isExact(object)) throw newExpired(INEXACT);
        return true;
      });
    }
    this.#tests = [...tests, ...inexact];
    this.everything = this.#tests.length === 0;
  }

  /** Yields the objects of the namespace with keys after `after`, which the caller tests. They are neighbours in the snapshot. */
  *candidates(snapshot: Pick<Snapshot<Facts>, 'objects'>, after = ''): Generator<CachedObject<Facts>> {
    const { namespace } = this;
    const before = namespace === '' ? '' : `${namespace}/`;
    for (const object of snapshot.objects(after > before ? after : before)) {
      if (namespace !== '' && object.namespace !== namespace) return;
      yield object;
    }
  }

  matches(object: CachedObject<Facts>): boolean {
    for (const test of this.#tests) if (!test(object)) return false;
    return true;
  }

  /** Returns the type of the event for a watcher with this selection; undefined if the watcher receives no event. */
  transition(event: WatchEvent<Facts>): WatchEventType | undefined {
    if (this.everything) return event.type;
    const before = event.previous ?? (event.type === 'DELETED' ? event.object : undefined);
    const was = before !== undefined && this.matches(before);
    const is = event.type !== 'DELETED' && this.matches(event.object);
    if (is) return was ? 'MODIFIED' : 'ADDED';
    return was ? 'DELETED' : undefined;
  }
}

/** Returns one test per field, whatever the number of its requirements, because the test runs for every object. */
export function fieldTests(
  requirements: readonly FieldRequirement[],
): ReadonlyMap<string, (value: string) => boolean> {
  const byField = Map.groupBy(requirements, ({ field }) => field);
  return new Map([...byField].map(([field, terms]) => [field, testOf(terms)]));
}

function testOf(terms: readonly FieldRequirement[]): (value: string) => boolean {
  const valuesOf = (equal: boolean): Set<string> =>
    new Set(terms.filter((term) => term.equal === equal).map(({ value }) => value));
  const [wanted, refused] = [valuesOf(true), valuesOf(false)];
  if (wanted.size === 0) return (value) => !refused.has(value);
  const [only] = wanted;
  if (wanted.size > 1 || only === undefined || refused.has(only)) return () => false;
  return (value) => value === only;
}
