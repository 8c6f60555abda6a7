// The same records as files of a container runtime and objects of Kubernetes, for a simulated cluster whose kubelet
// (KWOK) answers with them.
import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogRecord } from '../log-stores/record.ts';
import type { DataPod } from './pods.ts';

/** Bytes of text after which a container runtime begins a new entry. */
const PIECE = 16 * 1024;

/** Lines of a CRI log file: time, stream, `P` for a part and `F` for the end of a line, text. */
export function criLines({ time, stream, log }: LogRecord): string {
  const bytes = Buffer.from(log);
  const pieces: string[] = [];
  let begin = 0;
  while (bytes.length - begin > PIECE) {
    let end = begin + PIECE;
    // Not within a character: bytes 10xxxxxx go on with one.
    while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
    pieces.push(`${time} ${stream} P ${bytes.toString('utf8', begin, end)}\n`);
    begin = end;
  }
  pieces.push(`${time} ${stream} F ${bytes.toString('utf8', begin)}\n`);
  return pieces.join('');
}

/** Where the log of a container is kept within the folder. */
export function logFile(
  dir: string,
  { namespace, pod, container }: Record<'namespace' | 'pod' | 'container', string>,
): string {
  return join(dir, `${namespace}_${pod}_${container}.log`);
}

/** Appends the records to the files of their containers; files that are followed grow. */
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

/** Containers of the pod that run, without those of earlier runs. */
const current = ({ containers }: DataPod) => containers.filter((container) => container.current);

/** Makes the files of containers that have written nothing: those of the pods that exist. */
export async function touchCriLogs(dir: string, pods: readonly DataPod[]): Promise<void> {
  await mkdir(dir, { recursive: true });
  for (const { namespace, name: pod, containers } of pods.filter(({ exists }) => exists)) {
    for (const { name: container } of containers)
      await appendFile(logFile(dir, { namespace, pod, container }), '');
  }
}

/** KWOK's `Logs` of the pods that exist: where the log of each container is. Make the files before. */
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

/** The pods that exist, bare: without the controllers that made them. All on the given nodes. */
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
