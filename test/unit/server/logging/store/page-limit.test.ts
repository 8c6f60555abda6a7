// Tests of the size limit for a page of log lines.
import { expect } from 'chai';
import { text } from '../../../../../apis/reading/unknown-value.ts';
import { withFewerLines } from '../../../../../server/logging/store/page-limit.ts';
import { isStoreExhausted, newStoreExhausted } from '../../../../../server/logging/store/store-errors.ts';
import { LogService, line, recordsIn } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../../support/logging/memory-log-store.ts';
import { rejection } from '../../../../support/rejection.ts';

const exhausted = (): Error => newStoreExhausted('opensearch', new Error('no memory'));

describe('withFewerLines', () => {
  const { signal } = new AbortController();

  it('retries after a pause if the store is short of memory', async () => {
    const waits: number[] = [];
    const wait = async (ms: number) => void waits.push(ms);
    let times = 0;
    const read = async () => {
      if (++times < 3) throw exhausted();
      return 'these';
    };
    expect(await withFewerLines(100, read, signal, wait)).to.deep.equal({ result: 'these', requested: 7 });
    expect(waits).to.deep.equal([200, 400]);
  });

  it('fails if the store has no memory for one line', async () => {
    const requested: number[] = [];
    const read = async (size: number) => {
      requested.push(size);
      throw exhausted();
    };
    const error = await rejection(withFewerLines(3, read, signal, async () => {}));
    expect(error).to.satisfy(isStoreExhausted).and.to.include({ code: 503 });
    expect(requested).to.deep.equal([3, 1]);
  });
});

describe('a page of more than 8 Mi characters', () => {
  it('is truncated, reports it, and continues by cursor', async () => {
    const long = Array.from({ length: 20 }, (_, number) =>
      line(`2026-11-20T10:00:00.0000000${10 + number}Z`, `${number} ${'a'.repeat(1 << 20)}`),
    );
    await using service = await new LogService({ store: new MemoryLogStore(long) }).start();
    const seen: string[] = [];
    const shown: number[] = [];
    for await (const page of service.pages('size=100&sort=asc')) {
      const lines = recordsIn(page).map(({ log }) => text(log));
      shown.push(lines.length);
      seen.push(...lines.map((each) => each.split(' ')[0] ?? ''));
      expect(page['query']).to.include({ total: 20, totalRelation: 'eq' });
      if (seen.length < 20) expect(page).to.have.nested.property('partial[0].reason', 'Limit');
      else expect(page['partial']).to.equal(undefined);
    }
    expect(shown).to.deep.equal([7, 7, 6]);
    expect(seen).to.deep.equal(long.map((_, number) => String(number)));
  });
});
