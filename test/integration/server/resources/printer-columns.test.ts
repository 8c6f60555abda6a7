// Tests of printer columns against the Tables of a real kube-apiserver: each JSON path as a column of each type.
import { expect } from 'chai';
import { array, record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import type { ControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import type { Kind, PrinterColumn } from '../../../../server/resources/kind.ts';
import { sortKeysOf } from '../../../../server/resources/kind-profile.ts';
import { kindProfile, type PrintedProfile } from '../../../../server/resources/profiles/kind-profiles.ts';
import { definitionOf, version } from '../../../support/cluster/custom-resource.ts';
import { until } from '../../../support/until.ts';
import { OBJECTS, PRINTED, UNCLEAR, UNPARSED, UNSUPPORTED } from './column-cases.ts';
import { sharedCluster } from './shared-cluster.ts';

const TYPES = ['string', 'integer', 'number', 'boolean', 'date'] as const;
const PATHS = [...PRINTED, ...UNSUPPORTED, ...UNPARSED, ...UNCLEAR];
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } as const;

/** Columns of one path, between two columns that every version has. */
function columnsOf(jsonPath: string): readonly PrinterColumn[] {
  const name = { name: 'First', type: 'string', jsonPath: '.metadata.name' };
  return [name, ...TYPES.map((type) => ({ name: type, type, jsonPath })), { ...name, name: 'Last' }];
}

/** Each path has a version of its own, because an invalid path hides the columns after it. */
const versionOf = (i: number): string => `v${i + 1}`;

describe('printer columns with a real kube-apiserver', () => {
  let cluster: ControlPlane;
  let objects: readonly unknown[];

  before(async () => {
    cluster = (await sharedCluster()).controlPlane;
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const versions = PATHS.map((path, i) =>
      version(versionOf(i), { schema, additionalPrinterColumns: columnsOf(path) }),
    );
    const body = definitionOf({ plural: 'probes', kind: 'Probe', versions });
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await cluster.client.expect(definitions, { method: 'POST', body }, [201]);
    for (const object of OBJECTS) {
      const probe = { apiVersion: 'example.com/v1', kind: 'Probe', ...object };
      await until(async () => {
        const { status } = await cluster.client.send(pathOf('v1'), { method: 'POST', body: probe });
        return status === 201;
      });
    }
    const list = await cluster.client.expect(pathOf('v1'), {}, [200]);
    objects = array(record(JSON.parse(list.body))['items']);
    expect(objects).to.have.length(OBJECTS.length);
  });

  const pathOf = (name: string): string => `/apis/example.com/${name}/probes`;

  /** Resolves with the Table of kube-apiserver: the names of its columns, and the cells of each object. */
  async function table(path: string): Promise<{ columns: readonly string[]; cells: readonly unknown[][] }> {
    const name = versionOf(PATHS.indexOf(path));
    const { body } = await cluster.client.expect(pathOf(name), TABLE, [200]);
    const { columnDefinitions, rows } = record(JSON.parse(body));
    return {
      columns: array(columnDefinitions).map((column) => text(record(column)['name'])),
      cells: array(rows).map((row) => [...array(record(row)['cells'])]),
    };
  }

  function profileOf(path: string): PrintedProfile {
    const custom = { revision: '1', listKind: 'WidgetList', columns: columnsOf(path), selectableFields: [] };
    const kind: Kind = {
      group: 'example.com',
      version: 'v1',
      plural: 'probes',
      kind: 'Probe',
      namespaced: false,
      custom,
    };
    return kindProfile(kind, 'platform.io');
  }

  /** The cells of our Table. */
  function cellsOf(profile: PrintedProfile, object: unknown): readonly unknown[] {
    const name = text(recordIn(object, 'metadata')['name']);
    const facts = profile.facts(object);
    const identity = {
      key: name,
      name,
      namespace: '',
      uid: '',
      resourceVersion: '1',
      checksum: 0,
      size: 0,
    };
    return (profile.columns ?? []).map((column) =>
      column.cell({ ...identity, labels: {}, facts }, new Date()),
    );
  }

  for (const path of PRINTED) {
    it(`prints ${path} as kube-apiserver does`, async () => {
      const theirs = await table(path);
      const profile = profileOf(path);
      expect(theirs.columns).to.deep.equal(['Name', 'First', ...TYPES, 'Last']);
      expect(objects.map((object) => cellsOf(profile, object))).to.deep.equal(theirs.cells);
      expect(sortKeysOf(profile)).to.include.members(['First', ...TYPES, 'Last']);
    });
  }

  for (const path of [...UNSUPPORTED, ...UNCLEAR]) {
    it(`neither prints nor sorts by ${path}`, async () => {
      const profile = profileOf(path);
      expect((await table(path)).columns).to.have.length(TYPES.length + 3);
      expect(profile.columns).to.equal(undefined);
      expect(sortKeysOf(profile))
        .to.include('First')
        .and.not.to.include.members([...TYPES]);
      expect(sortKeysOf(profile).includes('Last')).to.equal(UNSUPPORTED.includes(path));
    });
  }

  for (const path of UNPARSED) {
    it(`sorts by no column from ${path} on, which kube-apiserver does not print`, async () => {
      const profile = profileOf(path);
      expect((await table(path)).columns).to.deep.equal(['Name', 'First']);
      expect(profile.columns).to.equal(undefined);
      expect(sortKeysOf(profile)).to.include('First');
      for (const key of [...TYPES, 'Last']) {
        expect(sortKeysOf(profile)).not.to.include(key);
        expect(profile.unsortable?.get(key)).to.be.a('string');
      }
    });
  }
});
