import type { ReflectorSink, Replacement } from '../../cluster/following/reflector-sink.ts';
import type { ChangeType } from '../../cluster/following/watch-stream.ts';
import { type Amounts, type PodUsage, podUsage } from './usage-pod.ts';

const NOTHING: Amounts = { cpuRequests: 0n, cpuLimits: 0n, memoryRequests: 0n, memoryLimits: 0n };

/** What the pods of each node use in total, counted as they come, change and go. Keeps numbers, no pods. */
export class UsageCounter implements ReflectorSink {
  #pods = new Map<string, PodUsage>();
  #nodes = new Map<string, Amounts>();
  #synced = false;

  /** True once all pods have been counted. */
  get synced(): boolean {
    return this.#synced;
  }

  /** The same object until a pod of the node changes what it uses. */
  of(node: string): Amounts {
    return this.#nodes.get(node) ?? NOTHING;
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
    // Numbers have no resourceVersion.
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
    // A node that is gone leaves nothing behind.
    if (equal(next, NOTHING)) this.#nodes.delete(node);
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
