import type { PodFacts } from '../pods/pod-facts.ts';
import type { PodIndex } from '../pods/pod-index.ts';

/** Resolves when the pod, or perhaps every pod, has changed or is gone; and when the signal is aborted. */
export function podChanged(
  pods: Pick<PodIndex, 'onChange'>,
  { namespace, name }: Pick<PodFacts, 'namespace' | 'name'>,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => {
    stop();
    signal.removeEventListener('abort', end);
    resolve();
  };
  const stop = pods.onChange((pod) => {
    if (!pod || (pod.namespace === namespace && pod.name === name)) end();
  });
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return promise;
}
