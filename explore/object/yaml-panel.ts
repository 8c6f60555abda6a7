// The YAML of an object with line numbers and coloured keys, and buttons that show more of it and copy it.
import { type KubernetesObject, type ServedKind, shownYAML } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { pathOfKind, useExplore } from '../context.ts';
import { CopyButton, toggle } from '../ui/controls.ts';
import { failure, loading, notice } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';

const YAML = 'application/yaml';

export interface YamlPanelProps {
  readonly object: KubernetesObject;
  /** Undefined while the kinds are unknown. */
  readonly kind: ServedKind | undefined;
}

export function YamlPanel({ object, kind }: YamlPanelProps): ComponentChildren {
  const { client } = useExplore();
  const [managedFields, showManagedFields] = useState(false);
  const [secrets, showSecrets] = useState(false);
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const load = async (signal: AbortSignal) =>
    kind && client.kubernetes.text(pathOfKind(kind, { namespace, name }), { accept: YAML, signal });
  // After the deletion of the object, the last YAML stays.
  const { value: yaml, error } = useLoaded(load, [kind, uid, resourceVersion]);
  const isSecret = kind?.resource === 'secrets';
  if (!yaml && !error) return loading('Loading the YAML…');
  // The JSON has the values of a Secret.
  if (!yaml && error && isSecret) return failure(error);
  const text = yaml ? shownYAML(yaml, isSecret, { managedFields, secrets }) : JSON.stringify(object, null, 2);
  return [
    !yaml && notice('info', `This is the JSON of the list. The YAML could not be loaded: ${error?.message}`),
    h('div', { class: 'row' }, [
      yaml && toggle('Managed fields', managedFields, showManagedFields),
      isSecret && toggle('Secret values', secrets, showSecrets),
      h('span', { class: 'fill' }),
      h(CopyButton, { label: 'Copy', text }),
    ]),
    yamlText(text, yaml ? 'YAML' : 'JSON'),
  ];
}

/** Longer texts have no colours, because each key is an element. */
const MAX_LINES = 5_000;
/** Indent, key and the rest of a line. */
const LINE = /^(\s*(?:- )*)("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#|>{[-][^:\n]*)(:(?:\s.*)?)$/;

/** All content is text: nothing of it can become markup. */
function yamlText(text: string, label: string): ComponentChildren {
  const lines = text.replace(/\n$/, '').split('\n');
  const coloured = lines.map((line, i) => {
    const [, indent, key, rest] = LINE.exec(line) ?? [];
    const content = key === undefined ? line : [indent, h('span', { class: 'key' }, key), rest];
    return h('span', { key: i, class: 'line' }, [content, '\n']);
  });
  // Focusable, because it scrolls.
  const attributes = { class: 'yaml box scroll', tabIndex: 0, 'aria-label': label, role: 'region' } as const;
  return h('pre', attributes, lines.length > MAX_LINES ? text : coloured);
}
