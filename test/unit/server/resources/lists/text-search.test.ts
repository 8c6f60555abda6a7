// Tests of the text search in the objects of one kind.
import { expect } from 'chai';
import {
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  record,
  stringMatching,
  subarray,
} from 'fast-check';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { PODS } from '../../../../../server/resources/kind.ts';
import { bestMatches } from '../../../../../server/resources/lists/text-search.ts';
import { KindCache, plain } from '../../../../support/platform/kind-cache.ts';

async function search(pods: KindCache, text: string, namespaces?: readonly string[], limit = 10) {
  const { best, total } = await bestMatches(
    pods.snapshot(),
    text,
    namespaces,
    limit,
    new TimeSlicer(0).of({}),
  );
  return { total, best: best.map(({ object, match }) => `${match} ${object.key}`) };
}

const RANKS = ['name', 'prefix', 'word', 'text'];

describe('bestMatches', () => {
  it('compares the whole text, although it searches a part of it first', async () => {
    const some = new KindCache(PODS).fill(10, [plain('a/checkout', 1), plain('a/kout', 2)]);
    expect(await search(some, 'checkout')).to.deep.equal({ total: 1, best: ['name a/checkout'] });
    expect(await search(some, 'kout')).to.deep.equal({ total: 2, best: ['name a/kout', 'text a/checkout'] });
    expect((await search(some, 'Kou')).total).to.equal(2);
    expect((await search(some, 'xkout')).total).to.equal(0);
  });

  it('equals a comparison with every object, after any changes', async () => {
    const key = record({ space: constantFrom('a', 'b', 'ab'), name: stringMatching(/^[ab](-?[ab]){0,3}$/) });
    const change = record({ key, label: constantFrom('a', 'ab', 'B', 'x'), gone: boolean() });
    const expected = (cache: KindCache, text: string, namespaces?: readonly string[]): string[] =>
      Array.from(cache.snapshot().objects())
        .filter(({ namespace }) => namespaces?.includes(namespace) ?? true)
        .map(({ name, namespace, labels, key: at }) => {
          const others = [name, namespace, `app=${labels['app']}`.toLowerCase()];
          const rank =
            name === text
              ? 'name'
              : name.startsWith(text)
                ? 'prefix'
                : name.includes(`-${text}`)
                  ? 'word'
                  : others.some((other) => other.includes(text)) && 'text';
          return { rank, name, at };
        })
        .filter(({ rank }) => rank !== false)
        .sort((one, other) => {
          const order = RANKS.indexOf(String(one.rank)) - RANKS.indexOf(String(other.rank));
          return (
            order || (one.name < other.name ? -1 : one.name > other.name ? 1 : one.at < other.at ? -1 : 1)
          );
        })
        .map(({ rank, at }) => `${String(rank)} ${at}`);
    await assert(
      asyncProperty(
        array(change, { maxLength: 60 }),
        stringMatching(/^(a|b|ab|-a|p=b|x)$/),
        subarray(['a', 'b', 'ab']),
        async (changes, text, some) => {
          const cache = new KindCache(PODS).fill(1, []);
          let version = 1;
          for (const {
            key: { space, name },
            label,
            gone,
          } of changes) {
            const object = plain(`${space}/${name}`, ++version, { labels: { app: label } });
            cache.apply(gone ? 'DELETED' : 'ADDED', object);
            // Every search can cache the texts of the objects.
            if (version % 5 === 0) await search(cache, text);
          }
          for (const namespaces of [undefined, some]) {
            const best = expected(cache, text, namespaces);
            expect(await search(cache, text, namespaces, 100)).to.deep.equal({ total: best.length, best });
            expect(await search(cache, text, namespaces, 3)).to.deep.equal({
              total: best.length,
              best: best.slice(0, 3),
            });
          }
        },
      ),
    );
  });
});
