// Tests of the columns of lists, with definitions and objects of hostile tenants. The integration tests compare the values with
// the Tables of kube-apiserver.
import { expect } from 'chai';
import { array, record } from '../../../../apis/reading/unknown-value.ts';
import type { PrinterColumn } from '../../../../server/resources/kind.ts';
import { HandlerServer } from '../../../support/handler-server.ts';
import { KindCache, plain, WIDGETS } from '../../../support/platform/kind-cache.ts';
import { PLATFORM_PATH, platformLists } from '../../../support/platform/platform-lists.ts';

const PATH = `${PLATFORM_PATH}/widgets?sortBy=name&ascending=true&columns=true`;

function widgets(columns: readonly PrinterColumn[], revision = '1'): KindCache {
  return new KindCache({
    ...WIDGETS,
    custom: { revision, listKind: 'WidgetList', columns, selectableFields: [] },
  });
}

function column(name: string, more: Partial<PrinterColumn> = {}): PrinterColumn {
  return { name, type: 'string', jsonPath: '.spec.value', ...more };
}

async function page(kind: KindCache, path = PATH) {
  await using server = await new HandlerServer(platformLists(() => [kind.lists])).start();
  const { body, headers } = await server.ask(path);
  const { columns, cells, items } = record(JSON.parse(body.toString()));
  return {
    etag: headers.etag,
    size: body.length,
    columns: array(columns).map(record),
    cells: array(cells).map(array),
    items: array(items),
  };
}

const created = { creationTimestamp: '2026-01-01T00:00:00Z' };

describe('the columns of lists', () => {
  it('are those of the definition, between status and age', async () => {
    const kind = widgets([
      column('Size', {
        type: 'integer',
        jsonPath: '.spec.size',
        description: 'How big.',
        format: 'int64',
        priority: 1,
      }),
      column('Since', { type: 'date', jsonPath: '.spec.since' }),
      column('Age', { type: 'date', jsonPath: '.metadata.creationTimestamp' }),
    ]);
    const spec = { size: 7, since: '2025-12-31T22:00:00-01:00' };
    const status = { conditions: [{ type: 'Ready', status: 'False' }] };
    kind.fill(9, [
      plain('shop/a', 1, created, { spec, status }),
      plain('shop/b', 2, {}, { spec: { size: 2 ** 53, since: 'soon' } }),
    ]);
    const { columns, cells } = await page(kind);
    expect(columns.map(({ name, type, priority, sortKey }) => [name, type, priority, sortKey])).to.deep.equal(
      [
        ['Status', 'string', 0, 'status'],
        ['Size', 'integer', 1, 'column:Size'],
        ['Since', 'date', 0, 'column:Since'],
        ['Age', 'date', 0, 'age'],
      ],
    );
    expect(columns[1]).to.include({ description: 'How big.', format: 'int64' });
    expect(cells).to.deep.equal([
      ['NotReady', 7, '2025-12-31T23:00:00.000Z', '2026-01-01T00:00:00.000Z'],
      // The digits of the number are not known.
      [null, null, '<invalid>', null],
    ]);
  });

  it('are only in the response if the query requests them', async () => {
    const kind = widgets([column('Value')]).fill(9, [plain('shop/a', 1)]);
    const { columns, cells, items } = await page(kind, PATH.replace('&columns=true', ''));
    expect([columns.length, cells.length, items.length]).to.deep.equal([0, 0, 1]);
  });

  it('need no whole objects, and an unknown part of them is an error that names the values', async () => {
    const value = { value: 'x'.repeat(9_000) };
    const kind = widgets([column('Value')]).fill(9, [
      plain('shop/a', 1, {}, { spec: value }),
      plain('shop/b', 2, {}, { spec: value }),
    ]);
    const whole = await page(kind);
    const metadata = await page(kind, `${PATH}&includeObject=Metadata`);
    expect(metadata.cells).to.deep.equal(whole.cells);
    expect(metadata.etag).not.to.equal(whole.etag);
    expect(metadata.items).to.deep.equal(
      whole.items.map((item) => ({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: record(item)['metadata'],
      })),
    );
    expect((await page(kind, `${PATH}&includeObject=Object`)).etag).to.equal(whole.etag);
    await using server = await new HandlerServer(platformLists(() => [kind.lists])).start();
    const { status, body } = await server.ask(`${PATH}&includeObject=None`);
    expect([status, body.toString()]).to.match(/400.*includeObject.*must be one of Metadata, Object/);
  });

  it('leave out what this server cannot compute, and cannot be sorted by ambiguous names', async () => {
    const kind = widgets([
      column('Descent', { jsonPath: '.spec..x' }),
      column('Twice'),
      column('Twice', { jsonPath: '.spec.other' }),
      column('Broken', { jsonPath: '.spec["a"]' }),
      column('After'),
    ]).fill(9, [plain('shop/a', 1, {}, { spec: { value: 'one', other: 'two' } })]);
    const { columns, cells } = await page(kind);
    expect(columns.map(({ name, sortKey }) => [name, sortKey])).to.deep.equal([
      ['Status', 'status'],
      ['Twice', undefined],
      ['Twice', undefined],
      ['Age', 'age'],
    ]);
    expect(cells).to.deep.equal([[null, 'one', 'two', null]]);
  });

  it('have a bounded number, and bounded texts', async () => {
    const kind = widgets(Array.from({ length: 5_000 }, (_, i) => column(`c${i}`)));
    kind.fill(9, [plain('shop/a', 1, {}, { spec: { value: 'x'.repeat(4_000) } }), plain('shop/b', 2)]);
    const { columns, cells } = await page(kind);
    expect(columns).to.have.length(66);
    expect(cells.map((row) => row.length)).to.deep.equal([66, 66]);
    expect(cells.join('').length).to.be.below(17_000);
    const long = widgets([column('Value')]).fill(9, [
      plain('shop/a', 1, {}, { spec: { value: 'x'.repeat(5_000) } }),
    ]);
    expect((await page(long)).cells).to.deep.equal([[null, null, null]]);
  });

  it('stay texts, whatever they contain', async () => {
    const text = '</script><img src=x onerror=alert(1)>"\\\u2028\u202e\r\n\u0000';
    const kind = widgets([column(text, { description: text })]);
    kind.fill(9, [plain('shop/a', 1, {}, { spec: { value: text } })]);
    const { columns, cells } = await page(kind);
    expect(columns[1]).to.include({ name: text, description: text });
    expect(cells[0]?.[1]).to.equal(text);
  });

  it('change the entity tag with the definition, even if the objects are equal', async () => {
    const tagOf = async (columns: readonly PrinterColumn[], revision: string) =>
      (await page(widgets(columns, revision).fill(9, [plain('shop/a', 1)]))).etag;
    const first = await tagOf([column('Value')], '1');
    expect(await tagOf([column('Value')], '1')).to.equal(first);
    expect(await tagOf([column('Value', { jsonPath: '.spec.other' })], '2')).not.to.equal(first);
    const kind = widgets([column('Value')]).fill(9, [plain('shop/a', 1)]);
    expect((await page(kind, PATH.replace('&columns=true', ''))).etag).not.to.equal(first);
  });

  it('are the same rows on long pages, which are sent in chunks', async () => {
    const kind = widgets([column('Value')]);
    const names = Array.from({ length: 2_000 }, (_, i) => `w${String(i).padStart(4, '0')}`);
    const spec = (value: string) => ({ spec: { value, filling: 'x'.repeat(200) } });
    kind.fill(
      9_999,
      names.map((name, i) => plain(`shop/${name}`, i + 1, {}, spec(name))),
    );
    const { cells, size } = await page(kind);
    expect(size).to.be.above(300_000);
    expect(cells.map((row) => row[1])).to.deep.equal(names);
  });
});
