import { expect } from 'chai';
import { PodIndex } from '../../../../../../../server/logging/backends/kubernetes/pods/pod-index.ts';
import { chooseSources } from '../../../../../../../server/logging/backends/kubernetes/pods/source-selection.ts';
import type { Selection } from '../../../../../../../server/logging/log-store.ts';
import { everything } from '../instants.ts';

function indexOf(pods: readonly { namespace: string; name: string; running: boolean }[]): PodIndex {
  const index = new PodIndex();
  const replacement = index.replacement();
  for (const { namespace, name, running } of pods) {
    const times = {
      startedAt: '2026-01-01T00:00:00Z',
      finishedAt: '2026-01-01T01:00:00Z',
      containerID: 'x://1',
    };
    const state = running ? { running: { startedAt: times.startedAt } } : { terminated: times };
    const status = { containerStatuses: [{ name: 'app', restartCount: 0, state }] };
    replacement.add(Buffer.from(JSON.stringify({ metadata: { namespace, name, uid: name }, status })));
  }
  replacement.commit('1');
  return index;
}

const names = ({ sources }: Awaited<ReturnType<typeof chooseSources>>) =>
  sources.map(({ namespace, pod }) => `${namespace}/${pod}`);

describe('the logs of a selection', () => {
  it('are those of running containers first, when there are too many, and a few of the others are named', async () => {
    const pods = Array.from({ length: 5_000 }, (_, n) => ({
      namespace: 'shop',
      name: `p${String(n).padStart(4, '0')}`,
      running: n % 1_000 === 999,
    }));
    const chosen = await chooseSources(indexOf(pods), everything, 6);
    expect(names(chosen)).to.deep.equal([
      'shop/p0000',
      'shop/p0999',
      'shop/p1999',
      'shop/p2999',
      'shop/p3999',
      'shop/p4999',
    ]);
    expect(chosen.leftOut.count).to.equal(4_994);
    expect(chosen.leftOut.names).to.have.length(5);
  });

  it('are chosen by names and workloads, and only in the namespaces of the scope', async () => {
    const index = indexOf(
      ['a', 'b', 'c'].flatMap((namespace) =>
        ['web-1', 'web-2', 'db-1'].map((name) => ({ namespace, name, running: true })),
      ),
    );
    const selection: Selection = {
      ...everything,
      scope: {
        everything: false,
        namespaces: ['a', 'b', 'gone'].map((name) => ({ name, since: everything.range.start })),
      },
      namespaces: { exact: ['b', 'c'] },
      workloads: { exact: ['web'] },
      pods: { contains: ['2'] },
    };
    expect(names(await chooseSources(index, selection, 10))).to.deep.equal(['b/web-2']);
  });

  it('are none of containers that ended before the range, by clocks that may be off by a minute', async () => {
    const index = indexOf([
      { namespace: 'a', name: 'ended', running: false },
      { namespace: 'a', name: 'runs', running: true },
    ]);
    const from = async (start: string): Promise<string[]> => {
      const range = { start, end: everything.range.end };
      return names(await chooseSources(index, { ...everything, range }, 10));
    };
    expect(await from('2026-01-01T01:01:00.000000000Z')).to.deep.equal(['a/ended', 'a/runs']);
    expect(await from('2026-01-01T01:01:00.001000000Z')).to.deep.equal(['a/runs']);
  });
});
