// Tests of lists and watches of Kubernetes, against a real HTTP server.
import { expect } from 'chai';
import { Client, type StreamOptions } from '../../../client/index.ts';
import { rejection } from '../../support/rejection.ts';
import { json, pieces, type Script, scriptedServer } from '../../support/scripted-server.ts';
import { until } from '../../support/until.ts';

const PODS = '/api/v1/pods';
const EXPIRED = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };

const pod = (name: string, resourceVersion: string) => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion },
});

const list = (resourceVersion: string, items: readonly object[] | null, next?: string): Script =>
  json({ apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion, continue: next }, items });

const event = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;

describe('a list of Kubernetes', () => {
  const server = scriptedServer();
  const read = () => new Client({ server: server.url, token: 'T' }).kubernetes.list(PODS);

  it('is read in pages, and its objects have their type', async () => {
    server.respond(list('1', [pod('a', '1')], 'next'), list('1', [pod('b', '1')]));
    expect(await read()).to.deep.equal({
      resourceVersion: '1',
      items: [pod('a', '1'), pod('b', '1')].map((one) => ({ apiVersion: 'v1', kind: 'Pod', ...one })),
    });
    expect(server.asked).to.deep.equal([`GET ${PODS}?limit=500`, `GET ${PODS}?limit=500&continue=next`]);
  });

  it('is read at once when its version expires between pages', async () => {
    server.respond(list('1', [pod('a', '1')], 'next'), json(EXPIRED, 410), list('2', null));
    expect(await read()).to.deep.equal({ resourceVersion: '2', items: [] });
    server.respond(json(EXPIRED, 410));
    expect(await rejection(read())).to.include({ code: 410 });
  });
});

describe('a watch', () => {
  const server = scriptedServer();
  const watch = (options: StreamOptions = {}) =>
    new Client({ server: server.url, token: 'T' }).kubernetes.watch(PODS, {
      query: { labelSelector: 'a=b' },
      ...options,
    });

  /** The first events. */
  async function events(count: number, watched = watch()): Promise<string[]> {
    const found: string[] = [];
    for await (const { type, object } of watched) {
      found.push(`${type} ${object.metadata.name} ${object.metadata.resourceVersion}`);
      if (found.length === count) break;
    }
    return found;
  }

  const versions = (): (string | null)[] =>
    server.asked.map((target) => new URLSearchParams(target.split('?')[1]).get('resourceVersion'));

  it('reports the objects of the list, then the changes, and resumes after the last one or a bookmark', async () => {
    server.respond(
      list('5', [pod('a', '3')]),
      pieces([event('MODIFIED', pod('a', '6')), event('BOOKMARK', pod('', '8')).slice(0, 9)], { ends: true }),
      pieces([event('DELETED', pod('a', '7')), event('BOOKMARK', pod('', '9'))], { ends: true }),
      pieces([event('ADDED', pod('b', '10'))]),
    );
    expect(await events(4)).to.deep.equal(['ADDED a 3', 'MODIFIED a 6', 'DELETED a 7', 'ADDED b 10']);
    expect(versions()).to.deep.equal([null, '5', '6', '9']);
    expect(server.asked.every((target) => target.includes('labelSelector=a%3Db'))).to.equal(true);
    await until(() => server.open.size === 0);
  });

  for (const [how, expired] of [
    ['status', json(EXPIRED, 410)],
    ['event', pieces([event('ERROR', EXPIRED)])],
  ] as const) {
    it(`lists again and reports the difference when its version has expired, as ${how}`, async () => {
      server.respond(
        list('5', [pod('a', '1'), pod('b', '2'), pod('c', '3')]),
        expired,
        list('9', [pod('a', '1'), pod('c', '8'), pod('d', '9')]),
        pieces([event('MODIFIED', pod('a', '10'))]),
      );
      expect((await events(7)).slice(3)).to.deep.equal([
        'DELETED b 2',
        'MODIFIED c 8',
        'ADDED d 9',
        'MODIFIED a 10',
      ]);
      expect(versions()).to.deep.equal([null, '5', null, '9']);
    });
  }

  it('throws an error that a retry cannot help, also one within the stream', async () => {
    server.respond(json({}, 403));
    expect(await rejection(events(1))).to.include({ code: 403 });
    server.respond(list('1', []), pieces([event('ERROR', { kind: 'Status', code: 403, message: 'no' })]));
    expect(await rejection(events(1))).to.include({ code: 403, message: 'no' });
  });

  it('ends when the caller aborts', async () => {
    const abort = new AbortController();
    server.respond(list('1', [pod('a', '1')]), pieces([]));
    const ended = events(9, watch({ signal: abort.signal }));
    await until(() => server.asked.length === 2 && server.open.size === 1);
    abort.abort();
    expect(await ended).to.deep.equal(['ADDED a 1']);
    await until(() => server.open.size === 0);
  });
});
