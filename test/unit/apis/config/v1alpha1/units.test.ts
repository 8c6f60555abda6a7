// Tests of the parsers of durations, periods and quantities.
import { expect } from 'chai';
import { parseDuration, parsePeriod, parseQuantity } from '../../../../../apis/config/v1alpha1/units.ts';

describe('parseDuration', () => {
  for (const [text, milliseconds] of [
    ['0', 0],
    ['0s', 0],
    ['250ms', 250],
    ['1.5s', 1500],
    ['1h30m', 5_400_000],
    ['', undefined],
    ['10', undefined],
    ['-1s', undefined],
    ['1 s', undefined],
    ['1d', undefined],
    ['800h', undefined],
  ] as const) {
    it(`parses ${JSON.stringify(text)} as ${milliseconds}`, () =>
      expect(parseDuration(text)).to.equal(milliseconds));
  }
});

describe('parsePeriod', () => {
  for (const [text, milliseconds] of [
    ['30d', 2_592_000_000],
    ['7d12h', 648_000_000],
    ['90m', 5_400_000],
    ['2h', 7_200_000],
    ['0s', 0],
    ['1.5h', undefined],
    ['30', undefined],
    ['', undefined],
    ['4000d', undefined],
  ] as const) {
    it(`parses ${JSON.stringify(text)} as ${milliseconds}`, () =>
      expect(parsePeriod(text)).to.equal(milliseconds));
  }
});

describe('parseQuantity', () => {
  for (const [text, bytes] of [
    ['0', 0],
    ['4096', 4096],
    ['256Ki', 262_144],
    ['3Mi', 3_145_728],
    ['1Gi', 1_073_741_824],
    ['1.5Mi', undefined],
    ['1M', undefined],
    ['', undefined],
  ] as const) {
    it(`parses ${JSON.stringify(text)} as ${bytes}`, () => expect(parseQuantity(text)).to.equal(bytes));
  }
});
