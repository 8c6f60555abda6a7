// Tests of log exports during a change of the caller's permissions.
import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { isExpired, newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { BEGINNING } from '../../../../../server/logging/instant.ts';
import type {
  ExportBatches,
  LogRecord,
  LogStore,
  Scope,
  Selection,
} from '../../../../../server/logging/log-store.ts';
import { patternError } from '../../../../../server/logging/matching/regex-dialect.ts';
import { type ExportRequest, writeExport } from '../../../../../server/logging/streams/export-stream.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';

const query = newLogQueryDecoder({ pattern: patternError }).decode(
  new URLSearchParams('operation=export&format=ndjson'),
);
const LATER = '2026-11-20T10:00:00.000000000Z';
const record: LogRecord = { time: LATER, log: 'x', namespace: 'shop', pod: 'cart-0', container: 'cart' };

function seeing(scope: Scope): Selection {
  return { scope, range: { start: BEGINNING, end: LATER } };
}

const namespaces = (...names: string[]): Selection =>
  seeing({ everything: false, namespaces: names.map((name) => ({ name, since: BEGINNING })) });

describe('an export with permissions that change', () => {
  let server: HandlerServer | undefined;
  afterEach(() => server?.close());

  /** Endless lines, ignoring the signal, until `enough` reviews. */
  const store = (looks: () => number, enough: number): Pick<LogStore, 'export'> => ({
    async *export(): ExportBatches {
      while (looks() < enough) {
        yield [record];
        await new Promise((resolve) => setImmediate(resolve));
      }
      return { shortfalls: [] };
    },
  });

  /** `now`: the selection at the nth review, from 1 on. Resolves with the last line and the failure. */
  const exported = async (
    selection: Selection | undefined,
    now: (look: number) => Promise<Selection | undefined>,
    enough = Number.POSITIVE_INFINITY,
  ): Promise<{ readonly last: string; readonly failure: unknown; readonly looks: number }> => {
    let looks = 0;
    let failure: unknown;
    const currentSelection: ExportRequest['currentSelection'] = () => now(++looks);
    server = await new HandlerServer(async (context) => {
      await writeExport(
        context,
        { query, selection, currentSelection, call: { signal: context.signal, timeoutMs: 60_000 } },
        {
          store: store(() => looks, enough),
          maxLines: 1_000_000,
          streamed: () => undefined,
          now: Date.now,
          reviewMs: 5,
        },
      ).catch((error: unknown) => {
        failure = error;
      });
    }).start();
    let text = '';
    try {
      for await (const chunk of await server.open('/')) text += String(chunk);
    } catch {
      // The connection is closed after the marker of an incomplete export.
    }
    await server.close();
    server = undefined;
    return { last: text.trimEnd().split('\n').at(-1) ?? '', failure, looks };
  };

  it('ends with ScopeChanged when it loses a permission', async () => {
    const shop = namespaces('shop');
    for (const [begun, now] of [
      [shop, undefined],
      [shop, namespaces('bank')],
      [namespaces('bank', 'shop'), shop],
      [shop, seeing({ everything: false, namespaces: [{ name: 'shop', since: LATER }] })],
      [seeing({ everything: true }), shop],
    ] as const) {
      const { last, failure } = await exported(begun, async () => now);
      expect(JSON.parse(last)).to.deep.equal({
        error: { reason: 'ScopeChanged', message: 'your permissions have changed; repeat the request' },
      });
      expect(failure).to.satisfy(isExpired);
    }
  });

  it('continues with the same or more permissions', async () => {
    const shop = namespaces('shop');
    const everything = seeing({ everything: true });
    for (const [begun, now] of [
      [shop, shop],
      [shop, namespaces('bank', 'shop')],
      [shop, everything],
      [everything, everything],
    ] as const) {
      const { last, failure, looks } = await exported(begun, async () => now, 3);
      expect(JSON.parse(last)).to.deep.equal(record);
      expect([failure, looks]).to.deep.equal([undefined, 3]);
    }
  });

  it('tolerates a short outage of the cluster, and ends after a longer one', async () => {
    const shop = namespaces('shop');
    const away = () => Promise.reject(newServiceUnavailable('the cluster did not respond'));
    const back = await exported(shop, (look) => (look % 5 === 0 ? Promise.resolve(shop) : away()), 11);
    expect([JSON.parse(back.last), back.failure]).to.deep.equal([record, undefined]);
    const { last, looks } = await exported(shop, away);
    expect(JSON.parse(last)).to.deep.equal({
      error: { reason: 'StoreFailed', message: 'the cluster did not respond' },
    });
    expect(looks).to.equal(5);
  });
});
