// Tests of the end of live tails, for example after a change of permissions.
import { once } from 'node:events';
import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { isExpired } from '../../../../../apis/meta/v1/errors.ts';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { GONE } from '../../../../../server/endpoints/stream-body.ts';
import { BEGINNING } from '../../../../../server/logging/instant.ts';
import type { Selection } from '../../../../../server/logging/log-store.ts';
import { patternError } from '../../../../../server/logging/matching/regex-dialect.ts';
import { newNotSupported } from '../../../../../server/logging/store-errors.ts';
import {
  type FollowOptions,
  type FollowRequest,
  writeFollowed,
} from '../../../../../server/logging/streams/follow-stream.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';
import { line } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore, toLogRecord } from '../../../../support/logging/memory-log-store.ts';

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
          slicer: new TimeSlicer(),
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

  it('ends with ScopeChanged after any change of permissions', async () => {
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

  it('ends with Limit when it exceeds a limit of the store', async () => {
    const store = {
      async *follow() {
        yield [toLogRecord(line('2026-11-20T10:00:00.000000000Z', 'one'))];
        throw newNotSupported('kubernetes', 'follow', 'select fewer');
      },
    };
    const currentSelection = async () => seeing('shop');
    const { body } = await (await serve({ currentSelection }, { store })).ask('/');
    const [, error = ''] = body.toString().trimEnd().split('\n');
    expect(JSON.parse(error)).to.have.nested.property('error.reason', 'Limit');
    expect(error).to.include('select fewer');
  });

  it('sends heartbeats without lines', async () => {
    const currentSelection = async () => seeing('shop');
    const answer = await (await serve({ currentSelection }, { heartbeatMs: 5, reviewMs: 5 })).open('/');
    const [beat] = (await once(answer, 'data')) as [Buffer];
    expect(beat.toString()).to.equal('\n');
    answer.destroy();
  });

  it('sends positions to an EventSource without lines', async () => {
    let now = Date.parse('2026-11-20T12:00:00Z');
    const currentSelection = async () => seeing('shop');
    const tail = await serve(
      { currentSelection, start: '2026-11-20T12:00:00.000000000Z' },
      { heartbeatMs: 5, now: () => now, monotonic: () => now },
    );
    const answer = await tail.open('/', { headers: { Accept: 'text/event-stream' } });
    const ids: string[] = [];
    for await (const chunk of answer) {
      // A heartbeat without a position may come in between.
      const [, id] = /^id: (.*)$/m.exec(String(chunk)) ?? [];
      if (id === undefined) continue;
      now += 3_600_000;
      if (ids.push(id.slice(11, 19)) === 3) break;
    }
    expect(ids).to.deep.equal(['12:00:02', '12:50:02', '13:50:02']);
  });

  it('ends without a message when the store ends', async () => {
    const ended = Promise.withResolvers<unknown>();
    const store = {
      async *follow() {
        yield [toLogRecord(line('2026-11-20T12:00:00.000000000Z', 'one'))];
      },
    };
    const request = { currentSelection: async () => seeing('shop') };
    const { body } = await (await serve(request, { store }, ended.resolve)).ask('/');
    expect(body.toString()).to.match(/^\{"log":"one".*\}\n$/);
    expect(await ended.promise).to.equal('whole');
  });

  it('reads the store at the pace of the reader, and closes the connection of a stalled reader', async () => {
    const cut = Promise.withResolvers<unknown>();
    const long = toLogRecord(line('2026-11-20T10:00:00.000000000Z', 'x'.repeat(100_000)));
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

  it('ends in the store when the reader disconnects while lines are written', async () => {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const long = toLogRecord(line('2026-11-20T10:00:00.000000000Z', 'x'.repeat(100_000)));
    // A store that ignores the signal.
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
});
