// Annotations of nodes with the total resource requests and limits of their pods. This module watches all pods, so it
// runs only if the configuration enables the annotations.
import type { Logger } from 'pino';
import { formatResourceQuantity } from '../../../apis/meta/v1/resource-quantity.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { Reflector } from '../../cluster/reflector/reflector.ts';
import type { ReflectorSink, Replacement } from '../../cluster/reflector/reflector-sink.ts';
import type { ChangeType } from '../../cluster/reflector/watch-stream.ts';
import type { NodeFacts } from './node-facts.ts';
import { type Amounts, type PodUsage, podUsage } from './pod-usage.ts';

export interface NodeUsageOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  /** The domain of the platform, for instance `platform.io`. */
  readonly domain: string;
}

export class NodeUsage {
  readonly annotations: ReturnType<typeof usageAnnotations>;
  readonly #counter = new UsageCounter();
  readonly #reflector: Reflector;

  constructor({ client, log, domain }: NodeUsageOptions) {
    this.annotations = usageAnnotations(this.#counter, domain);
    this.#reflector = new Reflector({
      client,
      path: '/api/v1/pods',
      // A pod that finishes does not match any more, which the watch reports as DELETED.
      query: { fieldSelector: 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed' },
      sink: this.#counter,
      log,
    });
  }

  /** True after the first list of pods. */
  get synced(): boolean {
    return this.#counter.synced;
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#reflector.run(signal);
  }
}

const ZERO: Amounts = { cpuRequests: 0n, cpuLimits: 0n, memoryRequests: 0n, memoryLimits: 0n };

/** A reflector sink that sums the amounts of the pods on each node. It stores amounts, not pods. */
export class UsageCounter implements ReflectorSink {
  #pods = new Map<string, PodUsage>();
  #nodes = new Map<string, Amounts>();
  #synced = false;

  /** True after the first list of pods. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Returns the amounts of a node, as the same object until an amount changes. */
  of(node: string): Amounts {
    return this.#nodes.get(node) ?? ZERO;
  }

  replacement(): Replacement {
    const found: PodUsage[] = [];
    return {
      add: (raw) => {
        found.push(parse(raw));
      },
      commit: () => {
        this.#pods = new Map();
        this.#nodes = new Map();
        for (const pod of found) this.#set(pod);
        this.#synced = true;
      },
    };
  }

  apply(type: ChangeType, raw: Buffer): void {
    const pod = parse(raw);
    this.#set(type === 'DELETED' ? { ...pod, node: '' } : pod);
  }

  bookmark(): void {
    // Amounts have no resourceVersion.
  }

  #set(pod: PodUsage): void {
    const before = this.#pods.get(pod.key);
    if (before && before.node === pod.node && equal(before.amounts, pod.amounts)) return;
    if (before) {
      this.#pods.delete(pod.key);
      this.#add(before.node, before.amounts, -1n);
    }
    if (pod.node === '') return;
    this.#pods.set(pod.key, pod);
    this.#add(pod.node, pod.amounts, 1n);
  }

  #add(node: string, amounts: Amounts, sign: 1n | -1n): void {
    const sum = this.of(node);
    const next: Amounts = {
      cpuRequests: sum.cpuRequests + sign * amounts.cpuRequests,
      cpuLimits: sum.cpuLimits + sign * amounts.cpuLimits,
      memoryRequests: sum.memoryRequests + sign * amounts.memoryRequests,
      memoryLimits: sum.memoryLimits + sign * amounts.memoryLimits,
    };
    // Removes entries of deleted nodes.
    if (equal(next, ZERO)) this.#nodes.delete(node);
    else this.#nodes.set(node, next);
  }
}

function parse(raw: Buffer): PodUsage {
  return podUsage(JSON.parse(raw.toString('utf8')));
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

export interface UsageSource {
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
): (node: { readonly name: string; readonly facts: NodeFacts }) => string {
  // Keyed by the facts object, which stays the same until the node changes.
  const formatted = new WeakMap<NodeFacts, FormattedUsage>();
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

/** Formats a fraction as whole percents, truncated. It is above 100 for an overcommitted node. */
function percent(amount: bigint, allocatable: bigint): string {
  return `${allocatable > 0n ? (amount * 100n) / allocatable : 0n}%`;
}
