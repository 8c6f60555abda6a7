// KindLists: pages, objects and search results of one kind under `/kapis`. The callers check the permissions.

import { hash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { newNotFound } from '../../apis/meta/v1/errors.ts';
import { QueryDecoder } from '../../apis/meta/v1/query-decoder.ts';
import { type IncludedObject, NO_QUERY_SCHEMA } from '../../apis/resources/v1alpha3/resource-query.ts';
import type { CallerScope } from '../authorization/namespace-scopes.ts';
import type { ObjectSnapshot } from '../cache/object-snapshot.ts';
import type { CachedObject, ObjectIdentity } from '../cache/resource-cache.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type { Task, TimeSlicer, TimeSlices } from '../concurrency/time-slicer.ts';
import { joined } from '../http/response-writer.ts';
import type { RequestContext } from '../request/request-context.ts';
import { hasQuery, searchIn } from '../request/request-path.ts';
import { exactName, type Kind } from '../resources/kind.ts';
import type { ListedKind } from '../resources/kinds/followed-kind.ts';
import { columnsJSON } from '../resources/list-columns.ts';
import { type Facets, facetsOf } from '../resources/lists/facets.ts';
import { allOf, labelFilter } from '../resources/lists/list-filter.ts';
import { bestMatches, type Matches } from '../resources/lists/text-search.ts';
import type { ObjectFacts } from '../resources/object-facts.ts';
import { framed } from '../rest/representation.ts';
import { ListQueries, type ListQuery, type ReadQuery } from './list-queries.ts';
import { type LivePage, LivePages } from './live-pages.ts';
import {
  headersWith,
  isShort,
  lineOf,
  pageTag,
  respondedNotModified,
  sliced,
  wholeBody,
  withoutNewline,
  writeBytes,
  writeLong,
} from './platform-body.ts';
import { type ComputedAnnotations, PlatformItem } from './platform-item.ts';

interface KindListsOptions<Facts extends ObjectFacts> {
  readonly listed: ListedKind<Facts>;
  /** Path of the group and version, for instance `/kapis/resources.platform.io/v1alpha3`. */
  readonly path: string;
  /** The `apiVersion` of lists. */
  readonly apiVersion: string;
  readonly slicer: TimeSlicer;
  /** Bodies of recently requested short pages, shared by all kinds. */
  readonly bodies: LRUCache<string, Buffer>;
  /** Annotations that are computed for each response and not stored in the cluster. */
  readonly computed?: ComputedAnnotations<Facts>;
}

/** The namespaces of a list. */
export interface ListScope {
  /** Sorted; undefined for all objects. */
  readonly namespaces: readonly string[] | undefined;
  /** True if the list lacks namespaces because of the permissions of the caller. */
  readonly partial: boolean;
  /** Labels that all objects of the list have. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** The lists of a kind, for any type of facts. */
export interface PlatformLists {
  readonly kind: Kind;
  /** Reads the query of a list. Throws BadRequest with all validation errors. */
  read(context: RequestContext): ReadQuery;
  /** Writes a page, or 304 if the client has it. */
  list(context: RequestContext, scope: ListScope): Promise<void>;
  /** Writes one object, or 304 if the client has it. `key`: `name` or `namespace/name`. */
  get(context: RequestContext, key: string, name: string): void;
  /** Returns the page of a live list. */
  livePage(context: RequestContext, scope: ListScope): Promise<LivePage>;
  search(text: string, scope: CallerScope, limit: number, task: Task): Promise<Matches<ObjectFacts>>;
  /** Returns the path of an object. */
  link(object: { readonly name: string; readonly namespace: string }): string;
  /** Calls `changed` after each change of the objects, until the returned function is called. */
  onChange(changed: () => void): () => void;
}

/** The kinds that can be listed. */
export interface ServedKinds {
  /** Throws NotFound for an unknown resource. */
  resolve(resource: string, call: CallContext): Promise<Kind> | Kind;
  /**
   * Returns the lists of a kind after its first list, when they contain the writes of the caller. Throws ServiceUnavailable if
   * this takes too long.
   */
  lists(kind: Kind, caller: Caller): Promise<PlatformLists> | PlatformLists;
}

export type Caller = Pick<RequestContext, 'user' | 'signal'>;

/** A page, with everything that its response depends on. The bytes of its objects are looked up only for a new body. */
interface Page<Facts> {
  readonly snapshot: ObjectSnapshot<Facts>;
  readonly identities: readonly ObjectIdentity<Facts>[];
  /** Number of objects on all pages. */
  readonly total: number;
  readonly facets: Facets | undefined;
  readonly partial: boolean;
  readonly included: IncludedObject;
  /** What the cells depend on, besides the objects; undefined for a page without columns. */
  readonly columns: string | undefined;
  /** Quoted. */
  readonly tag: string;
}

/** Objects between checks of the time slice. */
const STEPS = 256;
/**
 * The computation of a page that several live lists share. It does not end with one of them, and does not wait behind the other
 * tasks of its first caller. The seats of live pages share it fairly.
 */
const LIVE_PAGES: Required<Task> = { caller: 'live pages', signal: new AbortController().signal };

export class KindLists<Facts extends ObjectFacts> implements PlatformLists {
  readonly #options: KindListsOptions<Facts>;
  readonly #queries: ListQueries<Facts>;
  readonly #noQuery = new QueryDecoder(NO_QUERY_SCHEMA);
  readonly #item: PlatformItem<Facts>;
  readonly #columns: string;
  readonly #live = new LivePages();

  constructor(options: KindListsOptions<Facts>) {
    this.#options = options;
    const { listed, path, computed } = options;
    const { kind } = listed;
    this.#queries = new ListQueries(listed);
    this.#columns = JSON.stringify([kind.custom?.revision, listed.profile.listColumns]);
    this.#item = new PlatformItem({ path, resource: exactName(kind) }, listed.head, computed);
  }

  get kind(): Kind {
    return this.#options.listed.kind;
  }

  read(context: RequestContext): ListQuery<Facts> {
    return this.#queries.of(searchIn(context.request.url ?? ''));
  }

  async list(context: RequestContext, scope: ListScope): Promise<void> {
    const page = await this.#page(this.read(context), scope, context);
    if (respondedNotModified(context, page.tag)) return;
    const { bodies, slicer } = this.#options;
    const slices = slicer.of(context);
    const headers = headersWith(page.tag);
    const key = this.#bodyKey(page);
    const known = bodies.get(key);
    if (known) return writeBytes(context, headers, known);
    const objects = await this.#objects(page, slices);
    const parts = this.#parts(page, objects);
    if (!isShort(objects, page.included)) return writeLong(context, headers, lineOf(parts), slices);
    const body = wholeBody(parts);
    bodies.set(key, body);
    writeBytes(context, headers, body);
  }

  get(context: RequestContext, key: string, name: string): void {
    if (hasQuery(context.request)) this.#noQuery.decode(context.query);
    const { listed } = this.#options;
    const object = listed.snapshot().get(key);
    if (!object) throw newNotFound({ group: this.kind.group, resource: this.kind.plural }, name);
    const tag = `"${hash('sha256', this.#item.state(object), 'base64url')}"`;
    if (respondedNotModified(context, tag)) return;
    writeBytes(context, headersWith(tag), wholeBody(this.#item.parts(object)));
  }

  async #page(
    query: ListQuery<Facts>,
    { namespaces, partial, labels }: ListScope,
    task: Required<Task>,
  ): Promise<Page<Facts>> {
    const { listed, slicer } = this.#options;
    const slices = slicer.of(task);
    const filter = labels ? allOf([query.filter, labelFilter<Facts>(labels)]) : query.filter;
    const { sortBy, ascending } = query;
    const sorting = { ...query, filter, namespaces };
    const { snapshot, objects: sorted } = await listed.index.sorted(() => listed.snapshot(), sorting, task);
    const total = sorted.length;
    const limit = query.limit < 0 ? total : query.limit;
    const first = Math.min((query.page - 1) * limit, total);
    const last = Math.min(first + limit, total);
    const identities = ascending
      ? sorted.slice(first, last)
      : sorted.slice(total - last, total - first).reverse();
    const columns = query.columns ? this.#columns : undefined;
    const included = query.includeObject ?? 'Object';
    const facets = query.facets ? await facetsOf(sorted, query.facets, slices) : undefined;
    return {
      snapshot,
      identities,
      total,
      facets,
      partial,
      included,
      columns,
      tag: await pageTag(
        this.#item,
        identities,
        [total, facets, partial, sortBy, ascending, included, columns],
        slices,
      ),
    };
  }

  async #objects(
    { snapshot, identities }: Page<Facts>,
    slices: TimeSlices,
  ): Promise<readonly CachedObject<Facts>[]> {
    const objects: CachedObject<Facts>[] = [];
    for (const { key } of identities) {
      const object = snapshot.get(key);
      if (object) objects.push(object);
      if (objects.length % STEPS === 0 && slices.spent) await slices.next();
    }
    return objects;
  }

  livePage(context: RequestContext, scope: ListScope): Promise<LivePage> {
    const query = this.read(context);
    const { listed, computed } = this.#options;
    // Computed annotations change without the objects.
    if (computed) return this.#livePage(query, scope, context);
    const key = JSON.stringify([searchIn(context.request.url ?? ''), scope]);
    return this.#live.of(listed.snapshot(), key, () => this.#livePage(query, scope, LIVE_PAGES));
  }

  async #livePage(query: ListQuery<Facts>, scope: ListScope, task: Required<Task>): Promise<LivePage> {
    const page = await this.#page(query, scope, task);
    return {
      tag: page.tag,
      objects: page.identities.length,
      json: (reader) => this.#line(page, reader),
    };
  }

  async *#line(page: Page<Facts>, reader: Task): AsyncGenerator<Buffer> {
    const { bodies, slicer } = this.#options;
    const slices = slicer.of(reader);
    const key = this.#bodyKey(page);
    const known = bodies.get(key);
    if (known) {
      yield withoutNewline(known);
      return;
    }
    const objects = await this.#objects(page, slices);
    const parts = this.#parts(page, objects);
    if (isShort(objects, page.included)) {
      const body = wholeBody(parts);
      bodies.set(key, body);
      yield withoutNewline(body);
      return;
    }
    yield* sliced(joined(parts), slices);
  }

  /** The tag does not contain the resourceVersion of the list: the body can have an earlier one with the same page. */
  #bodyKey({ tag }: Page<Facts>): string {
    return `${this.#options.apiVersion} ${this.kind.plural} ${tag}`;
  }

  search(text: string, scope: CallerScope, limit: number, task: Task): Promise<Matches<Facts>> {
    const { listed, slicer } = this.#options;
    return bestMatches(
      listed.snapshot(),
      text,
      scope.everything ? undefined : scope.namespaces.map(({ name }) => name),
      limit,
      slicer.of(task),
    );
  }

  onChange(changed: () => void): () => void {
    return this.#options.listed.onChange(changed);
  }

  link(object: { readonly name: string; readonly namespace: string }): string {
    return this.#item.link(object);
  }

  /** Yields the JSON of a page, as one line. */
  *#parts(
    { snapshot, total, facets, partial, included, columns }: Page<Facts>,
    objects: readonly CachedObject<Facts>[],
  ): Generator<Buffer> {
    const start = JSON.stringify({
      kind: `${this.kind.kind}List`,
      apiVersion: this.#options.apiVersion,
      metadata: { resourceVersion: snapshot.resourceVersion },
    });
    const more = { totalItems: total, ...(facets ? { facets } : {}), ...(partial ? { partial } : {}) };
    const frame = { start: Buffer.from(`${start.slice(0, -1)},"items":[`), end: ITEMS_END };
    yield* framed(frame, objects, (object) => this.#item.parts(object, included));
    if (columns) yield* columnsJSON(this.#options.listed.profile.listColumns, objects);
    yield Buffer.from(`,${JSON.stringify(more).slice(1)}`);
  }
}

const ITEMS_END = Buffer.from(']');
