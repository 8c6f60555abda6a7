// Writes the log data set as CRI log files, with the Kubernetes objects for KWOK. KWOK serves the CRI log files in
// place of a kubelet.
import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogRecord } from '../log-stores/record.ts';
import type { DataPod } from './pods.ts';

/** Bytes after which a container runtime splits a line into partial entries. */
const PIECE = 16 * 1024;

/** Lines of a CRI log file: time, stream, `P` (partial) or `F` (full), text. */
function criLines({ time, stream, log }: LogRecord): string {
  const bytes = Buffer.from(log);
  const pieces: string[] = [];
  let begin = 0;
  while (bytes.length - begin > PIECE) {
    let end = begin + PIECE;
    // Do not split a character: bytes 10xxxxxx continue one.
    while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
    pieces.push(`${time} ${stream} P ${bytes.toString('utf8', begin, end)}\n`);
    begin = end;
  }
  pieces.push(`${time} ${stream} F ${bytes.toString('utf8', begin)}\n`);
  return pieces.join('');
}

/** Path of a container's log within the folder. */
export function logFile(
  dir: string,
  { namespace, pod, container }: Record<'namespace' | 'pod' | 'container', string>,
): string {
  return join(dir, `${namespace}_${pod}_${container}.log`);
}

/** Appends the records to the log files of their containers. */
export async function writeCriLogs(dir: string, records: Iterable<LogRecord>): Promise<void> {
  await mkdir(dir, { recursive: true });
  const files = new Map<string, string[]>();
  for (const record of records) {
    const { namespace_name: namespace, pod_name: pod, container_name: container } = record.kubernetes;
    const file = logFile(dir, { namespace, pod, container });
    const lines = files.get(file);
    if (lines === undefined) files.set(file, [criLines(record)]);
    else lines.push(criLines(record));
  }
  for (const [file, lines] of files) await appendFile(file, lines.join(''));
}

/** Running containers of the pod, without previous runs. */
const current = ({ containers }: DataPod) => containers.filter((container) => container.current);

/** Creates empty log files for containers of existing pods that have written nothing. */
export async function touchCriLogs(dir: string, pods: readonly DataPod[]): Promise<void> {
  await mkdir(dir, { recursive: true });
  for (const { namespace, name: pod, containers } of pods.filter(({ exists }) => exists)) {
    for (const { name: container } of containers)
      await appendFile(logFile(dir, { namespace, pod, container }), '');
  }
}

/** KWOK `Logs` objects that map the containers of existing pods to their log files, which must exist. */
export function kwokLogs(dir: string, pods: readonly DataPod[]): object[] {
  return pods
    .filter(({ exists }) => exists)
    .map((pod) => ({
      apiVersion: 'kwok.x-k8s.io/v1alpha1',
      kind: 'Logs',
      metadata: { namespace: pod.namespace, name: pod.name },
      spec: {
        logs: current(pod).map(({ name: container }) => ({
          containers: [container],
          logsFile: logFile(dir, { namespace: pod.namespace, pod: pod.name, container }),
        })),
      },
    }));
}

/** Pod objects of the existing pods on the given nodes, without their controllers. */
export function podObjects(
  pods: readonly DataPod[],
  nodes: readonly string[],
): { readonly metadata: { readonly namespace: string; readonly name: string } }[] {
  return pods
    .filter(({ exists }) => exists)
    .map((pod, index) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: pod.namespace, name: pod.name, labels: pod.labels },
      spec: {
        nodeName: nodes[index % nodes.length],
        containers: current(pod).map(({ name, image }) => ({ name, image })),
      },
    }));
}
