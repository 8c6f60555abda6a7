// Declares the tests of faults: mocha tests with a maximum recovery time.
import { FAULTS } from '../../hack/generate/fault-table.ts';
import { until } from './until.ts';

/** Polls until `condition` returns true. Fails after the recovery time of the fault. */
type Recovery = (condition: () => boolean | Promise<boolean>) => Promise<void>;

/** Declares the test of a fault, which ends the fault, and then awaits the recovery. */
export function fault(name: keyof typeof FAULTS, test: (recovers: Recovery) => Promise<void>): void {
  const { recoverySeconds } = FAULTS[name];
  it(name, async () => {
    let recovered = recoverySeconds === 0;
    await test(async (condition) => {
      const deadline = AbortSignal.timeout(recoverySeconds * 1000);
      await until(async () => {
        const met = await condition();
        if (deadline.aborted) throw new Error(`no recovery within ${recoverySeconds} s`);
        return met;
      });
      recovered = true;
    });
    if (!recovered) throw new Error('the test does not await the recovery');
  });
}
