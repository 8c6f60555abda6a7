import { expect } from 'chai';
import { readPod } from '../../../../../../../server/logging/backends/kubernetes/pods/pod-facts.ts';
import { sourcesOf } from '../../../../../../../server/logging/backends/kubernetes/pods/source-selection.ts';

/** `current` and `previous` logs that there are to be read of a container with this status. */
function logsOf(status: object, kind = 'containerStatuses'): string[] {
  const metadata = { namespace: 'shop', name: 'a', uid: 'u' };
  const pod = readPod({ metadata, status: { [kind]: [{ name: 'app', restartCount: 0, ...status }] } });
  return (pod?.containers ?? []).flatMap((container) =>
    pod
      ? sourcesOf(pod, container).map(({ previous, run }) => `${previous ? 'previous' : 'current'} ${run.id}`)
      : [],
  );
}

const running = { state: { running: { startedAt: '2026-01-01T00:00:00Z' } }, containerID: 'x://2' };
const waiting = { state: { waiting: { reason: 'CrashLoopBackOff' } } };
const terminated = (id: string) => ({ terminated: { exitCode: 1, containerID: id } });

describe('the logs of a container', () => {
  it('are those of a running one, and of its run before', () => {
    expect(logsOf(running)).to.deep.equal(['current x://2']);
    expect(logsOf({ ...running, restartCount: 1, lastState: terminated('x://1') })).to.deep.equal([
      'previous x://1',
      'current x://2',
    ]);
  });

  it('are none while it has never started', () => {
    expect(logsOf(waiting)).to.deep.equal([]);
  });

  it('are read once while it waits for its next run: kubelets would give the same log twice', () => {
    expect(logsOf({ ...waiting, lastState: terminated('x://1') })).to.deep.equal(['previous x://1']);
    expect(logsOf({ state: terminated(''), lastState: terminated('x://1') })).to.deep.equal([
      'previous x://1',
    ]);
  });

  it('are there of init and ephemeral containers too', () => {
    expect(logsOf({ state: terminated('x://1') }, 'initContainerStatuses')).to.deep.equal(['current x://1']);
    expect(logsOf(running, 'ephemeralContainerStatuses')).to.deep.equal(['current x://2']);
  });
});
