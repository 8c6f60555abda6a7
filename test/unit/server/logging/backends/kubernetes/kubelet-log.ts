// Fake container log that behaves like the log of a kubelet.
import type { ServerResponse } from 'node:http';

export interface WrittenLine {
  /** RFC 3339 with nine digits. */
  readonly time: string;
  readonly text: string;
  /** Whether it is an entry with the tag `P` of the CRI log format: the next entry continues its line. */
  readonly partial?: boolean;
}

/**
 * The log of one run of a container as a kubelet serves it (k8s.io/cri-client, pkg/logs): it applies tailLines, then
 * sinceTime, then limitBytes. It writes the time of an entry only if the entry before it, sent or omitted, ended a line.
 */
export class KubeletLog {
  lines: WrittenLine[] = [];
  /** Open streams, and whether the next entry of the stream starts a line. */
  readonly #followers = new Map<ServerResponse, boolean>();

  constructor(lines: readonly WrittenLine[] = []) {
    this.lines = [...lines];
  }

  get followers(): number {
    return this.#followers.size;
  }

  append(...lines: readonly WrittenLine[]): void {
    this.lines.push(...lines);
    for (const [follower, startsLine] of this.#followers) {
      const written = write(lines, 0, startsLine);
      this.#followers.set(follower, written.startsLine);
      follower.write(written.text);
    }
  }

  /** Deletes the lines for new requests; open streams continue. */
  rotate(): void {
    this.lines = [];
  }

  /** Ends the open streams, as after the end of the container. */
  end(): void {
    for (const follower of this.#followers.keys()) follower.end();
    this.#followers.clear();
  }

  /** Breaks the connections of the open streams. */
  cut(): void {
    for (const follower of this.#followers.keys()) follower.destroy();
  }

  serve(query: URLSearchParams, response: ServerResponse, running: boolean): void {
    const since = query.get('sinceTime');
    const [tail, limit] = [query.get('tailLines'), query.get('limitBytes')];
    const lines = tail ? this.lines.slice(-Number(tail)) : this.lines;
    const { text, startsLine } = write(lines, since === null ? 0 : Date.parse(since), true);
    const bytes = Buffer.from(text);
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.flushHeaders();
    response.write(limit ? bytes.subarray(0, Number(limit)) : bytes);
    if (query.get('follow') !== 'true' || !running) {
      response.end();
      return;
    }
    this.#followers.set(response, startsLine);
    response.on('close', () => this.#followers.delete(response));
  }
}

function write(entries: readonly WrittenLine[], begin: number, startsLine: boolean) {
  let text = '';
  for (const entry of entries) {
    const content = entry.partial ? entry.text : `${entry.text}\n`;
    if (Date.parse(entry.time) >= begin) text += startsLine ? `${entry.time} ${content}` : content;
    startsLine = content === '' || content.endsWith('\n');
  }
  return { text, startsLine };
}
