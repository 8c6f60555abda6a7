// Creates container logs for unit tests of the pod log store.
import type { ContainerLog } from '../../../../../../server/logging/backends/kubernetes/container-log.ts';

interface Fields extends Partial<Omit<ContainerLog, 'run'>> {
  readonly run?: Partial<ContainerLog['run']>;
}

/** The log of the running container `app` of a pod in namespace `shop`; without an ID and times by default. */
export function containerLog(pod: string, { run, ...fields }: Fields = {}): ContainerLog {
  return {
    namespace: 'shop',
    pod,
    container: 'app',
    node: '',
    previous: false,
    running: true,
    run: { id: '', startedAt: undefined, finishedAt: undefined, ...run },
    predecessors: false,
    ...fields,
  };
}
