// Tests of the containers of a pod, whose members are not validated.
import { expect } from 'chai';
import { containersOf, type KubernetesObject } from '../../../client/index.ts';

const pod = (more: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'cart', uid: 'a', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  ...more,
});

describe('the containers of a pod', () => {
  it('have their state, and their last end', () => {
    const finishedAt = '2026-01-01T00:00:00Z';
    const status = {
      containerStatuses: [
        {
          name: 'web',
          image: 'web:1',
          restartCount: 7,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 137, reason: 'OOMKilled', finishedAt } },
        },
        { name: 'proxy', image: 'proxy:1', restartCount: 0, state: { running: {} } },
      ],
      initContainerStatuses: [
        {
          name: 'init',
          image: 'init:1',
          restartCount: 0,
          state: { terminated: { exitCode: 0, finishedAt } },
        },
      ],
    };
    const ended = { reason: 'OOMKilled', exitCode: '137', finishedAt };
    expect(containersOf(pod({ status }))).to.deep.equal([
      {
        name: 'init',
        image: 'init:1',
        state: '',
        restarts: '0',
        end: { ...ended, reason: 'Ended', exitCode: '0' },
      },
      { name: 'web', image: 'web:1', state: 'CrashLoopBackOff', restarts: '7', end: ended },
      { name: 'proxy', image: 'proxy:1', state: 'Running', restarts: '0' },
    ]);
  });

  it('are those of the specification while there is no status', () => {
    const spec = { containers: [{ name: 'web', image: 'web:1' }] };
    expect(containersOf(pod({ spec }))).to.deep.equal([
      { name: 'web', image: 'web:1', state: '', restarts: '' },
    ]);
    expect(containersOf(pod({ spec: { containers: 'none' }, status: null }))).to.deep.equal([]);
  });
});
