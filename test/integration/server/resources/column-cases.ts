// Test data: JSON paths of printer columns, valid and invalid ones, and objects with values of every type.

/** Paths that this server computes as kube-apiserver does. */
export const PRINTED: readonly string[] = [
  ...['.', '.spec', '.spec.text', '.spec.number', '.spec.flag', '.spec.nothing', '.spec.since', '.spec.list', '.spec.map'],
  ...['.spec.missing', '.spec.missing.deeper', '.spec.text.deeper', '.spec.list.deeper', '.spec.nothing.deeper'],
  // Names in brackets, and escaped characters.
  ...[".spec['text']", ".spec['map']['x']", ".spec['a\\.b'].c", ".spec['a.b'].c", ".spec['']", ".spec['map.x']"],
  ...[".metadata.labels['app\\.kubernetes\\.io/name']", ".metadata.labels['app.kubernetes.io/name']"],
  ...['.metadata.labels.app\\.kubernetes\\.io/name', '.spec.\\*', '.spec.we\\ ird', '.spec.we\\[ird\\]', '.spec.\\text'],
  ...['.spec.ünï', '.spec.😀', '.spec.a-b', '.spec.a/b', '.spec.a(b)', '.spec.a"b"', ".spec'x'", '.spec.a=b', '.spec.list.length()'],
  // Names of members that every JavaScript object has.
  ...['.spec.constructor', '.spec.constructor.name', '.spec.__proto__', '.spec.__proto__.x', '.spec.toString', '.spec.list.length'],
  // kube-apiserver skips spaces, `@` and `$` between the steps.
  ...['.spec .text', '.spec@.text', '.spec$.text', '.$.spec', '.spec.text ', '.spec.list [0]'],
  // Indexes and slices.
  ...['[0]', '[00]', '[1]', '[9]', '[-1]', '[-2]', '[-9]', '[-0]', '[]', '[*]', '[:]', '[::]', '[0:1]', '[1:]', '[:1]', '[-1:]'].map(ofList),
  ...['[:-1]', '[0:9]', '[1:0]', '[0:0]', '[5:5]', '[::2]', '[::0]', '[::-1]', '[0:2:]', '[-2:-1]', '[1:2]', '[0:1:5]'].map(ofList),
  ...['.spec.list[*].deeper', '.spec.list[0].x', '.spec.text[0]', '.spec.map[0]', '.spec.nothing[0]', '.spec.missing[0]', '.spec[0]', '.[0]'],
  ...['.spec.nested[*][0]', '.spec.nested[*][*]', '.spec.nested[0][1]', '.spec.nested[*][:]', '.spec.nested[*][-1]', '.spec.nested[*][0:0]'],
  // Filters.
  ...['@.type=="Ready"', "@.type=='Ready'", "@['type']=='Ready'", '@.type == "Ready"', ' @.type == "Ready" ', '$.type=="Ready"'].map(ofCondition),
  ...['@.type!="Ready"', '@.type==""', '@.type', '@.missing', '@.list[0]', '@.list[9]', '@.list[*]=="a"', '@.list[0]=="a"', '@'].map(ofCondition),
  ...['@.weight>1', '@.weight>=2', '@.weight<2', '@.weight<=1', '@.weight==2', '@.weight!=2', '@.weight==2.0', '@.weight>1.5'].map(ofCondition),
  ...['@.weight==-1', '@.weight==+2', '@.on==true', '@.on!=true', '@.on==false', '@.type=="Re)ady"', '@.a\\.b=="x"', '@.type=="<b>"'].map(ofCondition),
  ...['.spec.conditions[?(@.type=="Ready")]', '.spec.conditions[?(@.type=="Ready")].list[0]', '.spec.conditions[?(@.type=="Ready")][0]'],
  ...['.spec.list[?(@=="a")]', '.spec.map[?(@.x=="1")]', '.spec.text[?(@=="a")]', '.spec.nothing[?(@.a)]', '.spec.missing[?(@.a)]'],
  // Columns of well-known definitions.
  ...['.status.conditions[-1:].type', '.status.addresses[*].value', '.status.loadBalancer.ingress[0].ip', '.spec.hosts'],
  ...['.status.interfaces[0].ipAddress', '.spec.triggers[*].type', '.metadata.annotations.crossplane\\.io/external-name'],
  ...[".status.conditions[?(@.type=='Succeeded')].reason", ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']"],
]; // biome-ignore format: a list

/** Paths that kube-apiserver prints, and this server does not compute. */
export const UNSUPPORTED: readonly string[] = [
  ...['.spec.*', ".spec['*']", '.spec.map.*', '.spec..x', '.spec..x..y', '.spec..[0]', '.spec.list[0,1]', ".spec['text','map']"],
  ...['.spec.text b', '.spec.list[*] range', '.spec true'],
  ...['@.type==@.name', '@.type==Ready', '@.type>"A"', '@.type=>"A"', '@.on>true', 'type=="Ready"', '@.*=="Ready"'].map(ofCondition),
]; // biome-ignore format: a list

/** Paths that kube-apiserver cannot parse. It prints neither this column nor the ones after it. */
export const UNPARSED: readonly string[] = [
  ...['.spec["text"]', '.spec.text\\', '.spec.text,b', '.spec.text{', '.spec]', '.spec..*', '.spec..*..*..*', '.spec....x'],
  ...['[ -1 ]', '[a]', '[', '[--1]', '[-]', '[1.5]', '[0:1:2:3]', '[?@.type=="Ready"]', "['a]", '[0,a]', '[99999999999999999999]'].map(ofList),
  ...['@.type==', '@.type=="Ready" && @.on==true', '@.type=~/R.*/', '@.type=="Ready', '@.list[?(@=="a")]', 'match(@.type, "(a+)+$")'].map(ofCondition),
  '.spec.conditions[?(@.type=="Ready")',
]; // biome-ignore format: a list

/** Unusual paths that kube-apiserver can parse, and this server treats as if it could not. */
export const UNCLEAR: readonly string[] = [
  '.spec.text}',
  '.spec "text"',
  '.spec 5',
  '.spec 5x',
  '.spec.list[?(@=="a\\"b")]',
  `.spec.${'x'.repeat(1100)}`,
];

function ofList(rest: string): string {
  return `.spec.list${rest}`;
}

function ofCondition(condition: string): string {
  return `.spec.conditions[?(${condition})].status`;
}

const CONDITIONS: readonly unknown[] = [
  [],
  [
    { type: 'Synced', status: 'False', weight: 1, on: false, list: [] },
    { type: 'Ready', status: 'True', weight: 2, on: true, list: ['a', 'b'], 'a.b': 'x' },
  ],
  [{ status: 'no type' }, { type: 'Ready' }, { type: null, status: 'x' }],
  [{ type: 7, status: 'number' }],
  [{ type: 'Re)ady', status: 1, weight: 2.5, on: 'true' }, null],
  [
    { type: '', status: 'empty', weight: -1 },
    { type: '<b>', status: '<i>', weight: 3 },
  ],
  [null, 'text', ['list']],
  'none',
  { type: 'Ready', status: 'True' },
  null,
];
const LISTS: readonly unknown[] = [
  ['a', 'b', 'c'], [], [null, 'b'], [1, 2.5, true], [['x'], { y: 1 }], 'abc', { '0': 'a' }, null, [{ x: 1, deeper: 'd' }], ['<a>'],
]; // biome-ignore format: a list
const NESTED: readonly unknown[] = [
  [[1, 2], [3]], [[], [1]], [[1], []], [[1], null, [2]], [null], [[1], 'x'], [[[1]]], {}, [[]], null,
]; // biome-ignore format: a list
const TEXTS: readonly unknown[] = [
  'plain', '', 'a<b>&"c"\n\u2028', '2024-01-02T03:04:05Z', 'null', '2024-02-30T00:00:00Z', '2024-01-02T3:04:05,5+01:30', '<no value>',
  '0001-01-01T00:00:00Z', '2024-01-02T24:00:00Z',
]; // biome-ignore format: a list
const NUMBERS: readonly unknown[] = [
  0, -3, 2.9, -0.5, 1234567.25, 1e-7, 0.00001, 1e5, 2 ** 53 - 1, 123456.5,
]; // biome-ignore format: a list
const FLAGS: readonly unknown[] = [
  true, false, 'true', 1, null, [], {}, '2999-01-01T00:00:00+01:00', '2024-01-02', '1500-01-01T00:00:00Z',
]; // biome-ignore format: a list
const MAPS: readonly unknown[] = [
  { x: 1 }, { b: [1, { d: null, c: 'ü<' }], a: 1e-7, x: '1' }, {}, [{ x: '1' }], 'text', null, { '': 1, large: 1e21 }, { x: {} }, { z: 0, Z: 1, _: 2 },
  { x: '2020-02-29T00:00:00Z' },
]; // biome-ignore format: a list

/** Members with special names. */
const SPECIAL = JSON.parse(
  '{"*":"star","we ird":"space","we[ird]":"brackets","ünï":"ü","😀":"face","a-b":1,"a/b":2,"a(b)":3,"a\\"b\\"":4,"a=b":5,"":"empty",' +
    '"a.b":{"c":"dot"},"a":{"b":{"c":"fields"}},"constructor":"own","__proto__":{"x":"own"},"toString":null}',
);

export const OBJECTS: readonly object[] = CONDITIONS.map((conditions, i) => ({
  metadata: {
    name: `probe-${i}`,
    labels: i % 2 === 0 ? {} : { 'app.kubernetes.io/name': 'cart', 'cluster.x-k8s.io/cluster-name': `c${i}` },
    annotations: i % 3 === 0 ? {} : { 'crossplane.io/external-name': `e${i}` },
  },
  ...(i === 4 ? { '': ['root'] } : {}),
  spec: {
    ...(i % 2 === 0 ? {} : SPECIAL),
    conditions,
    list: LISTS[i],
    nested: NESTED[i],
    text: TEXTS[i],
    number: NUMBERS[i],
    flag: FLAGS[i],
    map: MAPS[i],
    nothing: null,
    since: TEXTS[i],
    hosts: LISTS[i],
    triggers: [{ name: 'x' }, { type: 'cron' }],
  },
  status: {
    conditions: CONDITIONS[(i + 1) % CONDITIONS.length],
    addresses: [{ value: '10.0.0.1' }, { value: '10.0.0.2' }],
    loadBalancer: { ingress: i % 2 === 0 ? [] : [{ ip: '10.0.0.3' }] },
    interfaces: [{ ipAddress: 'fd00::1' }],
  },
}));
