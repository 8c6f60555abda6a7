// Tests of node watches for parity with kube-apiserver: both servers must send equal events.
import { expect } from 'chai';
import { array, record } from '../../../../apis/reading/unknown-value.ts';
import { realisticNode } from '../../../../hack/simulation/realistic-node.ts';
import { type SeenEvent, WatchLines } from '../../../support/cluster/watch-lines.ts';
import { CORE, OURS, type ServedNodes, type Spoken } from './served-nodes.ts';
import { sharedNodes } from './shared-nodes.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const JSON_FORM = 'application/json';

function neutral(event: SeenEvent | undefined): unknown {
  const text = JSON.stringify(event ?? null).replaceAll('resources.platform.io/v1alpha3', 'v1');
  const { type, object } = record(JSON.parse(text));
  const { rows, columnDefinitions, ...rest } = record(object);
  if (rest['kind'] !== 'Table') return { type, object };
  return {
    type,
    ...rest,
    columns: Array.isArray(columnDefinitions)
      ? columnDefinitions.map((column) => record(column)['name'])
      : columnDefinitions,
    rows: array(rows).map((row) => {
      const { cells, object: included } = record(row);
      return { included, cells: array(cells).map((cell, index) => (index === 3 ? typeof cell : cell)) };
    }),
  };
}

describe('watch parity with kube-apiserver', () => {
  let served: ServedNodes;

  before(async () => {
    served = await sharedNodes();
  });
  for (const accept of [JSON_FORM, TABLE, PARTIAL]) {
    it(`sends equal changes as ${accept}`, async () => {
      const headers = { Accept: accept };
      const query = '?watch=1&labelSelector=stage%3Dtest';
      const theirs = new WatchLines((await served.openCluster(CORE + query, headers)).stream());
      const ours = new WatchLines(await served.server.open(OURS + query, { headers }));
      const name = 'node-00001';
      await served.patch(name, { metadata: { labels: { stage: 'test' } } });
      await served.patch(name, { spec: { unschedulable: true } });
      await served.patch(name, { metadata: { labels: { stage: 'other' } } });
      await served.patch(name, {
        metadata: { labels: { stage: 'test' } },
        spec: { unschedulable: null },
      });
      await served.patch(name, { metadata: { labels: { stage: null } } });
      for (let seen = 0; seen < 5; seen += 1) {
        expect(neutral(await ours.next())).to.deep.equal(neutral(await theirs.next()));
      }
      theirs.close();
      ours.close();
    });

    for (const parameters of [
      '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
      '',
      '&resourceVersion=0',
    ]) {
      it(`sends equal initial events as ${accept}, with their end: ${parameters}`, async () => {
        const headers = { Accept: accept };
        const query = `?watch=1&allowWatchBookmarks=true&timeoutSeconds=10${parameters}`;
        const theirs = new WatchLines((await served.openCluster(CORE + query, headers)).stream());
        const ours = new WatchLines(await served.server.open(OURS + query, { headers }));
        for (let seen = 0; seen < served.informer.cache.snapshot().size; seen += 1) {
          expect(neutral(await ours.next())).to.deep.equal(neutral(await theirs.next()));
        }
        const marks = [await ours.next(), await theirs.next()];
        for (const mark of marks) {
          expect(mark?.type).to.equal('BOOKMARK');
          expect(JSON.stringify(mark?.object)).to.contain('"k8s.io/initial-events-end":"true"');
        }
        theirs.close();
        ours.close();
      });
    }
  }

  it('resumes from a resourceVersion of the cluster, across create and delete', async () => {
    await served.caughtUp();
    const list = record((await served.askCluster(`${CORE}?limit=1`)).body);
    const from = String(record(list['metadata'])['resourceVersion']);
    await served.create(realisticNode(50));
    await served.delete('node-00050');
    const query = `?watch=1&resourceVersion=${from}`;
    const theirs = new WatchLines((await served.openCluster(CORE + query)).stream());
    const ours = new WatchLines(await served.server.open(OURS + query));
    for (let seen = 0; seen < 2; seen += 1) {
      expect(neutral(await ours.next())).to.deep.equal(neutral(await theirs.next()));
    }
    theirs.close();
    ours.close();
  });

  it('reads a write by its resourceVersion', async () => {
    const version = await served.patch('node-00002', { metadata: { annotations: { written: 'now' } } });
    const { body } = await served.askUs(`${OURS}/node-00002?resourceVersion=${version}`);
    expect(record(record(record(body)['metadata'])['annotations'])).to.include({ written: 'now' });
  });

  it('reports an expired resourceVersion equally', async () => {
    await served.caughtUp();
    const { metadata } = record((await served.askCluster(`${CORE}?limit=1`)).body);
    const query = `?watch=1&timeoutSeconds=5&resourceVersion=${String(record(metadata)['resourceVersion'])}`;
    await served.patch('node-00001', { metadata: { labels: { past: 'gone' } } });
    await served.controlPlane.etcd.compact();
    await served.controlPlane.apiserver.restart();
    await served.patch('node-00001', { metadata: { labels: { past: null } } });
    await served.caughtUp();
    const comparable = ({ status, contentType, text }: Spoken): unknown => ({
      status,
      contentType,
      text: text.replace(/\d+ \(\d+\)/, 'N (N)'),
    });
    const theirs = comparable(await served.askCluster(CORE + query));
    expect(comparable(await served.askUs(OURS + query))).to.deep.equal(theirs);
    expect(JSON.stringify(theirs)).to.contain('Expired');
  });
});
