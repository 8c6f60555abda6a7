// Log files of single simulated pods. A Logs object of KWOK for each pod names the file, instead of the file that all replicas
// of an application share.
import { appendFile, copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../../control-plane/client.ts';
import { LOGS } from '../kwok-logs.ts';
import type { SimulatedPod } from './simulated-pods.ts';

/** Size after which a log is rotated, in bytes: some hours of lines. */
const MAX_BYTES = 1 << 20;

export class PodLogFiles {
  readonly #client: Client;
  readonly #dir: string;
  readonly #maxBytes: number;
  /** Bytes of the open logs. */
  readonly #sizes = new Map<string, number>();

  /** `dir`: a folder that contains nothing else. */
  constructor(client: Client, dir: string, maxBytes = MAX_BYTES) {
    this.#client = client;
    this.#dir = dir;
    this.#maxBytes = maxBytes;
  }

  /** Deletes the logs of an earlier start. */
  async deleteAll(): Promise<void> {
    await rm(this.#dir, { recursive: true, force: true });
    await mkdir(this.#dir, { recursive: true });
  }

  isOpen(pod: SimulatedPod): boolean {
    return this.#sizes.has(pod.uid);
  }

  /** Writes the first lines, and lets KWOK serve the file. The garbage collector deletes the object with the pod. */
  async open(pod: SimulatedPod, lines: string, signal: AbortSignal): Promise<void> {
    const file = this.#file(pod);
    await writeFile(file, lines);
    this.#sizes.set(pod.uid, lines.length);
    const { namespace, name, uid } = pod;
    const owner = { apiVersion: 'v1', kind: 'Pod', name, uid };
    const log = { containers: [pod.application.name], logsFile: file, previousLogsFile: previousOf(file) };
    const body = {
      ...LOGS,
      metadata: { name, namespace, ownerReferences: [owner] },
      spec: { logs: [log] },
    };
    const path = `/apis/${LOGS.apiVersion}/namespaces/${namespace}/logs`;
    await this.#client.expect(path, { method: 'POST', body, signal }, [201, 409]);
  }

  /** Rotates a large log as a kubelet does; one rotated file stays. No effect for a pod without an open log. */
  async append(pod: SimulatedPod, lines: string): Promise<void> {
    const size = this.#sizes.get(pod.uid);
    if (size === undefined || lines === '') return;
    const file = this.#file(pod);
    const isFull = size > this.#maxBytes;
    if (isFull) await rename(file, `${file}.1`);
    this.#sizes.set(pod.uid, isFull ? lines.length : size + lines.length);
    await appendFile(file, lines);
  }

  /** Keeps the log of the terminated container as that of the previous run. */
  async endRun(pod: SimulatedPod): Promise<void> {
    if (this.isOpen(pod)) await copyFile(this.#file(pod), previousOf(this.#file(pod)));
  }

  /** Starts the log of a new run of the container. */
  async startRun(pod: SimulatedPod): Promise<void> {
    if (!this.isOpen(pod)) return;
    const file = this.#file(pod);
    await rename(file, `${file}.1`);
    await writeFile(file, '');
    this.#sizes.set(pod.uid, 0);
  }

  /** Deletes the logs of pods that no longer exist. */
  async closeAllExcept(pods: readonly SimulatedPod[]): Promise<void> {
    for (const uid of new Set(this.#sizes.keys()).difference(new Set(pods.map((pod) => pod.uid)))) {
      this.#sizes.delete(uid);
      const file = this.#file({ uid });
      await Promise.all([file, `${file}.1`, previousOf(file)].map((each) => rm(each, { force: true })));
    }
  }

  #file({ uid }: Pick<SimulatedPod, 'uid'>): string {
    return join(this.#dir, `${uid}.log`);
  }
}

function previousOf(file: string): string {
  return `${file}.previous`;
}
