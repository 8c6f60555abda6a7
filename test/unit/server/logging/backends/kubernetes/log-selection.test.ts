// Tests of the function that finds the container logs of a log query.
import { expect } from 'chai';
import { TimeSlicer } from '../../../../../../server/concurrency/time-slicer.ts';
import { logsOf } from '../../../../../../server/logging/backends/kubernetes/container-log.ts';
import { selectLogs } from '../../../../../../server/logging/backends/kubernetes/log-selection.ts';
import { Pods, summaryOf } from '../../../../../../server/logging/backends/kubernetes/pods.ts';
import { PODS } from '../../../../../../server/resources/kind.ts';
import { KindCache, plain } from '../../../../../support/platform/kind-cache.ts';
import { WorkPerTurn, workFor } from '../../../../../support/work-per-turn.ts';
import { everything } from './instants.ts';

describe('the selection of container logs', () => {
  it('yields to the event loop while it visits many pods', async () => {
    const work = new WorkPerTurn();
    const copy = new KindCache(PODS).fill(1, [plain('shop/p', 1)]);
    const pods = new Pods(copy);
    const [pod] = pods.in('');
    pods.in = function* () {
      for (let n = 0; n < 100; n++) {
        // About as long as a thousand pods take.
        workFor(1);
        work.note();
        if (pod) yield pod;
      }
    };
    await selectLogs(pods, everything, 10, new TimeSlicer().of({}));
    expect(work.most).to.be.below(50);
  });
});

describe('the logs of a container', () => {
  /** `current` and `previous` logs of a container with this status. */
  function logsWith(status: object, list = 'containerStatuses'): string[] {
    const pod = { status: { [list]: [{ name: 'app', restartCount: 0, ...status }] } };
    const pods = new Pods(new KindCache(PODS).fill(1, [plain('shop/a', 1, {}, pod)]));
    return [...pods.in('')]
      .map(summaryOf)
      .flatMap((each) => each.containers.flatMap((container) => logsOf(each, container)))
      .map(({ previous, run }) => `${previous ? 'previous' : 'current'} ${run.id}`);
  }
  const running = { state: { running: { startedAt: '2026-01-01T00:00:00Z' } }, containerID: 'x://2' };
  const waiting = { state: { waiting: { reason: 'CrashLoopBackOff' } } };
  const terminated = (id: string) => ({ terminated: { exitCode: 1, containerID: id } });

  it('include the previous run once while the next run has not started', () => {
    expect(logsWith({ ...waiting, lastState: terminated('x://1') })).to.deep.equal(['previous x://1']);
    const failedToStart = { state: terminated(''), lastState: terminated('x://1') };
    expect(logsWith(failedToStart)).to.deep.equal(['previous x://1']);
  });

  it('include init and ephemeral containers', () => {
    const ended = { state: terminated('x://1') };
    expect(logsWith(ended, 'initContainerStatuses')).to.deep.equal(['current x://1']);
    expect(logsWith(running, 'ephemeralContainerStatuses')).to.deep.equal(['current x://2']);
  });
});
