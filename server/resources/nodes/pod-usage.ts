// Requests and limits of a pod, computed like the scheduler and kubectl.
import { parseResourceQuantity } from '../../../apis/meta/v1/resource-quantity.ts';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';

/** In 10⁻⁹ CPUs and 10⁻⁹ bytes. */
export interface Amounts {
  readonly cpuRequests: bigint;
  readonly cpuLimits: bigint;
  readonly memoryRequests: bigint;
  readonly memoryLimits: bigint;
}

export interface PodUsage {
  /** `namespace/name`. */
  readonly key: string;
  /** Empty for a pod that is not scheduled or has finished. */
  readonly node: string;
  readonly amounts: Amounts;
}

type Kind = 'requests' | 'limits';
type Resource = 'cpu' | 'memory';
type Members = Readonly<Record<string, unknown>>;

/** Throws SyntaxError for an object without a name. */
export function podUsage(object: unknown): PodUsage {
  const pod = record(object);
  const metadata = record(pod['metadata']);
  const name = text(metadata['name']);
  if (name === '') throw new SyntaxError('a pod without a name');
  const spec = record(pod['spec']);
  const phase = text(record(pod['status'])['phase']);
  const ended = phase === 'Succeeded' || phase === 'Failed';
  return {
    key: `${text(metadata['namespace'])}/${name}`,
    node: ended ? '' : text(spec['nodeName']),
    amounts: {
      cpuRequests: effective(spec, 'requests', 'cpu'),
      cpuLimits: effective(spec, 'limits', 'cpu'),
      memoryRequests: effective(spec, 'requests', 'memory'),
      memoryLimits: effective(spec, 'limits', 'memory'),
    },
  };
}

/**
 * The maximum of running and init containers, plus the overhead. A restartable init container runs beside all later
 * containers. Pod-level resources take precedence.
 */
function effective(spec: Members, kind: Kind, resource: Resource): bigint {
  const overhead = amount(record(spec['overhead']), resource);
  const whole = record(record(spec['resources'])[kind]);
  const used = Object.hasOwn(whole, resource) ? amount(whole, resource) : ofContainers(spec, kind, resource);
  // Without a limit the overhead is not a limit.
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
