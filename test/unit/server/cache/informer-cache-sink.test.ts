import { describeReflectorSink } from '../../../conformance/reflector-sink.ts';
import { newCache } from '../../../support/cluster/new-cache.ts';

describeReflectorSink('the informer cache', () => {
  const cache = newCache();
  // Read as lists are: from the pieces.
  const pieces = () =>
    cache
      .snapshot()
      .pieces()
      .map((piece) => piece.json().toString())
      .join(',');
  const objects = () =>
    JSON.parse(`[${pieces()}]`) as { metadata: { name: string; resourceVersion: string } }[];
  return {
    sink: cache,
    contents: () =>
      cache.synced
        ? objects().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
        : undefined,
  };
});
