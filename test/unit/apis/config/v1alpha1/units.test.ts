// Tests of the parsers of durations, periods and quantities.
import { expect } from 'chai';
import { parseDuration, parsePeriod, parseQuantity } from '../../../../../apis/config/v1alpha1/units.ts';

for (const [parse, cases] of [
  [
    parseDuration,
    [
      ['0', 0],
      ['0s', 0],
      ['250ms', 250],
      ['1.5s', 1500],
      ['1h30m', 5_400_000],
      ...(['', '10', '-1s', '1 s', '1d', '800h'] as const).map((text) => [text, undefined] as const),
    ],
  ],
  [
    parsePeriod,
    [
      ['30d', 2_592_000_000],
      ['7d12h', 648_000_000],
      ['90m', 5_400_000],
      ['0s', 0],
      ...(['1.5h', '30', '', '4000d'] as const).map((text) => [text, undefined] as const),
    ],
  ],
  [
    parseQuantity,
    [
      ['0', 0],
      ['4096', 4096],
      ['256Ki', 262_144],
      ['3Mi', 3_145_728],
      ['1Gi', 1_073_741_824],
      ...(['1.5Mi', '1M', ''] as const).map((text) => [text, undefined] as const),
    ],
  ],
] as const) {
  describe(parse.name, () => {
    it('accepts its own notation only', () => {
      for (const [text, value] of cases) expect(parse(text), text).to.equal(value);
    });
  });
}
