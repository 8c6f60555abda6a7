import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { isExpired, newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { BEGINNING } from '../../../../../server/logging/instant.ts';
import type { Selection } from '../../../../../server/logging/log-store.ts';
import { patternError } from '../../../../../server/logging/matching/regex-dialect.ts';
import { newNotSupported } from '../../../../../server/logging/store-errors.ts';
import {
  type FollowOptions,
  type FollowRequest,
  writeFollowed,
} from '../../../../../server/logging/streams/follow-stream.ts';
import { GONE } from '../../../../../server/logging/streams/stream-body.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';
import { line } from '../../../../support/logging/log-service.ts';
import { answered, MemoryLogStore } from '../../../../support/logging/memory-log-store.ts';

const query = newLogQueryDecoder({ pattern: patternError }).decode(new URLSearchParams('follow=true'));

function seeing(...names: string[]): Selection {
  const namespaces = names.map((name) => ({ name, since: BEGINNING }));
  return { scope: { everything: false, namespaces }, range: { start: BEGINNING, end: BEGINNING } };
}

describe('a live tail', () => {
  let server: HandlerServer | undefined;
  afterEach(() => server?.close());

  const serve = async (
    request: Pick<FollowRequest, 'currentSelection'> & Partial<FollowRequest>,
    options: Partial<FollowOptions> = {},
    finished: (error: unknown) => void = () => undefined,
  ): Promise<HandlerServer> => {
    server = await new HandlerServer(async (context) => {
      const { signal } = context;
      await writeFollowed(
        context,
        { query, selection: seeing('shop'), start: BEGINNING, signal, ...request },
        {
          store: new MemoryLogStore([]),
          turns: new TimeSlicer(),
          streamed: () => undefined,
          overlapMs: 2_000,
          now: Date.now,
          monotonic: () => performance.now(),
          ...options,
        },
      ).then(() => finished('whole'), finished);
    }).start();
    return server;
  };

  it('ends, and says why, when the caller may see less or more than before', async () => {
    for (const now of [seeing(), seeing('shop', 'bank'), undefined]) {
      const ended = Promise.withResolvers<unknown>();
      const request = { currentSelection: async () => now };
      const { body } = await (await serve(request, { reviewMs: 5 }, ended.resolve)).ask('/');
      expect(JSON.parse(body.toString())).to.deep.equal({
        error: { reason: 'ScopeChanged', message: 'your permissions have changed; repeat the request' },
      });
      expect(await ended.promise).to.satisfy(isExpired);
      await server?.close();
      server = undefined;
    }
  });

  it('ends, and says why, when the cluster cannot be asked what the caller may see', async () => {
    const currentSelection = () => Promise.reject(newServiceUnavailable('the cluster gave no answer'));
    const { body } = await (await serve({ currentSelection }, { reviewMs: 5 })).ask('/');
    expect(body.toString()).to.include('the cluster gave no answer');
  });

  it('ends whole, and says nothing, when the server stops before it has begun and no line comes', async () => {
    const ended = Promise.withResolvers<unknown>();
    const currentSelection = async () => undefined;
    const request = { selection: undefined, currentSelection, signal: AbortSignal.abort() };
    const { status, body } = await (await serve(request, {}, ended.resolve)).ask('/');
    expect([status, body.length, await ended.promise]).to.deep.equal([200, 0, 'whole']);
  });

  it('ends, and says that it is a limit, when more has come than may be followed', async () => {
    const store = {
      async *follow() {
        yield [answered(line('2026-11-20T10:00:00.000000000Z', 'one'))];
        throw newNotSupported('kubernetes', 'follow', 'ask for fewer');
      },
    };
    const currentSelection = async () => seeing('shop');
    const { body } = await (await serve({ currentSelection }, { store })).ask('/');
    const [, error = ''] = body.toString().trimEnd().split('\n');
    expect(JSON.parse(error)).to.have.nested.property('error.reason', 'Limit');
    expect(error).to.include('ask for fewer');
  });

  it('keeps nothing of what it has shown', async () => {
    const shown: WeakRef<object>[] = [];
    const store = {
      async *follow(_: unknown, { signal }: { readonly signal: AbortSignal }) {
        for (let n = 0; n < 20; n++) {
          const batch = [answered(line('2026-11-20T10:00:00.000000000Z', `line ${n};`))];
          shown.push(new WeakRef(batch));
          yield batch;
        }
        if (!signal.aborted) await once(signal, 'abort');
      },
    };
    const answer = await (await serve({ currentSelection: async () => seeing('shop') }, { store })).open('/');
    let seen = '';
    for await (const chunk of answer.iterator({ destroyOnReturn: false })) {
      seen += String(chunk);
      if (seen.includes('line 19;')) break;
    }
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    expect(shown.filter((batch) => batch.deref()).length).to.be.below(3);
    answer.destroy();
  });

  it('shows that it lives while there are no lines', async () => {
    const currentSelection = async () => seeing('shop');
    const answer = await (await serve({ currentSelection }, { heartbeatMs: 5, reviewMs: 5 })).open('/');
    const [beat] = (await once(answer, 'data')) as [Buffer];
    expect(beat.toString()).to.equal('\n');
    answer.destroy();
  });

  it('shows an EventSource how far it is while there are no lines', async () => {
    let now = Date.parse('2026-11-20T12:00:00Z');
    const currentSelection = async () => seeing('shop');
    const tail = await serve(
      { currentSelection, start: '2026-11-20T12:00:00.000000000Z' },
      { heartbeatMs: 5, now: () => now, monotonic: () => now },
    );
    const answer = await tail.open('/', { headers: { Accept: 'text/event-stream' } });
    const ids: string[] = [];
    for await (const chunk of answer) {
      // A sign of life may come in between that tells nothing.
      const [, id] = /^id: (.*)$/m.exec(String(chunk)) ?? [];
      if (id === undefined) continue;
      now += 3_600_000;
      if (ids.push(id.slice(11, 19)) === 3) break;
    }
    expect(ids).to.deep.equal(['12:00:02', '12:50:02', '13:50:02']);
  });

  it('shows an EventSource how far it is behind a line too', async () => {
    let now = Date.parse('2026-11-20T12:00:00Z');
    const store = {
      async *follow(_: unknown, { signal }: { readonly signal: AbortSignal }) {
        yield [answered(line('2026-11-20T12:00:00.000000000Z', 'one'))];
        if (!signal.aborted) await once(signal, 'abort');
      },
    };
    const tail = await serve(
      { currentSelection: async () => seeing('shop'), start: '2026-11-20T12:00:00.000000000Z' },
      { store, heartbeatMs: 5, now: () => now, monotonic: () => now },
    );
    const answer = await tail.open('/', { headers: { Accept: 'text/event-stream' } });
    let seen = '';
    for await (const chunk of answer) {
      seen += String(chunk);
      if (now === Date.parse('2026-11-20T12:00:00Z') && seen.includes('"log":"one"')) now += 3_600_000;
      if (seen.includes('12:50:02')) break;
    }
    expect(seen.match(/^id: .*$/gm)?.map((id) => id.slice(15, 23))).to.deep.equal([
      '12:00:02',
      '12:00:02',
      '12:50:02',
    ]);
  });

  it('ends whole, and says nothing more, when the store has nothing more', async () => {
    const ended = Promise.withResolvers<unknown>();
    const store = {
      async *follow() {
        yield [answered(line('2026-11-20T12:00:00.000000000Z', 'one'))];
      },
    };
    const request = { currentSelection: async () => seeing('shop') };
    const { body } = await (await serve(request, { store }, ended.resolve)).ask('/');
    expect(body.toString()).to.match(/^\{"log":"one".*\}\n$/);
    expect(await ended.promise).to.equal('whole');
  });

  it('asks the store for no more than is taken, and cuts a reader that takes nothing', async () => {
    const cut = Promise.withResolvers<unknown>();
    const long = answered(line('2026-11-20T10:00:00.000000000Z', 'x'.repeat(100_000)));
    let batches = 0;
    const store = {
      async *follow() {
        for (;;) {
          batches += 1;
          yield [long];
        }
      },
    };
    const currentSelection = async () => seeing('shop');
    const answer = await (await serve({ currentSelection }, { store, stallMs: 50 }, cut.resolve)).open('/');
    expect(await cut.promise).to.have.property('name', 'AbortError');
    expect(batches).to.be.below(400);
    answer.destroy();
  });

  it('ends in the store too when its reader leaves in the middle of what it was given', async () => {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const long = answered(line('2026-11-20T10:00:00.000000000Z', 'x'.repeat(100_000)));
    // One that looks at no signal.
    const store = {
      async *follow() {
        try {
          for (let batches = 0; ; batches++) {
            if (batches === 20) begun.resolve();
            yield [long];
          }
        } finally {
          ended.resolve();
        }
      },
    };
    const gone = Promise.withResolvers<unknown>();
    const request = { currentSelection: async () => seeing('shop') };
    const answer = await (await serve(request, { store }, gone.resolve)).open('/');
    await begun.promise;
    answer.destroy();
    await ended.promise;
    expect(await gone.promise).to.equal(GONE);
  });

  it('leaves no timer behind', async () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    let before = 0;
    for (let tails = 0; tails < 20; tails++) {
      const ended = Promise.withResolvers<unknown>();
      const request = { currentSelection: async () => seeing('shop') };
      const tail = await serve(request, {}, ended.resolve);
      (await tail.open('/')).destroy();
      await ended.promise;
      await tail.close();
      if (tails === 0) before = timers();
    }
    server = undefined;
    // Those of sockets come and go.
    expect(timers() - before).to.be.below(10);
  });
});
