// Conformance tests of log stores: filters by name, text and level.
import { expect } from 'chai';
import { LEVELS, MAX_TEXTS } from '../../../apis/logging/v1alpha2/log-query.ts';
import type { Selection, TextFilter } from '../../../server/logging/store/log-store.ts';
import type { LogStoreTraits } from './harness.ts';
import { type Subject, selection, text } from './subject.ts';
import { TEXTS } from './texts.ts';

const PAGE = { order: 'asc', size: 50, from: 0 } as const;

/** Names, texts and levels one at a time; properties.suite.ts combines them. */
export function describeFilters(subject: () => Subject, traits: LogStoreTraits): void {
  describe('filters', () => {
    for (const [part, field] of [
      ['namespaces', 'namespace_name'],
      ['pods', 'pod_name'],
      ['containers', 'container_name'],
    ] as const) {
      it(`select ${part} by exact names and by substrings`, async () => {
        const { compare, records } = subject();
        const names = [...new Set(records.map(({ kubernetes }) => kubernetes[field]))].sort();
        const [some, middle] = [names[0] ?? '', names[Math.floor(names.length / 2)] ?? ''];
        for (const [filter, findsSome] of [
          [{ exact: [some] }, true],
          [{ exact: [middle, some, 'no-such-name'] }, true],
          [{ exact: names }, true],
          [{ exact: [] }, false],
          [{ exact: [middle.slice(0, -1)] }, undefined],
          [{ exact: [middle.toUpperCase()] }, false],
          [{ contains: [middle.slice(1, 4)] }, true],
          [{ contains: [middle.slice(1, 4).toUpperCase()] }, true],
          [{ contains: [some.slice(-2), middle.slice(0, 3), 'no-such-name'] }, true],
          [{ contains: ['-'] }, undefined],
          [{ contains: [] }, false],
          [{ exact: [some, middle], contains: [middle.slice(0, 5)] }, true],
          [{ exact: [some], contains: ['no-such-name'] }, false],
        ] as const) {
          const found = await compare.page(selection(subject(), { [part]: filter }), PAGE);
          if (findsSome !== undefined) expect(found > 0, JSON.stringify(filter)).to.equal(findsSome);
        }
      });
    }

    it('select pods by the names of their workloads', async () => {
      const { compare } = subject();
      const names = ['web', 'api', 'web-api', 'postgres', 'backup', 'migrate', 'worker', 'recommendation'];
      let found = 0;
      for (const workloads of [
        ...names.map((name) => ({ exact: [name] })),
        { exact: names },
        { contains: ['WEB'] },
        { exact: ['web', 'web-api'], contains: ['api', 'no-such'] },
        { exact: ['recommendation-service-for-returning-customers-of-the-web-shop'] },
        { exact: ['.*', 'a|b', '[a-z]'], contains: ['.*'] },
        {
          exact: Array.from({ length: 1_000 }, (_, n) => (n === 500 ? 'web' : `${'x'.repeat(n % 60)}-${n}`)),
        },
        { contains: [] },
      ]) {
        found += await compare.page(selection(subject(), { workloads }), PAGE);
      }
      expect(found).to.be.above(0);
    });

    for (const [mode, texts] of TEXTS) {
      for (const caseSensitive of mode === 'regex' ? [true] : [false, true]) {
        it(`select lines by ${mode}${caseSensitive ? ', case-sensitive' : ''}`, async () => {
          const { every = 1 } = subject().traits;
          const filters = texts
            .filter((_, index) => index % every === 0)
            .map((one) => text(mode, [one], caseSensitive));
          const several = [texts.slice(0, 5), texts.slice(-7)].map((some) =>
            text(mode, [some[0] ?? '', ...some.slice(1)], caseSensitive),
          );
          expect(await found(subject(), [...filters, ...several])).to.be.above(50);
        });
      }
    }

    it('select lines by the maximum number of texts', async () => {
      const { compare } = subject();
      const words = TEXTS.flatMap(([mode, texts]) => (mode === 'phrase' || mode === 'prefix' ? texts : []));
      const unknown = Array.from({ length: MAX_TEXTS }, (_, index) => `nosuchword${index}`);
      for (const mode of ['phrase', 'prefix'] as const) {
        const isDefined = (one: string) =>
          compare.isDefined(selection(subject(), { text: text(mode, [one]) }));
        const [first = '', ...more] = [...words.filter(isDefined), ...unknown].slice(0, MAX_TEXTS);
        const selected = text(mode, [first, ...more]);
        expect(await compare.page(selection(subject(), { text: selected }), PAGE)).to.be.above(0);
      }
    });

    const single = LEVELS.map((level) => [level]);
    for (const levels of [...(traits.core === true ? [] : single), ['warn', 'error']] as const) {
      it(`select lines of the levels ${levels.join(' and ')}`, async () => {
        const { compare } = subject();
        const selected = selection(subject(), { levels });
        expect(await compare.page(selected, { ...PAGE, size: 1_000 })).to.be.above(0);
        await compare.statistics(selected);
      });
    }

    it('can be combined', async () => {
      const { compare } = subject();
      const selected: Selection = selection(subject(), {
        containers: { contains: ['a', 'e'] },
        text: text('phrase', ['connection', 'user', 'order']),
        levels: ['error'],
      });
      expect(await compare.page(selected, PAGE)).to.be.above(0);
      await compare.statistics(selected);
      await compare.export(selected, 'asc');
    });
  });
}

/** Number of lines that the filters select. Reports all failures, not only the first. */
async function found(subject: Subject, filters: readonly TextFilter[]): Promise<number> {
  let sum = 0;
  const failures: string[] = [];
  for (const filter of filters) {
    const selected = selection(subject, { text: filter });
    try {
      sum += await subject.compare.page(selected, PAGE);
    } catch (error) {
      failures.push(
        `${JSON.stringify(filter.texts)}: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`,
      );
    }
  }
  expect(failures, failures.join('\n')).to.deep.equal([]);
  return sum;
}
