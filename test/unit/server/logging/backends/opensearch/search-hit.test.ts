// Tests of documents with long texts, which would block the event loop.
import { expect } from 'chai';
import { TimeSlicer } from '../../../../../../server/concurrency/time-slicer.ts';
import {
  MAX_TEXT_BYTES,
  withShortTexts,
} from '../../../../../../server/logging/backends/opensearch/search-hit.ts';
import { call } from '../../../../../support/logging/call.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { type Line, SELECTION, scriptedStore, searchIn } from './scripted-store.ts';

const PAGE = { order: 'asc', size: 10, from: 0 } as const;
const KEY = '1768478400000000000';
const REPORT = { reason: 'Limit', message: 'lines longer than 1 MiB were truncated' };

describe('a long line in OpenSearch', () => {
  const storing = async (...lines: readonly string[]) => {
    const stored = lines.map((log, n): Line => ({ id: `${n}`, key: KEY, sequence: n, log }));
    return scriptedStore((request) => searchIn(stored, request));
  };

  it('is truncated after 1 MiB of JSON, and reported, in pages and exports', async () => {
    const long = `begin ${'word '.repeat(400_000)}`;
    await using server = await storing('first', long, 'last');
    const store = storeAt(server.url);
    const { records, shortfalls } = await store.query(SELECTION, PAGE, call());
    expect(records.map(({ log }) => log.slice(0, 5))).to.deep.equal(['first', 'begin', 'last']);
    expect(records[1]?.log.length).to.be.within(MAX_TEXT_BYTES - 10, MAX_TEXT_BYTES);
    expect(records[1]).to.include({ namespace: 'web', pod: 'web-1', container: 'app' });
    expect(shortfalls).to.deep.equal([REPORT]);
    const lines = store.export(SELECTION, 'asc', call());
    const batches: string[] = [];
    let next = await lines.next();
    for (; !next.done; next = await lines.next()) batches.push(...next.value.map(({ log }) => log));
    expect(batches).to.deep.equal(records.map(({ log }) => log));
    expect(next.value.shortfalls).to.deep.equal([REPORT]);
  });

  it('is whole up to 1 MiB', async () => {
    const long = 'x'.repeat(MAX_TEXT_BYTES);
    await using server = await storing(long, long);
    const { records, shortfalls } = await storeAt(server.url).query(SELECTION, PAGE, call());
    expect(records.map(({ log }) => log.length)).to.deep.equal([long.length, long.length]);
    expect(shortfalls).to.deep.equal([]);
  });

  it('is an empty line if it has many texts', async () => {
    const many = JSON.stringify(Array.from({ length: 50 }, () => 'x'.repeat(100_000)));
    await using server = await scriptedStore((request) =>
      searchIn([{ id: 'a', key: KEY, sequence: 1, log: 'LOG' }], request).replace('"LOG"', many),
    );
    const { records } = await storeAt(server.url).query(SELECTION, PAGE, call());
    expect(records.map(({ log }) => log)).to.deep.equal(['']);
  });

  it('is truncated between characters and escapes', async () => {
    const slices = new TimeSlicer().of({});
    for (const unit of ['é', '日', '😀', '\\', '"', '\u0001', '\\"\u0002a']) {
      const repeated = unit.repeat(Math.ceil((MAX_TEXT_BYTES * 1.1) / JSON.stringify(unit).length) * 2);
      for (let shift = 0; shift < 6; shift++) {
        const text = `${'s'.repeat(shift)}${repeated}`;
        const short = await withShortTexts(Buffer.from(JSON.stringify({ text, after: '"' })), slices);
        const { text: shown, after }: Record<string, string> = JSON.parse(short.toString());
        expect(text.startsWith(shown ?? ''), `${JSON.stringify(unit)} ${shift}`).to.equal(true);
        expect(shown?.isWellFormed()).to.equal(true);
        expect(short.length).to.be.within(MAX_TEXT_BYTES - 10, MAX_TEXT_BYTES + 30);
        expect(after).to.equal('"');
      }
    }
  });
});
