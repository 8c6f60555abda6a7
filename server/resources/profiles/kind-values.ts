// Types of the values that a cached object keeps for printer columns and sort keys, so that neither needs its JSON.
import type { ObjectIdentity } from '../../cache/resource-cache.ts';
import type { KindProfile } from '../kind-profile.ts';
import type { ListColumn } from '../list-columns.ts';
import type { ObjectFacts } from '../object-facts.ts';
import type { FeatureFacts } from './feature-facts.ts';
import type { UNKNOWN } from './json-path-walk.ts';

export type Value = string | number | boolean | null;

export interface KindFacts extends ObjectFacts {
  /** Values of the fields that many objects share. */
  readonly fieldValues: readonly string[];
  /** Values of the fields that differ between objects, joined by NUL. */
  readonly ownValues: string;
  /** Values of KindValues; null if there is none, or if it is unknown. */
  readonly values: readonly Value[];
  /** False if a value or a selectable field is unknown, so that kube-apiserver can return another one. */
  readonly isExact: boolean;
  /** What features of this server need of the object. */
  readonly features: FeatureFacts | undefined;
}

/** A column of the Tables of kube-apiserver. */
export interface PrintedColumn {
  readonly name: string;
  readonly type: string;
  cell(object: ObjectIdentity<KindFacts>, now: Date): Value;
}

/** The values of the objects of one kind. */
export interface KindValues {
  /** Reads the values of a parsed object. */
  read(object: unknown): readonly (Value | typeof UNKNOWN)[];
  /** Index of the value of each additional sort key. */
  readonly sorts: ReadonlyMap<string, number>;
  /** Index of the value of each additional filter. The value is a text of words, separated by spaces. */
  readonly filters?: ReadonlyMap<string, number>;
  /** Further sort keys and filters, which read other facts. */
  readonly sortKeys?: KindProfile<KindFacts>['sortKeys'];
  readonly ownFilters?: KindProfile<KindFacts>['filters'];
  /** Why a printer column cannot be a sort key, by the key. */
  readonly unsortable?: ReadonlyMap<string, string>;
  /** The columns of lists, without those of every kind. */
  readonly listColumns: readonly ListColumn<KindFacts>[];
  /** Undefined if this server cannot compute the cells of kube-apiserver. */
  readonly columns: readonly PrintedColumn[] | undefined;
}
