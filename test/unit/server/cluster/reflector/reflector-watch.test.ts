// Tests of the watches of a reflector against a fake kube-apiserver.
import { expect } from 'chai';
import {
  added,
  complete,
  followingEach,
  listing,
  modified,
  refusing,
  sending,
} from '../../../../support/cluster/followed-script.ts';
import { rawThing } from '../../../../support/cluster/raw-objects.ts';
import { bookmark, type Call, event, send, status } from '../../../../support/cluster/scripted-cluster.ts';

describe('Reflector: watch', () => {
  const followed = followingEach();

  const completeAndEnd = (call: Call): void => {
    complete(call);
    call.response.end();
  };

  it('resumes without a relist when the watch ends or breaks', async () => {
    const { sink, cluster } = await followed({
      stream: [
        (call) => {
          complete(call);
          send(call.response, modified('a', 6), bookmark(8));
          call.response.end();
        },
      ],
      watch: [
        ({ response }) => {
          send(response, modified('a', 9));
          response.write('{"type":"MODI', () => response.socket?.destroy());
        },
        sending(modified('a', 10)),
      ],
    });
    await sink.until('MODIFIED a@10');
    expect(sink.lines.slice(1)).to.deep.equal([
      'MODIFIED a@6',
      'BOOKMARK 8',
      'MODIFIED a@9',
      'MODIFIED a@10',
    ]);
    const watches = cluster.calls.filter(({ kind }) => kind === 'watch');
    expect(watches.map(({ url }) => url.searchParams.get('resourceVersion'))).to.deep.equal(['8', '9']);
  });

  it('reports that a resumed watch began when its headers arrive, before any event or bookmark', async () => {
    const { sink, watchBegan, progress } = await followed({
      stream: [completeAndEnd],
      watch: [sending('')],
    });
    await watchBegan;
    expect(sink.lines).to.deep.equal(['list@5 a@3 b@2']);
    expect(progress).to.deep.equal(['5']);
  });

  const gone: Record<string, (call: Call) => void> = {
    'the HTTP status 410': refusing(410, 'Expired'),
    'an ERROR event with the code 410': ({ response }) => {
      send(response, event('ERROR', status(410, 'Expired', 'too old resource version')));
      response.end();
    },
    'the reason Gone': refusing(410, 'Gone'),
  };
  for (const [how, answer] of Object.entries(gone)) {
    it(`relists when its resourceVersion is rejected by ${how}`, async () => {
      const { sink, causes } = await followed({
        stream: [completeAndEnd, sending(added('c', 11), bookmark(12, true))],
        watch: [answer],
      });
      await sink.until('list@12 c@11');
      expect(sink.lines).to.deep.equal(['list@5 a@3 b@2', 'list@12 c@11']);
      expect(causes).to.deep.equal(['end', 'expired']);
    });
  }

  it('relists at once when the cluster returns after an outage and the resourceVersion has expired', async () => {
    const away = refusing(503, 'ServiceUnavailable');
    const { sink, retries } = await followed(
      {
        stream: [completeAndEnd, sending(added('c', 11), bookmark(12, true))],
        watch: [away, away, away, away, refusing(410, 'Expired')],
      },
      { initialBackoffMs: 2, maxBackoffMs: 10_000 },
    );
    await sink.until('list@12 c@11');
    expect(retries).to.deep.equal([2, 4, 8, 16, 1]);
  });

  it('resumes, with its selectors, when the cluster has not advanced', async () => {
    const { sink, cluster, causes } = await followed({
      stream: [completeAndEnd],
      position: [listing(5)],
      watch: [sending(modified('a', 9))],
    });
    await sink.until('MODIFIED a@9');
    expect(cluster.kinds).to.deep.equal(['stream', 'position', 'watch']);
    for (const { url } of cluster.calls) expect(url.searchParams.get('labelSelector')).to.equal('a=b');
    expect(causes).to.deep.equal(['end']);
  });

  const unreadable: Record<string, string> = {
    'is of an unknown type': `${event('SURPRISE', rawThing('a', 8))}\n`,
    'has no object': '{"type":"MODIFIED"}\n',
    'has no resourceVersion': `${event('MODIFIED', '{"metadata":{"name":"a"}}')}\n`,
    'is an ERROR of no code': `${event('ERROR', '{"kind":"Status","message":"what"}')}\n`,
    'ends before its line does': modified('a', 8),
  };
  for (const [what, text] of Object.entries(unreadable)) {
    it(`resumes after the last good event when an event ${what}`, async () => {
      const { sink, cluster, causes } = await followed({
        stream: [
          (call) => {
            complete(call);
            call.response.end(text);
          },
        ],
        watch: [sending(modified('a', 9))],
      });
      await sink.until('MODIFIED a@9');
      expect(sink.lines).to.deep.equal(['list@5 a@3 b@2', 'MODIFIED a@9']);
      expect(causes).to.deep.equal(['error']);
      expect(cluster.calls.at(-1)?.url.searchParams.get('resourceVersion')).to.equal('5');
    });
  }

  it('replaces a watch without a response', async () => {
    const { sink, causes } = await followed(
      {
        stream: [completeAndEnd],
        watch: [() => undefined, sending(modified('a', 9))],
      },
      { stallMs: 1_000 },
    );
    await sink.until('MODIFIED a@9');
    expect(causes).to.deep.equal(['end', 'error']);
  });

  it('relists when the sink throws, because it may have missed a change', async () => {
    const { sink } = await followed({
      stream: [
        (call) => {
          sink.fails = 1;
          complete(call);
          send(call.response, modified('a', 6));
        },
        sending(added('a', 6), bookmark(7, true)),
      ],
    });
    await sink.until('list@7 a@6');
    expect(sink.lines).to.deep.equal(['list@5 a@3 b@2', 'list@7 a@6']);
  });

  it('logs one warning per rejection, and the recovery', async () => {
    const forbidden = refusing(403, 'Forbidden');
    const { sink, log } = await followed({
      stream: [completeAndEnd],
      watch: [forbidden, forbidden, forbidden, refusing(500, 'InternalError'), sending(modified('a', 6))],
    });
    await sink.until('MODIFIED a@6');
    expect(log.filter((line) => line.startsWith('warn') || /watch/.test(line))).to.deep.equal([
      'warn reflector resumes its watch',
      'debug reflector resumes its watch',
      'debug reflector resumes its watch',
      'warn reflector resumes its watch',
      'info reflector watches again',
    ]);
  });

  it('logs another failure again after the interval of reminders', async () => {
    const failed = refusing(500, 'InternalError');
    const { sink, log } = await followed({ stream: [failed, failed, failed, complete] }, { reminderMs: 0 });
    await sink.until('list@5 a@3 b@2');
    expect(log.filter((line) => line.startsWith('warn'))).to.have.length(3);
  });

  /** A watch without events, as of events in a quiet cluster, that kube-apiserver ends in order. */
  const silentAndEnd = ({ response }: Call): void => void response.writeHead(200).end();

  it('resumes a watch of events from the current resourceVersion, without a failure or a relist', async () => {
    const { sink, cluster, causes, log } = await followed(
      {
        stream: [completeAndEnd],
        position: [listing(20), listing(30), listing(40)],
        watch: [silentAndEnd, silentAndEnd, sending(modified('a', 41))],
      },
      { healthyMs: 0 },
      { path: '/api/v1/events' },
    );
    await sink.until('MODIFIED a@41');
    expect(sink.lines).to.deep.equal(['list@5 a@3 b@2', 'MODIFIED a@41']);
    expect(causes).to.deep.equal(['end', 'end', 'end']);
    expect(log).to.deep.equal(['info reflector listed']);
    const watches = cluster.calls.filter(({ kind }) => kind === 'stream' || kind === 'watch');
    expect(watches.map(({ url }) => url.searchParams.get('resourceVersion'))).to.deep.equal([
      null,
      '5',
      '20',
      '30',
    ]);
    // They end before the connection counts as broken.
    const limits = watches.map(({ url }) => Number(url.searchParams.get('timeoutSeconds')));
    expect(Math.max(...limits)).to.be.below(5);
  });

  it('ends the watches of a kind early once one of them had no bookmarks, until the next bookmark', async () => {
    const { sink, cluster, causes, log } = await followed(
      {
        // Nothing arrives after the list.
        stream: [complete],
        position: [listing(20), listing(30)],
        watch: [
          silentAndEnd,
          ({ response }) => {
            send(response, bookmark(30));
            response.end();
          },
          sending(modified('a', 31)),
        ],
      },
      { stallMs: 1_000, healthyMs: 0 },
    );
    await sink.until('MODIFIED a@31');
    expect(causes).to.deep.equal(['stalled', 'end', 'end']);
    expect(log).to.include('info reflector resumes its watch').and.not.include('info reflector relists');
    const watches = cluster.calls.filter(({ kind }) => kind === 'watch');
    const sent = (name: string) => watches.map(({ url }) => url.searchParams.get(name));
    expect(sent('resourceVersion')).to.deep.equal(['5', '20', '30']);
    expect(sent('timeoutSeconds')).to.deep.equal(['1', '1', '300']);
  });

  it('resumes from its own resourceVersion after a watch that was broken, or that ended early', async () => {
    for (const [end, healthyMs] of [
      [({ response }: Call) => void response.writeHead(200).write('\n', () => response.destroy()), 0],
      [silentAndEnd, 60_000],
    ] as const) {
      const { sink, cluster } = await followed(
        { stream: [completeAndEnd], position: [listing(20)], watch: [end, sending(modified('a', 21))] },
        { healthyMs },
      );
      await sink.until('MODIFIED a@21');
      const watches = cluster.calls.filter(({ kind }) => kind === 'watch');
      expect(watches.map(({ url }) => url.searchParams.get('resourceVersion'))).to.deep.equal(['5', '5']);
    }
  });

  it('resumes from its own resourceVersion after a watch that stalls, or that sent a bookmark', async () => {
    const silent = ({ response }: Call): void => response.writeHead(200).flushHeaders();
    const behind = ({ response }: Call): void => {
      send(response, bookmark(7));
      response.end();
    };
    for (const [script, expected] of [
      // The events before 20 and 30 were sent to a connection that has broken.
      [
        [silent, silent],
        ['5', '5', '5'],
      ],
      // The watch cache of kube-apiserver is behind etcd.
      [
        [silent, behind],
        ['5', '5', '7'],
      ],
    ] as const) {
      const { sink, cluster } = await followed(
        {
          stream: [completeAndEnd],
          position: [listing(20), listing(30)],
          watch: [...script, sending(modified('a', 31))],
        },
        { stallMs: 1_000, healthyMs: 0 },
      );
      await sink.until('MODIFIED a@31');
      const watches = cluster.calls.filter(({ kind }) => kind === 'watch');
      expect(watches.map(({ url }) => url.searchParams.get('resourceVersion'))).to.deep.equal(expected);
    }
  });

  it('logs a missing permission once, however long it lasts, and its end', async () => {
    // Messages of an aggregated API, or of a webhook authorizer, can differ each time.
    const forbidden = Array.from({ length: 8 }, (_, i) =>
      refusing(403, 'Forbidden', `forbidden in request ${i % 3}`),
    );
    const { sink, log, causes, retries } = await followed(
      { stream: [...forbidden, complete] },
      // Other failures are logged each time.
      { reminderMs: 0 },
    );
    await sink.until('list@5 a@3 b@2');
    expect(log.filter((line) => !line.startsWith('debug'))).to.deep.equal([
      'warn reflector relists',
      'info reflector listed',
    ]);
    expect(new Set(causes)).to.deep.equal(new Set(['forbidden']));
    // Slower and slower, beyond the maximum of 20 ms after other failures.
    expect(retries.at(-1)).to.be.above(100);
  });
});
