import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { eventMetadata } from '../../../../server/cluster/object-metadata.ts';
import { Reflector, type ReflectorSink, type ReflectorTuning } from '../../../../server/cluster/reflector.ts';
import { rawThing } from '../../../support/raw-objects.ts';
import {
  bookmark,
  type Call,
  event,
  list,
  refuse,
  ScriptedCluster,
  send,
  status,
} from '../../../support/scripted-cluster.ts';

/** Writes down what it is told, and lets a test wait for it. */
class Transcript implements ReflectorSink {
  readonly lines: string[] = [];
  readonly #waiting = new Map<string, () => void>();
  fails = 0;

  replacement(): ReturnType<ReflectorSink['replacement']> {
    const objects: string[] = [];
    return {
      add: (object) => objects.push(versionOf(object)),
      commit: (resourceVersion) => this.#write(`list@${resourceVersion} ${objects.join(' ')}`.trim()),
    };
  }

  apply(type: string, object: Buffer): void {
    if (this.fails-- > 0) throw new Error('the sink is broken');
    this.#write(`${type} ${versionOf(object)}`);
  }

  bookmark(resourceVersion: string): void {
    this.#write(`BOOKMARK ${resourceVersion}`);
  }

  until(line: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.lines.includes(line)) resolve();
      else this.#waiting.set(line, resolve);
    });
  }

  #write(line: string): void {
    this.lines.push(line);
    this.#waiting.get(line)?.();
  }
}

function versionOf(object: Buffer): string {
  const { metadata } = JSON.parse(object.toString('utf8')) as { metadata: { name: string } };
  return `${metadata.name}@${eventMetadata(object).resourceVersion}`;
}

const QUICK: Partial<ReflectorTuning> = {
  stallMs: 5_000,
  healthyMs: 60_000,
  initialBackoffMs: 2,
  maxBackoffMs: 20,
  random: () => 0,
};

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined };

describe('the reflector', () => {
  const ending: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const end of ending.splice(0)) await end();
  });

  /** Answers each kind of request by its script, the last entry again and again. */
  async function follow(
    scripts: Partial<Record<Call['asked'], ((call: Call) => void)[]>>,
    tuning: Partial<ReflectorTuning> = {},
  ): Promise<{ sink: Transcript; cluster: ScriptedCluster; causes: string[] }> {
    const cluster = await ScriptedCluster.start((call) => {
      const script = scripts[call.asked] ?? [];
      const before = cluster.asked.filter((asked) => asked === call.asked).length - 1;
      const answer = script[Math.min(before, script.length - 1)];
      if (answer) answer(call);
      else if (call.asked === 'position') list(call.response, 1_000_000);
      else if (call.asked === 'watch') send(call.response, '');
      else refuse(call.response, 500, 'InternalError');
    });
    const sink = new Transcript();
    const client = cluster.connect();
    const end = new AbortController();
    const causes: string[] = [];
    const reflector = new Reflector({
      client,
      path: '/api/v1/things',
      query: { labelSelector: 'a=b' },
      sink,
      log: quiet,
      observer: { listed: () => 0, progressed: () => 0, watchEnded: (cause) => causes.push(cause) },
      tuning: { ...QUICK, ...tuning },
    });
    const running = reflector.run(end.signal);
    ending.push(async () => {
      end.abort();
      await running;
      client.close();
      await cluster.stop();
    });
    return { sink, cluster, causes };
  }

  const complete = ({ response }: Call) =>
    send(response, event('ADDED', rawThing('a', 3)), event('ADDED', rawThing('b', 2)), bookmark(5, true));

  it('lists by a stream and goes on watching on it', async () => {
    const { sink, cluster } = await follow({
      stream: [
        (call) => {
          complete(call);
          send(
            call.response,
            event('MODIFIED', rawThing('a', 6)),
            bookmark(8),
            event('DELETED', rawThing('b', 9)),
          );
        },
      ],
    });
    await sink.until('DELETED b@9');
    expect(sink.lines).to.deep.equal(['list@5 a@3 b@2', 'MODIFIED a@6', 'BOOKMARK 8', 'DELETED b@9']);
    expect(cluster.asked).to.deep.equal(['stream']);
    const asked = Object.fromEntries(cluster.calls[0]?.url.searchParams ?? []);
    expect(asked).to.deep.include({
      labelSelector: 'a=b',
      watch: 'true',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
    });
  });

  it('takes nothing from a stream that ends cleanly before its last bookmark', async () => {
    const { sink } = await follow({
      stream: [
        ({ response }) => {
          send(response, event('ADDED', rawThing('a', 3)), bookmark(4));
          response.end();
        },
        complete,
      ],
    });
    await sink.until('list@5 a@3 b@2');
    expect(sink.lines).to.deep.equal(['list@5 a@3 b@2']);
  });

  it('takes nothing from a stream that is cut in the middle of an object', async () => {
    const { sink } = await follow({
      stream: [
        ({ response }) => {
          send(response, event('ADDED', rawThing('a', 3)));
          response.write('{"type":"ADDED","obj', () => response.socket?.destroy());
        },
        complete,
      ],
    });
    await sink.until('list@5 a@3 b@2');
    expect(sink.lines).to.have.length(1);
  });

  it('tries pages when streams are cut again and again, as a server that knows no initial events does', async () => {
    const { sink, cluster } = await follow({
      stream: [({ response }) => response.writeHead(200).end()],
      page: [({ response }) => list(response, 7, [rawThing('a', 3)])],
    });
    await sink.until('list@7 a@3');
    expect(cluster.asked.slice(0, 3)).to.deep.equal(['stream', 'stream', 'page']);
  });

  for (const code of [400, 422]) {
    it(`lists page by page, at once, when the stream is refused with ${code}`, async () => {
      const { sink, cluster, causes } = await follow({
        stream: [({ response }) => refuse(response, code, 'Invalid')],
        page: [
          ({ response }) => list(response, 7, [rawThing('a', 3)], 'more'),
          ({ response }) => list(response, 7, [rawThing('b', 2)]),
        ],
        watch: [({ response }) => send(response, event('MODIFIED', rawThing('b', 9)))],
      });
      await sink.until('MODIFIED b@9');
      expect(sink.lines).to.deep.equal(['list@7 a@3 b@2', 'MODIFIED b@9']);
      expect(cluster.asked).to.deep.equal(['stream', 'page', 'page', 'watch']);
      expect(cluster.calls[1]?.url.searchParams.get('limit')).to.equal('500');
      expect(cluster.calls[2]?.url.searchParams.get('continue')).to.equal('more');
      expect(cluster.calls[3]?.url.searchParams.get('resourceVersion')).to.equal('7');
      expect(causes).to.deep.equal([]);
    });
  }

  it('asks for everything at once when its pages have expired', async () => {
    const { sink, cluster } = await follow({
      stream: [({ response }) => refuse(response, 422, 'Invalid')],
      page: [
        ({ response }) => list(response, 7, [rawThing('a', 3)], 'more'),
        ({ response }) => refuse(response, 410, 'Expired'),
        ({ response }) => list(response, 9, [rawThing('a', 8)]),
      ],
    });
    await sink.until('list@9 a@8');
    expect(sink.lines).to.deep.equal(['list@9 a@8']);
    expect(
      cluster.calls
        .filter(({ asked }) => asked === 'page')
        .at(-1)
        ?.url.searchParams.has('limit'),
    ).to.equal(false);
  });

  it('resumes where it was when the watch ends or breaks, without a list', async () => {
    const { sink, cluster } = await follow({
      stream: [
        (call) => {
          complete(call);
          send(call.response, event('MODIFIED', rawThing('a', 6)), bookmark(8));
          call.response.end();
        },
      ],
      watch: [
        ({ response }) => {
          send(response, event('MODIFIED', rawThing('a', 9)));
          response.write('{"type":"MODI', () => response.socket?.destroy());
        },
        ({ response }) => send(response, event('MODIFIED', rawThing('a', 10))),
      ],
    });
    await sink.until('MODIFIED a@10');
    expect(sink.lines.slice(1)).to.deep.equal([
      'MODIFIED a@6',
      'BOOKMARK 8',
      'MODIFIED a@9',
      'MODIFIED a@10',
    ]);
    const watches = cluster.calls.filter(({ asked }) => asked === 'watch');
    expect(watches.map(({ url }) => url.searchParams.get('resourceVersion'))).to.deep.equal(['8', '9']);
  });

  const gone: Record<string, (call: Call) => void> = {
    'the HTTP status 410': ({ response }) => refuse(response, 410, 'Expired'),
    'an ERROR event with the code 410': ({ response }) => {
      send(response, event('ERROR', status(410, 'Expired', 'too old resource version')));
      response.end();
    },
    'the reason Gone': ({ response }) => refuse(response, 410, 'Gone'),
  };
  for (const [how, answer] of Object.entries(gone)) {
    it(`lists anew when its resourceVersion is refused by ${how}`, async () => {
      const { sink, causes } = await follow({
        stream: [
          (call) => {
            complete(call);
            call.response.end();
          },
          ({ response }) => send(response, event('ADDED', rawThing('c', 11)), bookmark(12, true)),
        ],
        watch: [answer],
      });
      await sink.until('list@12 c@11');
      expect(sink.lines).to.deep.equal(['list@5 a@3 b@2', 'list@12 c@11']);
      expect(causes).to.deep.equal(['end', 'expired']);
    });
  }

  it('resumes after an ERROR event that is about something else', async () => {
    const { sink } = await follow({
      stream: [
        (call) => {
          complete(call);
          send(call.response, event('ERROR', status(500, 'InternalError')));
        },
      ],
      watch: [({ response }) => send(response, event('MODIFIED', rawThing('a', 9)))],
    });
    await sink.until('MODIFIED a@9');
    expect(sink.lines).to.have.length(2);
  });

  it('replaces a stream on which nothing comes any more', async () => {
    const { sink, causes } = await follow(
      { stream: [complete], watch: [({ response }) => send(response, event('MODIFIED', rawThing('a', 9)))] },
      { stallMs: 60 },
    );
    await sink.until('MODIFIED a@9');
    expect(causes[0]).to.equal('stalled');
    expect(sink.lines.slice(0, 2)).to.deep.equal(['list@5 a@3 b@2', 'MODIFIED a@9']);
  });

  it('replaces a stream that stalls before its list is complete, and takes nothing from it', async () => {
    const { sink } = await follow(
      { stream: [({ response }) => send(response, event('ADDED', rawThing('a', 3))), complete] },
      { stallMs: 60 },
    );
    await sink.until('list@5 a@3 b@2');
    expect(sink.lines[0]).to.equal('list@5 a@3 b@2');
  });

  it('lists anew when the cluster is found behind it before a resume, for such a watch would be silent', async () => {
    const { sink, cluster, causes } = await follow({
      stream: [
        (call) => {
          complete(call);
          call.response.end();
        },
        ({ response }) => send(response, event('ADDED', rawThing('old', 1)), bookmark(2, true)),
      ],
      position: [({ response }) => list(response, 2)],
    });
    await sink.until('list@2 old@1');
    expect(causes).to.deep.equal(['end', 'backwards']);
    expect(cluster.asked).to.deep.equal(['stream', 'position', 'stream']);
  });

  it('lists anew when the stream itself goes backwards', async () => {
    const { sink } = await follow({
      stream: [
        (call) => {
          complete(call);
          send(call.response, event('MODIFIED', rawThing('a', 4)));
        },
        ({ response }) => send(response, bookmark(4, true)),
      ],
    });
    await sink.until('list@4');
    expect(sink.lines).to.deep.equal(['list@5 a@3 b@2', 'list@4']);
  });

  it('lists anew when the sink could not take a change, for it may have missed it', async () => {
    const { sink } = await follow({
      stream: [
        (call) => {
          sink.fails = 1;
          complete(call);
          send(call.response, event('MODIFIED', rawThing('a', 6)));
        },
        ({ response }) => send(response, event('ADDED', rawThing('a', 6)), bookmark(7, true)),
      ],
    });
    await sink.until('list@7 a@6');
    expect(sink.lines).to.deep.equal(['list@5 a@3 b@2', 'list@7 a@6']);
  });

  it('waits longer from failure to failure', async () => {
    const at: number[] = [];
    const fail = ({ response }: Call) => {
      at.push(performance.now());
      refuse(response, 500, 'InternalError');
    };
    const { sink } = await follow(
      { stream: [fail, fail, fail, fail, complete] },
      { initialBackoffMs: 40, maxBackoffMs: 1000, random: () => 0.99 },
    );
    await sink.until('list@5 a@3 b@2');
    const waits = at.slice(1).map((time, i) => time - (at[i] ?? 0));
    expect(waits[0]).to.be.within(35, 75);
    expect(waits[1]).to.be.within(75, 155);
    expect(waits[2]).to.be.within(150, 310);
  });

  it('waits as long as a 429 asks it to', async () => {
    const began = performance.now();
    const { sink } = await follow(
      {
        stream: [
          ({ response }) =>
            response.writeHead(429, { 'retry-after': '1' }).end(status(429, 'TooManyRequests')),
          complete,
        ],
      },
      { maxBackoffMs: 300 },
    );
    await sink.until('list@5 a@3 b@2');
    expect(performance.now() - began).to.be.within(290, 900);
  });

  it('outlives a cluster that can not be reached at all', async () => {
    const hangUp = ({ request }: Call) => request.socket.destroy();
    const { sink, cluster } = await follow({ stream: [hangUp, hangUp, hangUp, hangUp, hangUp, complete] });
    await sink.until('list@5 a@3 b@2');
    expect(new Set(cluster.asked)).to.deep.equal(new Set(['stream']));
  });
});
