// Creates many Kubernetes objects concurrently.
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import type { Client } from '../control-plane/client.ts';
import { formatElapsed, type Progress } from '../terminal/progress.ts';

interface BulkOptions {
  readonly signal: AbortSignal;
  /** Concurrent requests; 16 by default. */
  readonly concurrency?: number;
  readonly progress?: Progress;
  /** Name of the objects in the progress line. */
  readonly what: string;
  readonly total: number;
}

const ONLY_METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Creates the missing objects of a collection concurrently; stops at the first failure. Returns the existing names. */
export async function createAll<T extends { metadata: { name: string } }>(
  client: Client,
  path: string,
  objects: Iterator<T>,
  options: BulkOptions,
): Promise<ReadonlySet<string>> {
  const present = await namesIn(client, path, options.signal);
  const start = Date.now();
  let reportedAt = start;
  let done = 0;
  await forEach(objects, options, async (object, signal) => {
    if (!present.has(object.metadata.name)) {
      await client.expect(path, { method: 'POST', body: object, signal }, [201, 409]);
    }
    done++;
    if (Date.now() - reportedAt >= 1000) {
      reportedAt = Date.now();
      options.progress?.(
        `${options.what}: ${done} of ${options.total} (${formatElapsed(reportedAt - start)})`,
        true,
      );
    }
  });
  return present;
}

/** Runs the work for each item concurrently. The first error aborts the others and is thrown. */
export async function forEach<T>(
  items: Iterator<T>,
  options: { signal: AbortSignal; concurrency?: number },
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  let failure: unknown;
  const worker = async (): Promise<void> => {
    for (let next = items.next(); next.done !== true && !signal.aborted; next = items.next()) {
      try {
        await work(next.value, signal);
      } catch (error) {
        if (!signal.aborted) {
          failure = error;
          failed.abort();
        }
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: options.concurrency ?? 16 }, worker));
  options.signal.throwIfAborted();
  if (failed.signal.aborted) throw failure;
}

/** The current names of the collection. */
export async function namesIn(client: Client, path: string, signal: AbortSignal): Promise<Set<string>> {
  const { body } = await client.expect(path, { accept: ONLY_METADATA, signal }, [200]);
  const items = array(record(JSON.parse(body))['items']);
  return new Set(items.map((item) => text(recordIn(item, 'metadata')['name'])));
}
