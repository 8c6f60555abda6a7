// What one pod uses of its node, as the scheduler and kubectl count it.
import { parseResourceQuantity } from '../../../apis/meta/v1/resource-quantity.ts';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';

/** In 10⁻⁹ of a CPU, of a byte. */
export interface Amounts {
  readonly cpuRequests: bigint;
  readonly cpuLimits: bigint;
  readonly memoryRequests: bigint;
  readonly memoryLimits: bigint;
}

export interface PodUsage {
  /** `namespace/name`. */
  readonly key: string;
  /** Empty when it is on no node, or uses nothing of it any more. */
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
 * The larger of what the containers take together and what it takes to start them, and the overhead. An init
 * container that restarts always stays beside those that come after it. What the pod as a whole was given goes first.
 */
function effective(spec: Members, kind: Kind, resource: Resource): bigint {
  const overhead = amount(record(spec['overhead']), resource);
  const whole = record(record(spec['resources'])[kind]);
  const used = Object.hasOwn(whole, resource) ? amount(whole, resource) : together(spec, kind, resource);
  // An overhead limits nothing by itself.
  return kind === 'limits' && used === 0n ? 0n : used + overhead;
}

function together(spec: Members, kind: Kind, resource: Resource): bigint {
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
