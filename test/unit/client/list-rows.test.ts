// Tests of the rows for tables that the client library makes of a page.
import { expect } from 'chai';
import { type KubernetesObject, type ListPage, rowsOf, rowsQuery, statusOf } from '../../../client/index.ts';

const column = { type: 'string', format: '', priority: 0, description: '' };

function pageOf(...items: readonly KubernetesObject[]): ListPage {
  return {
    kind: 'List',
    apiVersion: 'v1',
    metadata: { resourceVersion: '7' },
    totalItems: 9,
    partial: true,
    columns: [
      { ...column, name: 'Status' },
      { ...column, name: 'Age' },
    ],
    cells: items.map((_, index) => [`status ${index}`, `age ${index}`]),
    items,
  };
}

function object(name: string, members: object): KubernetesObject {
  const metadata = { name, uid: `uid of ${name}`, resourceVersion: '1', creationTimestamp: '' };
  return { apiVersion: 'v1', kind: 'Thing', metadata, ...members };
}

describe('the rows of a page', () => {
  it('have the columns of the server, the namespace, and columns of well-known kinds', () => {
    const template = { spec: { containers: [{ image: 'web:1' }, { image: 'proxy:2' }] } };
    const { metadata, ...cart } = object('cart', {
      spec: { replicas: 2, template },
      status: { readyReplicas: 1, availableReplicas: 1 },
    });
    const page = pageOf({ ...cart, metadata: { ...metadata, namespace: 'shop', labels: { app: 'cart' } } });
    const { columns, rows, total, isPartial, labelKeys } = rowsOf('deployments.apps', page);
    expect(columns.map(({ name }) => name)).to.deep.equal(
      'Status,Namespace,Ready,Up-to-date,Available,Images,Age'.split(','),
    );
    expect(rows).to.deep.equal([
      {
        uid: 'uid of cart',
        name: 'cart',
        namespace: 'shop',
        cells: ['status 0', 'shop', '1/2', null, 1, 'web:1, proxy:2', 'age 0'],
      },
    ]);
    expect({ total, isPartial, labelKeys }).to.deep.equal({ total: 9, isPartial: true, labelKeys: ['app'] });
  });

  it('need the whole objects only for columns of well-known kinds', () => {
    expect(rowsQuery('deployments.apps')).to.deep.equal({ columns: true, includeObject: 'Object' });
    for (const resource of ['pods', 'widgets.example.com', 'constructor'])
      expect(rowsQuery(resource)).to.deep.equal({ columns: true, includeObject: 'Metadata' });
  });

  it('have no value of another type than the column', () => {
    const hostile = object('map', { data: 'text', spec: { type: { a: 1 } } });
    expect(rowsOf('services', pageOf(hostile)).rows[0]?.cells).to.deep.equal([
      ...['status 0', null, null, null, null],
      'age 0',
    ]);
    expect(rowsOf('constructor', pageOf(hostile)).columns).to.have.length(3);
  });

  it('have a status word, if the server computes one', () => {
    const page = pageOf(object('a', {}), object('b', {}));
    const columns = [{ ...column, name: 'Phase', format: 'status' }];
    const statuses = [0, 1, 2].map((index) => statusOf({ ...page, columns }, index));
    expect(statuses).to.deep.equal(['status 0', 'status 1', undefined]);
    expect(statusOf(page, 0)).to.equal(undefined);
  });
});
