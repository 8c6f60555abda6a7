// Table columns of a kind. kube-apiserver describes the columns, because its versions differ; the profile of the kind computes
// the cells.
import { array, record, text } from '../../../apis/reading/unknown-value.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { LookupCache } from '../../memory/lookup-cache.ts';
import { exactName, type Kind, sourcePath } from '../../resources/kind.ts';
import type { FollowedKind } from '../../resources/kinds/followed-kind.ts';
import type { KindFacts } from '../../resources/profiles/kind-values.ts';
import type { Column } from '../../resources/resource-definition.ts';

interface TableColumnsOptions {
  /** A client with permission to list the kinds. */
  readonly client: Pick<ClusterClient, 'json'>;
  readonly signal: AbortSignal;
}

type Columns = readonly Column<KindFacts>[];

/** TTL of the descriptions in ms. An upgrade of kube-apiserver can change them. */
const TTL_MS = 60_000;
/** Timeout of a description in ms. Without it, the gateway forwards the read. */
const TIMEOUT_MS = 1_000;
const CACHED = 256;
const ACCEPT = 'application/json;as=Table;v=v1;g=meta.k8s.io';

export class TableColumns {
  readonly #client: Pick<ClusterClient, 'json'>;
  readonly #described: LookupCache<string>;
  readonly #known = new WeakMap<FollowedKind, { readonly described: string; readonly columns: Columns }>();

  constructor({ client, signal }: TableColumnsOptions) {
    this.#client = client;
    this.#described = new LookupCache({ size: CACHED, ttlMs: () => TTL_MS, signal });
  }

  /**
   * Returns the columns of a kind, the same array as long as they do not change; undefined if the cells are unknown. Throws
   * StatusError if kube-apiserver does not describe the columns.
   */
  async of(followed: FollowedKind, context: CallContext): Promise<Columns | undefined> {
    const { kind, profile } = followed;
    const { columns: printed } = profile;
    if (!printed) return undefined;
    const key = `${exactName(kind)} ${kind.version} ${kind.custom?.revision}`;
    const described = await this.#described.get(key, (signal) => this.#describe(kind, signal), context);
    const known = this.#known.get(followed);
    if (known?.described === described) return known.columns;
    const definitions = array(JSON.parse(described)).map(record);
    const columns = definitions.flatMap((definition, i): Columns => {
      const cells = printed[i];
      if (!cells || cells.name !== definition['name'] || cells.type !== definition['type']) return [];
      const { format, description, priority } = definition;
      return [
        {
          ...cells,
          format: text(format),
          description: text(description),
          priority: typeof priority === 'number' ? priority : 0,
        },
      ];
    });
    if (columns.length !== printed.length || columns.length !== definitions.length) return undefined;
    this.#known.set(followed, { described, columns });
    return columns;
  }

  /** Returns the column definitions of the shortest Table as JSON. */
  async #describe(kind: Kind, signal: AbortSignal): Promise<string> {
    const path = `${sourcePath(kind)}?limit=1&includeObject=None`;
    const table = await this.#client.json({
      path,
      headers: { accept: ACCEPT },
      timeoutMs: TIMEOUT_MS,
      signal,
    });
    return JSON.stringify(record(table)['columnDefinitions'] ?? []);
  }
}
