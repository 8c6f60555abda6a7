// Fake container log that behaves like the log of a kubelet.
import type { ServerResponse } from 'node:http';

export interface WrittenLine {
  /** RFC 3339 with nine digits. */
  readonly time: string;
  readonly text: string;
}

/**
 * The log of one run of a container as a kubelet serves it (k8s.io/cri-client, pkg/logs): it applies tailLines, then
 * sinceTime, then limitBytes, and writes the time before each line.
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

  append(...lines: readonly WrittenLine[]): void {
    this.lines.push(...lines);
    for (const follower of this.#followers) follower.write(lines.map(written).join(''));
  }

  /** Deletes the lines for new requests; open streams continue. */
  rotate(): void {
    this.lines = [];
  }

  /** Ends the open streams, as after the end of the container. */
  end(): void {
    for (const follower of this.#followers) follower.end();
    this.#followers.clear();
  }

  /** Breaks the connections of the open streams. */
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
