// Annotations of nodes with the total resource requests and limits of their pods. They need the facts of all pods, so the
// configuration enables them.
import { formatResourceQuantity } from '../../apis/meta/v1/resource-quantity.ts';
import type { HeldCopy } from '../resources/kinds/kind-copy.ts';
import type { FeatureFacts, PodFacts } from '../resources/profiles/feature-facts.ts';
import type { KindFacts } from '../resources/profiles/kind-values.ts';
import { nodeIn } from '../resources/profiles/node-columns.ts';
import { type Amounts, NO_AMOUNTS } from '../resources/profiles/pod-amounts.ts';

function podIn(
  object: { readonly facts: { readonly features: FeatureFacts | undefined } } | undefined,
): PodFacts | undefined {
  return object?.facts.features?.pod;
}

/** The sums of the amounts of the pods on each node. */
export class NodeUsage implements UsageSource {
  readonly #copy: HeldCopy;
  #nodes = new Map<string, Amounts>();

  /** `copy`: of the kind Pod, which the caller holds. */
  constructor(copy: HeldCopy) {
    this.#copy = copy;
    copy.cache.onChange((change) => {
      if (!change) return this.#rebuild();
      const [before, after] = [
        podIn(change.previous),
        podIn(change.type === 'DELETED' ? undefined : change.object),
      ];
      if (before && after && before.node === after.node && equal(before.amounts, after.amounts)) return;
      this.#add(before, -1n);
      this.#add(after, 1n);
    });
    this.#rebuild();
  }

  /** True after the first list of pods. */
  get synced(): boolean {
    return this.#copy.synced;
  }

  /** Returns the amounts of a node, as the same object until an amount changes. */
  of(node: string): Amounts {
    return this.#nodes.get(node) ?? NO_AMOUNTS;
  }

  #rebuild(): void {
    this.#nodes = new Map();
    if (!this.synced) return;
    for (const pod of this.#copy.cache.facts().objects()) this.#add(podIn(pod), 1n);
  }

  #add(pod: PodFacts | undefined, sign: 1n | -1n): void {
    if (!pod || equal(pod.amounts, NO_AMOUNTS)) return;
    const { node, amounts } = pod;
    const sum = this.of(node);
    const next: Amounts = {
      cpuRequests: sum.cpuRequests + sign * amounts.cpuRequests,
      cpuLimits: sum.cpuLimits + sign * amounts.cpuLimits,
      memoryRequests: sum.memoryRequests + sign * amounts.memoryRequests,
      memoryLimits: sum.memoryLimits + sign * amounts.memoryLimits,
    };
    // Removes entries of deleted nodes.
    if (equal(next, NO_AMOUNTS)) this.#nodes.delete(node);
    else this.#nodes.set(node, next);
  }
}

function equal(left: Amounts, right: Amounts): boolean {
  return (
    left.cpuRequests === right.cpuRequests &&
    left.cpuLimits === right.cpuLimits &&
    left.memoryRequests === right.memoryRequests &&
    left.memoryLimits === right.memoryLimits
  );
}

interface FormattedUsage {
  readonly amounts: Amounts;
  readonly text: string;
}

interface UsageSource {
  /** False until all pods are counted. Until then, nodes have no annotations, because they would be wrong. */
  readonly synced: boolean;
  /** Returns the amounts of a node, as the same object while they are unchanged. */
  of(node: string): Amounts;
}

/**
 * Returns a function that formats the eight usage annotations of a node as fields of a JSON object, separated by
 * commas. `domain`: the domain of the platform; the names of the annotations start with `node.<domain>/`.
 */
export function usageAnnotations(
  source: UsageSource,
  domain: string,
): (node: { readonly name: string; readonly facts: KindFacts }) => string {
  // Keyed by the facts object, which stays the same until the node changes.
  const formatted = new WeakMap<KindFacts, FormattedUsage>();
  return ({ name, facts }) => {
    if (!source.synced) return '';
    const amounts = source.of(name);
    const known = formatted.get(facts);
    if (known?.amounts === amounts) return known.text;
    const text = membersOf(amounts, facts, `node.${domain}/`);
    formatted.set(facts, { amounts, text });
    return text;
  };
}

function membersOf(amounts: Amounts, facts: KindFacts, prefix: string): string {
  const { cpuLimits, cpuRequests, memoryLimits, memoryRequests } = amounts;
  const { cpu, memory } = nodeIn(facts).allocatable;
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

/** Formats a fraction as whole percents, truncated. It is above 100 for an overcommitted node. */
function percent(amount: bigint, allocatable: bigint): string {
  return `${allocatable > 0n ? (amount * 100n) / allocatable : 0n}%`;
}
