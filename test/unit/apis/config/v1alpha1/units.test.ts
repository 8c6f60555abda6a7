// Tests of the durations and periods in the configuration file.
import { expect } from 'chai';
import { AMOUNTS } from '../../../../../apis/config/v1alpha1/units.ts';

const DAY = 86_400_000;
const CASES: Readonly<Record<string, Readonly<Record<string, number | undefined>>>> = {
  duration: { '0': 0, '1.5s': 1500, '1h30m': 5_400_000, '1d': DAY, '-1s': undefined, '600h': undefined },
  period: { '30d': 30 * DAY, '7d12h': 7.5 * DAY, '0s': 0, '30': undefined, '4000d': undefined },
};

for (const [format, cases] of Object.entries(CASES)) {
  describe(`an option with the format ${format}`, () => {
    for (const [text, value] of Object.entries(cases)) {
      it(value === undefined ? `does not accept ${text}` : `is ${value} for ${text}`, () => {
        expect(AMOUNTS.get(format)?.(text)).to.equal(value);
      });
    }
  });
}
