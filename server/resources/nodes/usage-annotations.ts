// The eight annotations that show how much of a node its pods use. They are computed for each answer and stored nowhere;
// consoles of the platform read them.
import { formatResourceQuantity } from '../../../apis/meta/v1/resource-quantity.ts';
import type { NodeFacts } from './facts.ts';
import type { Amounts } from './usage-pod.ts';

interface Written {
  readonly amounts: Amounts;
  readonly text: string;
}

export interface UsageSource {
  /** False until all pods are counted: before that there are no numbers, rather than wrong ones. */
  readonly synced: boolean;
  /** The same object as long as the numbers are the same. */
  of(node: string): Amounts;
}

/** `domain` is the platform's: the names begin with `node.<domain>/`. Members of JSON, joined by commas. */
export function usageAnnotations(
  source: UsageSource,
  domain: string,
): (node: { readonly name: string; readonly facts: NodeFacts }) => string {
  // By the facts, which a node keeps until it changes.
  const written = new WeakMap<NodeFacts, Written>();
  return ({ name, facts }) => {
    if (!source.synced) return '';
    const amounts = source.of(name);
    const known = written.get(facts);
    if (known?.amounts === amounts) return known.text;
    const text = membersOf(amounts, facts, `node.${domain}/`);
    written.set(facts, { amounts, text });
    return text;
  };
}

function membersOf(amounts: Amounts, { allocatable }: NodeFacts, prefix: string): string {
  const { cpuLimits, cpuRequests, memoryLimits, memoryRequests } = amounts;
  const { cpu, memory } = allocatable;
  const members: readonly (readonly [string, string])[] = [
    ['cpu-limits', formatResourceQuantity({ nanos: cpuLimits, format: 'decimal' })],
    ['cpu-limits-fraction', percent(cpuLimits, cpu)],
    ['cpu-requests', formatResourceQuantity({ nanos: cpuRequests, format: 'decimal' })],
    ['cpu-requests-fraction', percent(cpuRequests, cpu)],
    ['memory-limits', formatResourceQuantity({ nanos: memoryLimits, format: 'binary' })],
    ['memory-limits-fraction', percent(memoryLimits, memory)],
    ['memory-requests', formatResourceQuantity({ nanos: memoryRequests, format: 'binary' })],
    ['memory-requests-fraction', percent(memoryRequests, memory)],
  ];
  return members.map(([name, value]) => `"${prefix}${name}":"${value}"`).join(',');
}

/** Whole percents, cut off; above 100 when more is promised than there is. */
function percent(amount: bigint, allocatable: bigint): string {
  return `${allocatable > 0n ? (amount * 100n) / allocatable : 0n}%`;
}
