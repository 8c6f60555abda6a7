// Reader for the events of a watch response.
import type { Readable } from 'node:stream';
import { record } from '../../../apis/reading/unknown-value.ts';

export interface SeenEvent {
  readonly type: string;
  readonly object: Readonly<Record<string, unknown>>;
}

export class WatchLines {
  readonly #incoming: Readable;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest = '';

  constructor(incoming: Readable) {
    this.#incoming = incoming;
    // A reader that has stopped ignores errors.
    incoming.on('error', () => undefined);
    this.#chunks = incoming.iterator({ destroyOnReturn: false });
  }

  /** Returns the next event, or undefined at the end of the stream. Throws if the stream is truncated. */
  async next(): Promise<SeenEvent | undefined> {
    for (;;) {
      const end = this.#rest.indexOf('\n');
      if (end >= 0) {
        const event = record(JSON.parse(this.#rest.slice(0, end)));
        this.#rest = this.#rest.slice(end + 1);
        return { type: String(event['type']), object: record(event['object']) };
      }
      const { value, done } = await this.#chunks.next();
      if (done) return undefined;
      this.#rest += value.toString();
    }
  }

  /** Returns the next events as `TYPE name@resourceVersion`. */
  async names(count: number): Promise<string[]> {
    const seen: string[] = [];
    while (seen.length < count) {
      const event = await this.next();
      if (!event) return [...seen, 'end'];
      const metadata = record(event.object['metadata']);
      seen.push(`${event.type} ${String(metadata['name'])}@${String(metadata['resourceVersion'])}`);
    }
    return seen;
  }

  close(): void {
    this.#incoming.destroy();
  }
}
