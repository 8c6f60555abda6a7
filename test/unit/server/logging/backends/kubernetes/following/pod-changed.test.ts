import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { podChanged } from '../../../../../../../server/logging/backends/kubernetes/following/pod-changed.ts';
import type { PodListener } from '../../../../../../../server/logging/backends/kubernetes/pods/pod-index.ts';

const pod = { namespace: 'shop', name: 'a' };

describe('the change of a pod', () => {
  let listeners: Set<PodListener>;
  let leaving: AbortController;

  beforeEach(() => {
    listeners = new Set();
    leaving = new AbortController();
  });

  const changed = (): Promise<void> => {
    const onChange = (listener: PodListener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    };
    return podChanged({ onChange }, pod, leaving.signal);
  };
  const tell = (of: Parameters<PodListener>[0]): void => {
    for (const listener of listeners) listener(of);
  };
  const waiting = (): number[] => [listeners.size, getEventListeners(leaving.signal, 'abort').length];

  for (const [what, of] of [
    ['of the pod', pod],
    ['of all pods, as of a new list', undefined],
  ] as const) {
    it(`is one ${what}, of which nobody is told any more who was told`, async () => {
      const change = changed();
      tell(of);
      await change;
      expect(waiting()).to.deep.equal([0, 0]);
    });
  }

  it('is none of another pod, also not of one of its name', () => {
    void changed();
    tell({ namespace: 'shop', name: 'b' });
    tell({ namespace: 'bank', name: 'a' });
    expect(waiting()).to.deep.equal([1, 1]);
  });

  it('is not waited for by who leaves, or has left', async () => {
    const change = changed();
    leaving.abort();
    await change;
    await changed();
    expect(waiting()).to.deep.equal([0, 0]);
  });
});
