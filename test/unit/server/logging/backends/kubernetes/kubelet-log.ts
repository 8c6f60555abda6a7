import type { ServerResponse } from 'node:http';

export interface WrittenLine {
  /** As the runtime wrote it: RFC 3339 with nine digits. */
  readonly time: string;
  readonly text: string;
}

/**
 * The log of one run of a container as a kubelet serves it (k8s.io/cri-client, pkg/logs): lines from the end, then
 * those that are not older than the second, then so many bytes; the prefix with the time stands before each line.
 */
export class KubeletLog {
  lines: WrittenLine[] = [];
  readonly #followers = new Set<ServerResponse>();

  constructor(lines: readonly WrittenLine[] = []) {
    this.lines = [...lines];
  }

  get followers(): number {
    return this.#followers.size;
  }

  /** The streams of those who follow. */
  responses(): readonly ServerResponse[] {
    return [...this.#followers];
  }

  append(...lines: readonly WrittenLine[]): void {
    this.lines.push(...lines);
    for (const follower of this.#followers) follower.write(lines.map(written).join(''));
  }

  /** A new file: what was written is gone for whoever opens the log from now on; followers go on. */
  rotate(): void {
    this.lines = [];
  }

  /** The container has ended: so do the streams of followers. */
  end(): void {
    for (const follower of this.#followers) follower.end();
    this.#followers.clear();
  }

  /** The connections break, in whatever state. */
  cut(): void {
    for (const follower of this.#followers) follower.destroy();
  }

  serve(query: URLSearchParams, response: ServerResponse, running: boolean): void {
    const since = query.get('sinceTime');
    const [tail, limit] = [query.get('tailLines'), query.get('limitBytes')];
    const begin = since === null ? 0 : Date.parse(since);
    const lines = (tail ? this.lines.slice(-Number(tail)) : this.lines).filter(
      ({ time }) => begin === 0 || Date.parse(time) >= begin,
    );
    const bytes = Buffer.from(lines.map(written).join(''));
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.flushHeaders();
    response.write(limit ? bytes.subarray(0, Number(limit)) : bytes);
    if (query.get('follow') !== 'true' || !running) {
      response.end();
      return;
    }
    this.#followers.add(response);
    response.on('close', () => this.#followers.delete(response));
  }
}

function written({ time, text }: WrittenLine): string {
  return `${time} ${text}\n`;
}
