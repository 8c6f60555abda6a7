import { once } from 'node:events';
import { get } from 'node:http';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import pino from 'pino';
import { VictoriaLogsLogStore } from '../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import type { LogStore } from '../../../../server/logging/log-store.ts';
import { LOGS, LogService } from '../../../support/log-service.ts';
import { storeAt } from '../../../support/opensearch-store.ts';
import { rows, ScriptedVictoriaLogs } from '../../../support/scripted-victorialogs.ts';
import { FIELDS } from '../../../support/victorialogs.ts';
import { ANSWERED, answer, scriptedStore } from './backends/opensearch/scripted-store.ts';

setFlagsFromString('--expose-gc');
const collect: (options?: { type: 'minor' | 'major' }) => void = runInNewContext('gc');

const LINES = 100;
const LINE_BYTES = 8_192;
const NOON = '2026-11-20T11:00:00.';

/** A store whose answers come when they are let out, but for those that are no lines. */
interface HeldStore extends AsyncDisposable {
  readonly store: LogStore;
  /** Resolves with what lets the lines out, once they were asked for. */
  asked(): Promise<() => void>;
}

class Gate {
  #asked = Promise.withResolvers<() => void>();

  hold(letOut: () => void): void {
    this.#asked.resolve(letOut);
  }

  async asked(): Promise<() => void> {
    const letOut = await this.#asked.promise;
    this.#asked = Promise.withResolvers<() => void>();
    return letOut;
  }
}

const logs = Array.from({ length: LINES }, (_, n) => `${n} `.padEnd(LINE_BYTES, 'x'));

const stores: Readonly<Record<string, () => Promise<HeldStore>>> = {
  async OpenSearch() {
    const gate = new Gate();
    const begin = BigInt(Date.parse(`${NOON}000Z`)) * 1_000_000n;
    const lines = answer(
      logs.map((log, n) => ({ id: `${n}`, key: String(begin + BigInt(LINES - n)), sequence: n, log })),
    );
    const server = await scriptedStore((_, response) => {
      gate.hold(() => response.writeHead(200, { 'content-type': 'application/json' }).end(lines));
      return ANSWERED;
    });
    return {
      store: storeAt(server.url),
      asked: () => gate.asked(),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  async VictoriaLogs() {
    const gate = new Gate();
    const time = (n: number) => `${NOON}${String(LINES - n).padStart(9, '0')}Z`;
    const lines = rows(
      ...logs.map((log, n) => ({
        _time: time(n),
        [FIELDS.message]: log,
        [FIELDS.namespace]: 'web',
        [FIELDS.pod]: 'web-1',
        [FIELDS.container]: 'app',
      })),
    );
    const overview = rows({ n: String(LINES), first: time(LINES - 1), last: time(0), unsure: '0' });
    const server = await ScriptedVictoriaLogs.start((response, asked) => {
      if (asked.form.get('query')?.includes(' stats ') === true) overview(response, asked);
      else gate.hold(() => lines(response, asked));
    });
    const store = new VictoriaLogsLogStore({
      url: server.url,
      fields: FIELDS,
      log: pino({ level: 'silent' }),
    });
    return { store, asked: () => gate.asked(), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  },
};

const OLD = new Set(['old_space', 'large_object_space', 'new_large_object_space']);

/** Of what has survived collections. */
function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => OLD.has(name))
    .reduce((sum, { space_used_size: size }) => sum + size, 0);
}

describe('lines of a page that was answered', () => {
  for (const [name, start] of Object.entries(stores)) {
    it(`do not become old with who has waited for ${name}`, async () => {
      await using held = await start();
      const service = await new LogService({ store: held.store }).start();
      const grown = async (): Promise<number> => {
        const request = get({ port: service.server.port, path: `${LOGS}?size=${LINES}`, agent: false });
        const letOut = await held.asked();
        // Now all who wait are old.
        collect();
        collect();
        const before = oldBytes();
        letOut();
        const [response] = await once(request, 'response');
        expect(response.statusCode).to.equal(200);
        await once(response.resume(), 'end');
        for (let n = 0; n < 3; n++) collect({ type: 'minor' });
        return oldBytes() - before;
      };
      try {
        // What runs for the first time leaves code behind.
        await grown();
        expect(await grown()).to.be.below((LINES * LINE_BYTES) / 4);
      } finally {
        await service.stop();
      }
    });
  }
});
