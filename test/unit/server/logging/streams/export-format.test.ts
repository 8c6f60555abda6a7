// Tests of the file formats of log exports.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { EXPORT_FORMATS } from '../../../../../server/logging/streams/export-format.ts';

const lines = (format: 'text' | 'csv', log: string): string =>
  EXPORT_FORMATS[format].lines(
    [{ time: '2026-11-20T10:00:00.000000001Z', namespace: 'shop', pod: 'cart-0', container: 'cart', log }],
    true,
  );

describe('an exported line as text', () => {
  it('does not change letters of any script', () => {
    for (const log of ['Straße 東京 😀', 'cafe\u0301', 'a\tb', '', '<b>&amp;</b>', '\u2028', '\u0085']) {
      expect(lines('text', log)).to.equal(`${log}\n`);
    }
  });

  it('has no terminal sequences, even if they are nested', () => {
    for (const [log, text] of [
      ['\u001b[31mred\u001b[0m', 'red'],
      ['\u001b]0;title\u0007x', 'x'],
      ['\u001b\u001b[31m[31mnested', '[31mnested'],
      ['\u001b\u0004[2Jjoined', 'joined'],
      ['coloured\r\u001b[0m', 'coloured'],
      ['\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
      ['\u009b31mred', 'red'],
      ['\u009d0;title\u0007', undefined],
      ['\u001bP1;2qdata\u001b\\', undefined],
      ['ends in \u001b', 'ends in '],
      ['deleted 3 rows\rkept all rows  ', 'deleted 3 rows\nkept all rows  '],
      ['one\r\ntwo\r', 'one\ntwo'],
      ['secret\b\b\b\b\b\bpublic', 'secretpublic'],
      ['\u000eother letters\u000f', 'other letters'],
      ['bell\u0007, who are you\u0005, \0\u007f', 'bell, who are you, '],
    ] as const) {
      const line = lines('text', log);
      if (text !== undefined) expect(line).to.equal(`${text}\n`);
      // oxlint-disable-next-line no-control-regex -- it finds control characters
      expect(line).not.to.match(/[\0-\u0008\u000b-\u001f\u007f-\u0084\u0086-\u009f]/);
    }
    const piece = fc.constantFrom('31m', ...Array.from('\u001b[]\u0004\r\u009bP\\\u0007x;'));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        // oxlint-disable-next-line no-control-regex -- it finds control characters
        expect(lines('text', pieces.join(''))).not.to.match(/[\u0004\u001b\u009b]/);
      }),
    );
  });
});

describe('incomplete terminal sequences in a long line', () => {
  for (const half of ['[', '[;', ']', ']0;', 'P', ' ']
    .map((rest) => `\u001b${rest}`)
    .concat('\u009d', '\u0090')) {
    it(`are removed in linear time: ${JSON.stringify(half)}`, () => {
      // Quadratic time would be minutes.
      expect(lines('text', half.repeat(200_000))).to.have.length.below(600_001);
    });
  }
});

describe('an exported line as CSV', () => {
  it('is not a formula if cells are split at semicolons, tabs or newlines', () => {
    for (const parting of [';', '\t', '\n', '\r', ';"', ';""', '; ', ';\u00a0" ', '\n\u200b']) {
      for (const begin of ['=', '+', '-', '@', '＝']) {
        const quotes = parting.slice(1).replaceAll('"', '""');
        const written = `,"x${parting.slice(0, 1)}${quotes}'${begin}1+1"`;
        expect(lines('csv', `x${parting}${begin}1+1`), JSON.stringify(parting)).to.include(written);
      }
    }
    expect(lines('csv', 'a-b; c = d')).to.include(',"a-b; c = d"\r\n');
  });

  it('is encoded in linear time', () => {
    for (const unit of ['"', ';"', '=', ';=', ' ', '\t ', '\u200b', '; ', ' =', '; =', '" =']) {
      // Quadratic time would be minutes.
      const log = unit.repeat((1 << 20) / unit.length);
      expect(lines('csv', log), unit).to.have.length.above(log.length);
    }
  });

  it('is not a formula for any beginning', () => {
    for (const begin of ['=', '+', '-', '@', '\t', '\r', '\n', '\uff1d', '\uff0b', '\uff0d', '\uff20']) {
      expect(lines('csv', `${begin}1+1`), JSON.stringify(begin)).to.match(/,"?'/);
    }
    // Some programs remove blanks and invisible characters.
    for (const blank of [' ', '  \t', '\u00a0', '\u3000', '\0', '\u001b', '\u200b', '\ufeff', '\u2028']) {
      expect(lines('csv', `${blank}=1+1`), JSON.stringify(blank)).to.match(/,"?'/);
    }
    for (const log of ['a=1', ' a = 1', '\ufeffa']) expect(lines('csv', log)).to.include(`,${log}\r\n`);
  });
});
