// A program: says on its standard output, as JSON, how many bytes of a page became old after it was answered, and how
// many bytes the lines of the page have. In a process of its own, whose young generation has room for all of a page: what
// is still being worked on when there is no more room becomes old by right.
import { once } from 'node:events';
import { get } from 'node:http';
import { getHeapSpaceStatistics } from 'node:v8';
import pino from 'pino';
import { VictoriaLogsLogStore } from '../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import type { LogStore } from '../../../../server/logging/log-store.ts';
import { LOGS, LogService } from '../../../support/logging/log-service.ts';
import { storeAt } from '../../../support/logging/opensearch-store.ts';
import { rows, ScriptedVictoriaLogs } from '../../../support/logging/scripted-victorialogs.ts';
import { FIELDS } from '../../../support/logging/victorialogs.ts';
import { ANSWERED, answer, scriptedStore } from '../logging/backends/opensearch/scripted-store.ts';

export interface GrownOld {
  readonly lineBytes: number;
  readonly oldBytes: number;
}

const LINES = 100;
const LINE_BYTES = 8_192;
const NOON = '2026-11-20T11:00:00.';
const TEXTS = Array.from({ length: LINES }, (_, n) => `${n} `.padEnd(LINE_BYTES, 'x'));

/** A store that answers at once, but for lines: these come when they are let out. */
interface HeldStore extends AsyncDisposable {
  readonly store: LogStore;
  readonly gate: Gate;
}

class Gate {
  #asked = Promise.withResolvers<() => void>();

  hold(letOut: () => void): void {
    this.#asked.resolve(letOut);
  }

  /** Resolves with what lets the lines out, once they were asked for. */
  async asked(): Promise<() => void> {
    const letOut = await this.#asked.promise;
    this.#asked = Promise.withResolvers<() => void>();
    return letOut;
  }
}

async function heldOpenSearch(): Promise<HeldStore> {
  const gate = new Gate();
  const begin = BigInt(Date.parse(`${NOON}000Z`)) * 1_000_000n;
  const text = answer(
    TEXTS.map((log, n) => ({ id: `${n}`, key: String(begin + BigInt(LINES - n)), sequence: n, log })),
  );
  const server = await scriptedStore((_, response) => {
    gate.hold(() => response.writeHead(200, { 'content-type': 'application/json' }).end(text));
    return ANSWERED;
  });
  return {
    store: storeAt(server.url),
    gate,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function heldVictoriaLogs(): Promise<HeldStore> {
  const gate = new Gate();
  const time = (n: number) => `${NOON}${String(LINES - n).padStart(9, '0')}Z`;
  const text = TEXTS.map((log, n) => {
    const line = {
      _time: time(n),
      [FIELDS.message]: log,
      [FIELDS.namespace]: 'web',
      [FIELDS.pod]: 'web-1',
      [FIELDS.container]: 'app',
    };
    return `${JSON.stringify(line)}\n`;
  }).join('');
  const overview = rows({ n: String(LINES), first: time(LINES - 1), last: time(0), unsure: '0' });
  const server = await ScriptedVictoriaLogs.start((response, asked) => {
    if (asked.form.get('query')?.includes(' stats ') === true) overview(response, asked);
    else gate.hold(() => response.writeHead(200, { 'Content-Type': 'application/stream+json' }).end(text));
  });
  const log = pino({ level: 'silent' });
  return {
    store: new VictoriaLogsLogStore({ url: server.url, fields: FIELDS, log }),
    gate,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const OLD = new Set(['old_space', 'large_object_space', 'new_large_object_space']);

/** Of what has survived collections. */
function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => OLD.has(name))
    .reduce((sum, { space_used_size: size }) => sum + size, 0);
}

function collect(type: 'minor' | 'major'): void {
  if (!globalThis.gc) throw new Error('started without --expose-gc');
  // Twice: what survives one collection of the young becomes old in the next.
  for (let n = 0; n < 2; n++) globalThis.gc({ type, execution: 'sync' });
}

async function grownOld({ store, gate }: HeldStore): Promise<number> {
  const service = await new LogService({ store }).start();
  const request = get({ port: service.server.port, path: `${LOGS}?size=${LINES}`, agent: false });
  const letOut = await gate.asked();
  // Now all who wait are old.
  collect('major');
  const before = oldBytes();
  letOut();
  const [response] = await once(request, 'response');
  if (response.statusCode !== 200) throw new Error(`answered with ${response.statusCode}`);
  await once(response.resume(), 'end');
  // What is on its way to the caller is still needed.
  await service.stop();
  collect('minor');
  return oldBytes() - before;
}

await using held = await (process.argv[2] === 'OpenSearch' ? heldOpenSearch() : heldVictoriaLogs());
// What runs for the first time leaves code behind.
await grownOld(held);
const grown: GrownOld = { lineBytes: LINES * LINE_BYTES, oldBytes: await grownOld(held) };
console.log(JSON.stringify(grown));
