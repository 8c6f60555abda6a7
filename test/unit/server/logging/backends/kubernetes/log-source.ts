import type { LogSource } from '../../../../../../server/logging/backends/kubernetes/pods/log-source.ts';

interface Written extends Partial<Omit<LogSource, 'run'>> {
  /** Without an id and times unless told otherwise. */
  readonly run?: Partial<LogSource['run']>;
}

/** The log of container `app` of a pod of namespace `shop`, still written to, with whatever else is told. */
export function logSource(pod: string, { run, ...more }: Written = {}): LogSource {
  return {
    namespace: 'shop',
    pod,
    container: 'app',
    node: '',
    previous: false,
    running: true,
    run: { id: '', startedAt: undefined, finishedAt: undefined, ...run },
    predecessors: false,
    ...more,
  };
}
