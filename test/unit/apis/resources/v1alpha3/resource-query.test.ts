// Tests of the decoder of query parameters of lists under `/kapis`.
import { expect } from 'chai';
import { array, assert, constantFrom, property, string, tuple } from 'fast-check';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { resourceQuerySchema } from '../../../../../apis/resources/v1alpha3/resource-query.ts';
import { newResourceQueryDecoder } from '../../../../../apis/resources/v1alpha3/resource-query-decoder.ts';

const KIND = {
  sortKeys: ['name', 'creationTimestamp', 'cpu'],
  statuses: ['running', 'warning', 'unschedulable'],
  filters: ['role'],
  fields: ['metadata.name', 'spec.unschedulable'],
};
const PARAMETERS = Object.keys(resourceQuerySchema(KIND).properties);
const decoder = newResourceQueryDecoder(KIND);

function decode(search: string): unknown {
  return decoder.decode(new URLSearchParams(search));
}

const DEFAULTS = { page: 1, limit: -1, sortBy: 'creationTimestamp', ascending: false };

/** The validation errors by parameter. Throws if the query is valid. */
function errorsOf(search: string): Readonly<Record<string, string>> {
  try {
    decode(search);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    expect(error.code).to.equal(400);
    for (const cause of error.details?.causes ?? []) expect(error.message).to.include(cause.message);
    return Object.fromEntries(
      (error.details?.causes ?? []).map(({ field = '', message }) => [field, message]),
    );
  }
  throw new Error(`taken: ${search.slice(0, 200)}`);
}

describe('the query of a list', () => {
  it('converts each parameter to its type', () => {
    expect(
      decode('page=2&limit=10&sortBy=cpu&ascending=1&names=a,b&status=running,warning&role=worker'),
    ).to.deep.equal({
      page: 2,
      limit: 10,
      sortBy: 'cpu',
      ascending: true,
      names: ['a', 'b'],
      status: ['running', 'warning'],
      role: ['worker'],
    });
    expect(decode('name=a%2Cb&uid=1&alias=true')).to.deep.include({ name: 'a,b', uid: '1', alias: 'true' });
  });

  it('rejects a printer column that cannot be a sort key, with the reason', () => {
    const unsortable = new Map([['Descent', 'its JSON path is not supported']]);
    const query = new URLSearchParams('sortBy=Descent');
    expect(() => newResourceQueryDecoder({ ...KIND, unsortable }).decode(query)).to.throw(
      'sortBy: "Descent" cannot be a sort key: its JSON path is not supported',
    );
  });

  it('parses booleans like Go', () => {
    for (const text of ['1', 't', 'T', 'true', 'TRUE', 'True']) {
      expect(decode(`ascending=${text}`)).to.deep.include({ ascending: true });
    }
    for (const text of ['0', 'f', 'F', 'false', 'FALSE', 'False']) {
      expect(decode(`ascending=${text}`)).to.deep.include({ ascending: false });
    }
  });

  it('ignores cache-busters and a parameter without a value, and reads an empty list of names as none', () => {
    expect(decode('page=&name=&status=&role=&labelSelector=')).to.deep.equal(DEFAULTS);
    for (const empty of ['names=', 'names=,', 'names=,%20']) {
      expect(decode(empty)).to.deep.equal({ ...DEFAULTS, names: [] });
    }
    for (const parameter of ['status', 'namespaces', 'role', 'facets']) {
      expect(decode(`${parameter}=`), parameter).to.deep.equal(DEFAULTS);
      for (const commas of [',', '%20', ',%20,']) {
        expect(() => decode(`${parameter}=${commas}`), parameter).to.throw(
          `${parameter}: must be a list with at least one value, not []`,
        );
      }
    }
    expect(decode('_=1700000000&t=1&_=2'), 'cache-busters').to.deep.equal(DEFAULTS);
    expect(errorsOf('name=a&name=a')['name']).to.equal('is given 2 times, but has one value');
  });

  it('accepts one namespace as `namespace`, without `namespaces`', () => {
    expect(decode('namespace=shop')).to.deep.equal({ ...DEFAULTS, namespaces: ['shop'] });
    expect(errorsOf('namespace=shop&namespaces=shop')).to.deep.equal({
      namespace: 'cannot be combined with namespaces',
    });
  });

  for (const parameter of ['namespaces', 'names', 'role']) {
    it(`accepts at most 1,000 values of ${parameter}, because each can cost a review or a search`, () => {
      const values = (count: number): string =>
        `${parameter}=${Array.from({ length: count }, (_, i) => `v${i}`).join()}`;
      expect(() => decode(values(1_000))).not.to.throw();
      expect(errorsOf(values(20_000))[parameter]).to.match(/^must be a list of at most 1000 values/);
    });
  }

  it('reports all validation errors at once', () => {
    const found = errorsOf(
      'page=0&limit=-2&sortBy=age&ascending=yes&status=runing&labelSelector=a%20b&nmae=x',
    );
    expect(Object.keys(found).sort()).to.deep.equal(
      ['ascending', 'labelSelector', 'limit', 'nmae', 'page', 'sortBy', 'status'].sort(),
    );
  });

  it('suggests a correction, and lists accepted values', () => {
    expect(errorsOf('nmae=x')['nmae']).to.equal(
      `unknown parameter, did you mean "name"? (allowed: ${PARAMETERS.join(', ')})`,
    );
    expect(errorsOf('status=runing')['status']).to.equal(
      'must be one of running, warning, unschedulable, not "runing"; did you mean "running"?',
    );
    expect(errorsOf('live=changed')['live']).to.equal('must be page, not "changed"');
    expect(errorsOf('sortBy=creationTimeStamp')['sortBy']).to.include('did you mean "creationTimestamp"?');
    expect(errorsOf('fieldSelector=metadata.nam%3Dx')['fieldSelector']).to.include(
      'did you mean "metadata.name"?',
    );
  });

  it('suggests parameters by their names in other systems, and knows no others than those of the kind', () => {
    const others = {
      size: 'limit',
      pageSize: 'limit',
      orderBy: 'sortBy',
      reverse: 'ascending',
      keyword: 'q',
    };
    for (const [other, name] of Object.entries(others)) {
      expect(errorsOf(`${other}=1`)[other], other).to.include(`unknown parameter, did you mean "${name}"?`);
    }
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(errorsOf(`${name}=1`)[name], name).to.include('unknown parameter');
    }
    const unknown = newResourceQueryDecoder({ ...KIND, filters: [], statuses: undefined });
    expect(() => unknown.decode(new URLSearchParams('role=worker'))).to.throw(StatusError, 'role');
    const status = 'CrashLoopBackOff';
    expect(unknown.decode(new URLSearchParams({ status }))).to.deep.include({ status: [status] });
  });

  it('rejects invalid numbers and numbers out of range', () => {
    for (const text of ['0', '-1', '1.0', '1e1', '0x1', ' 1', 'NaN', '2147483648', '9'.repeat(400)]) {
      expect(errorsOf(`page=${text}`)['page'], text).to.include('from 1 to 2147483647');
    }
    expect(decode('limit=0')).to.deep.include({ limit: 0 });
    expect(errorsOf('limit=-2')['limit']).to.equal('must be a whole number from -1 to 2147483647, not -2');
  });

  it('reports the error in a selector', () => {
    expect(errorsOf('labelSelector=a%3D%3D%3Db')['labelSelector']).to.include('unable to parse requirement');
    expect(errorsOf('annotation=!')['annotation']).to.include('must be a selector, not');
    expect(errorsOf('label=%3Dx')['label']).to.include('must be a selector, not');
    expect(errorsOf('fieldSelector=x')['fieldSelector']).to.include("can't understand 'x'");
  });

  it('limits selectors to 1,000 requirements', () => {
    const selectors = { labelSelector: 'zone!=x', fieldSelector: 'metadata.name!=x', label: 'zone!=x' };
    for (const [name, requirement] of Object.entries(selectors)) {
      const of = (count: number): string =>
        new URLSearchParams({ [name]: Array<string>(count).fill(requirement).join() }).toString();
      expect(decode(of(1_000)), name).to.have.property(name);
      expect(errorsOf(of(1_001))[name], name).to.include('more than 1000 requirements');
    }
  });

  it('limits label selectors to 1,000 values, before it parses the others', () => {
    const of = (count: number, end: string): string =>
      new URLSearchParams({ label: `a in (b${',c'.repeat(count - 1)}),d notin (e)${end}` }).toString();
    expect(decode(of(999, ''))).to.have.property('label');
    expect(errorsOf(of(1_000, ' invalid'))['label']).to.include('more than 1000 values');
  });

  it('truncates repeated values', () => {
    expect(errorsOf(`status=${'x'.repeat(10_000)}`)['status']?.length).to.be.below(300);
    expect(Object.keys(errorsOf(`${'x'.repeat(10_000)}=1`))[0]?.length).to.be.below(300);
  });

  it('accepts or rejects any input with 400', () => {
    const parameter = tuple(constantFrom(...PARAMETERS, 'x'), string());
    assert(
      property(array(parameter, { maxLength: 4 }), (parameters) => {
        try {
          decoder.decode(new URLSearchParams(parameters));
        } catch (error) {
          if (!(error instanceof StatusError)) throw error;
          expect(error.code).to.equal(400);
          expect(error.details?.causes).to.not.equal(undefined);
        }
      }),
    );
  });

  it('accepts facets by status, namespace, kind of the owner and label', () => {
    const facets = ['status', 'namespace', 'ownerKind', 'label:app.kubernetes.io/name'];
    expect(decode(`facets=${facets.join()}`)).to.deep.include({ facets });
    expect(errorsOf('facets=status,image')['facets']).to.equal(
      'must be one of status, namespace, ownerKind, label:KEY, not "image"',
    );
    expect(errorsOf('facets=label:')['facets']).to.include('not "label:"');
    expect(errorsOf(`facets=${'status,'.repeat(10)}status`)['facets']).to.be.a('string');
  });
});
