// Serves /openapi/v2 and /openapi/v3 for the API groups of this server. The schemas are copies of the cluster's
// schemas.
import type { Router } from 'express';
import type { Logger } from 'pino';
import { newNotAcceptable } from '../../../apis/meta/v1/errors.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { record, text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { pause } from '../../concurrency/pause.ts';
import { acceptsJSON, parseAccept } from '../../http/accept.ts';
import { endpoint, newRouter, readOnly } from '../../http/endpoint.ts';
import { type StaticDocument, staticDocument, writeDocument } from '../../http/static-document.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import type { Handler, RequestContext } from '../../request/request-context.ts';
import { type DescribedGroup, type DescribedResource, operationsOf, schemaName } from './operations.ts';
import {
  extractKind,
  type GroupVersionKind,
  listOf,
  minimalKind,
  type Schema,
  type Schemas,
} from './schemas.ts';
import { v2Document } from './v2-document.ts';
import { type DocumentParts, v3Document } from './v3-document.ts';

/** The properties of a resource in OpenAPI. ResourceDefinition implements them. */
interface SourcedResource extends DescribedResource {
  readonly source: { readonly apiVersion: string; readonly kind: string };
}

interface OpenAPIOptions {
  readonly resources: readonly SourcedResource[];
  readonly groups?: readonly DescribedGroup[];
  readonly title: string;
  readonly version: string;
  readonly client: ClusterClient;
  readonly log: Logger;
  /** Interval in ms at which the documents of the cluster are read again, since an upgrade changes them. */
  readonly refreshMs?: number;
  readonly retryMs?: number;
}

const REFRESH_MS = 10 * 60_000;
const RETRY_MS = 5000;

function sourceKind({ source }: SourcedResource): GroupVersionKind {
  const [version = '', group = ''] = source.apiVersion.split('/').reverse();
  return { group, version, kind: source.kind };
}

export class OpenAPI {
  readonly #options: OpenAPIOptions;
  /** Schemas of the cluster, by the schema name of the kind. A kind that is missing here has a minimal schema. */
  readonly #known = new Map<string, Schemas>();
  /** URLs of the cluster's documents, by apiVersion. */
  readonly #urls = new Map<string, string>();
  /** Served v3 documents, by group and version. */
  readonly #v3 = new Map<string, StaticDocument>();
  #index: StaticDocument | undefined;
  #v2: StaticDocument | undefined;

  constructor(options: OpenAPIOptions) {
    this.#options = options;
  }

  /** Reads the schemas of the cluster periodically until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, refreshMs = REFRESH_MS, retryMs = RETRY_MS } = this.#options;
    const failures = new RepeatedFailure();
    while (!signal.aborted) {
      let wait = refreshMs;
      try {
        await this.#refresh(signal);
        failures.end();
      } catch (error) {
        if (signal.aborted) return;
        wait = retryMs;
        const level = failures.isNews(messageOf(error)) ? 'warn' : 'debug';
        log[level]({ err: error }, "the cluster's OpenAPI document could not be read; retrying");
      }
      await pause(wait, signal);
    }
  }

  router(): Router {
    const router = newRouter();
    const serve = (path: string, handler: Handler): void => {
      router.route(path).get(endpoint(handler)).all(readOnly);
    };
    serve('/openapi/v3', (context) => this.#write(context, this.#indexDocument()));
    serve('/openapi/v2', (context) => this.#write(context, this.#v2Document()));
    for (const key of this.#groupVersions()) {
      serve(`/openapi/v3/apis/${key}`, (context) => this.#writeVersion(context, key));
    }
    return router;
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const { resources, client } = this.#options;
    for (const apiVersion of new Set(resources.map(({ source }) => source.apiVersion))) {
      const fetched = await fetchSource(client, apiVersion, this.#urls.get(apiVersion), signal);
      if (!fetched) continue;
      for (const resource of resources.filter(({ source }) => source.apiVersion === apiVersion)) {
        const name = schemaName(resource);
        const schemas = extractKind(fetched.document, sourceKind(resource), gvkOf(resource), name);
        if (schemas) this.#known.set(name, schemas);
      }
      this.#urls.set(apiVersion, fetched.url);
      this.#v3.clear();
      this.#index = undefined;
      this.#v2 = undefined;
    }
  }

  #groupVersions(): Set<string> {
    const { resources } = this.#options;
    return new Set([...resources, ...this.#groups()].map(({ group, version }) => `${group}/${version}`));
  }

  #groups(): readonly DescribedGroup[] {
    return this.#options.groups ?? [];
  }

  /** Until the cluster is reachable, each kind has a minimal schema. */
  #schemas(resources: readonly SourcedResource[], groups: readonly DescribedGroup[]): Schemas {
    const all = new Map<string, Schema>(groups.flatMap(({ schemas }) => [...schemas]));
    for (const resource of resources) {
      const name = schemaName(resource);
      const own = this.#known.get(name) ?? minimalKind(gvkOf(resource), name);
      for (const [key, schema] of own) all.set(key, schema);
    }
    for (const resource of resources) {
      const { group, version, listKind } = resource;
      const list = listOf(gvkOf(resource), listKind, schemaName(resource), all);
      all.set(schemaName({ group, version, kind: listKind }), list);
    }
    return all;
  }

  #versionDocument(key: string): StaticDocument {
    const kept = this.#v3.get(key);
    if (kept) return kept;
    const isOfKey = (one: { readonly group: string; readonly version: string }): boolean =>
      `${one.group}/${one.version}` === key;
    const resources = this.#options.resources.filter(isOfKey);
    const made = staticDocument(v3Document(this.#parts(resources, this.#groups().filter(isOfKey))));
    this.#v3.set(key, made);
    return made;
  }

  #indexDocument(): StaticDocument {
    if (this.#index) return this.#index;
    const paths: Record<string, { serverRelativeURL: string }> = {};
    for (const key of this.#groupVersions()) {
      const { hash } = this.#versionDocument(key);
      paths[`apis/${key}`] = { serverRelativeURL: `/openapi/v3/apis/${key}?hash=${hash}` };
    }
    this.#index = staticDocument({ paths });
    return this.#index;
  }

  #v2Document(): StaticDocument {
    this.#v2 ??= staticDocument(v2Document(this.#parts(this.#options.resources, this.#groups())));
    return this.#v2;
  }

  #parts(resources: readonly SourcedResource[], groups: readonly DescribedGroup[]): DocumentParts {
    const { title, version } = this.#options;
    const operations = [...resources.flatMap(operationsOf), ...groups.flatMap((group) => group.operations)];
    return { title, version, operations, schemas: this.#schemas(resources, groups) };
  }

  #writeVersion(context: RequestContext, key: string): Promise<void> | void {
    const document = this.#versionDocument(key);
    // A request with an old hash gets the current document. The aggregator can have an old hash for some time, and does
    // not follow redirects.
    const current = context.query.get('hash') === document.hash;
    return this.#write(context, document, current ? 'public, immutable, max-age=31536000' : undefined);
  }

  #write(
    context: RequestContext,
    document: StaticDocument,
    cacheControl = 'no-cache, private',
  ): Promise<void> | void {
    requireJSON(context.request.headers.accept);
    return writeDocument(context, document, {
      'Content-Type': 'application/json',
      'Cache-Control': cacheControl,
    });
  }
}

function gvkOf({ group, version, kind }: SourcedResource): GroupVersionKind {
  return { group, version, kind };
}

/** Throws NotAcceptable for a client that does not accept JSON, for example one that requires protobuf. */
function requireJSON(header: string | undefined): void {
  if (header === undefined || header === '') return;
  if (!parseAccept(header).some(acceptsJSON)) throw newNotAcceptable(['application/json']);
}

interface SourceDocument {
  /** URL of the document. It contains a hash, so it changes with the document. */
  readonly url: string;
  readonly document: unknown;
}

/**
 * Returns the cluster's OpenAPI v3 document of an apiVersion such as `v1` or `apps/v1`, so that `kubectl explain` shows
 * the documentation of the cluster's version. Returns undefined if the URL equals `known`, which means no change.
 */
async function fetchSource(
  client: ClusterClient,
  apiVersion: string,
  known: string | undefined,
  signal: AbortSignal,
): Promise<SourceDocument | undefined> {
  const index = record(await client.json({ path: '/openapi/v3', signal }));
  const key = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;
  const url = text(record(record(index['paths'])[key])['serverRelativeURL']);
  if (url === '') throw new Error(`the cluster does not describe ${apiVersion}`);
  if (url === known) return undefined;
  return { url, document: await client.json({ path: url, signal, timeoutMs: 30_000 }) };
}
