// Test fixture: a reader of the Server-Sent Events of live lists.
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { record } from '../../../apis/reading/unknown-value.ts';

export interface LiveEvent {
  readonly event: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export class LiveEvents {
  readonly #response: IncomingMessage;
  readonly #events: AsyncGenerator<LiveEvent>;

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.#events = eventsOf(response);
  }

  /** Returns the next event; undefined at the end of the response. */
  async next(): Promise<LiveEvent | undefined> {
    const { value, done } = await this.#events.next();
    return done ? undefined : value;
  }

  /** Returns the first further event that fits. */
  async until(fits: (event: LiveEvent) => boolean): Promise<LiveEvent> {
    for (;;) {
      const event = await this.next();
      if (!event) throw new Error('the live list has ended');
      if (fits(event)) return event;
    }
  }

  /** True if the response was complete. */
  get complete(): boolean {
    return this.#response.complete;
  }

  close(): void {
    this.#response.destroy();
  }
}

/** Comments, which are heartbeats, are skipped. */
async function* eventsOf(response: IncomingMessage): AsyncGenerator<LiveEvent> {
  let fields = new Map<string, string>();
  for await (const line of createInterface({ input: response })) {
    const [, name, value] = /^(\w+): (.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) fields.set(name, value);
    if (line !== '' || fields.size === 0) continue;
    yield {
      event: fields.get('event') ?? '',
      id: fields.get('id') ?? '',
      data: record(JSON.parse(fields.get('data') ?? '')),
    };
    fields = new Map();
  }
}
