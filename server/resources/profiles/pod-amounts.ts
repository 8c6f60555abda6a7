// Resource requests and limits of a pod, computed as in the scheduler and in kubectl.
import { parseResourceQuantity } from '../../../apis/meta/v1/resource-quantity.ts';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';

/** Amounts of resources, in 10⁻⁹ of a CPU and 10⁻⁹ of a byte. */
export interface Amounts {
  readonly cpuRequests: bigint;
  readonly cpuLimits: bigint;
  readonly memoryRequests: bigint;
  readonly memoryLimits: bigint;
}

export const NO_AMOUNTS: Amounts = { cpuRequests: 0n, cpuLimits: 0n, memoryRequests: 0n, memoryLimits: 0n };

type Kind = 'requests' | 'limits';
type Resource = 'cpu' | 'memory';
type Members = Readonly<Record<string, unknown>>;

/** Computes the amounts of a pod: none before it is scheduled, and after it has finished. */
export function podAmounts(pod: unknown): Amounts {
  const spec = recordIn(pod, 'spec');
  const phase = recordIn(pod, 'status')['phase'];
  if (text(spec['nodeName']) === '' || phase === 'Succeeded' || phase === 'Failed') return NO_AMOUNTS;
  return {
    cpuRequests: effective(spec, 'requests', 'cpu'),
    cpuLimits: effective(spec, 'limits', 'cpu'),
    memoryRequests: effective(spec, 'requests', 'memory'),
    memoryLimits: effective(spec, 'limits', 'memory'),
  };
}

/**
 * Returns the effective amount of a resource: the maximum of the sum over containers and of each init container, plus
 * the overhead of the pod. A restartable init container runs in parallel with all later containers, so it is added to
 * them. Resources at the pod level take precedence.
 */
function effective(spec: Members, kind: Kind, resource: Resource): bigint {
  const overhead = amount(record(spec['overhead']), resource);
  const whole = record(record(spec['resources'])[kind]);
  const used = Object.hasOwn(whole, resource) ? amount(whole, resource) : ofContainers(spec, kind, resource);
  // A pod without a limit has no limit, even if it has an overhead.
  return kind === 'limits' && used === 0n ? 0n : used + overhead;
}

function ofContainers(spec: Members, kind: Kind, resource: Resource): bigint {
  let running = 0n;
  for (const container of array(spec['containers'])) running += of(container, kind, resource);
  let beside = 0n;
  let starting = 0n;
  for (const container of array(spec['initContainers'])) {
    const own = of(container, kind, resource);
    if (record(container)['restartPolicy'] === 'Always') beside += own;
    else starting = larger(starting, beside + own);
  }
  return larger(running + beside, starting);
}

function of(container: unknown, kind: Kind, resource: Resource): bigint {
  return amount(record(recordIn(container, 'resources')[kind]), resource);
}

function amount(amounts: Members, resource: Resource): bigint {
  return parseResourceQuantity(text(amounts[resource]))?.nanos ?? 0n;
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}
