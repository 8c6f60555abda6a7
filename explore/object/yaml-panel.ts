// The YAML of an object, with buttons that show more of it and copy it.
import type { KubernetesObject } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { type Kind, pathOfKind } from '../kinds.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { Toggle } from '../ui/toggle.ts';
import { YamlText } from '../ui/yaml-text.ts';
import { shownYAML } from './shown-yaml.ts';

export interface YamlPanelProps {
  readonly object: KubernetesObject;
  /** Undefined while the kinds are unknown. */
  readonly kind: Kind | undefined;
  readonly isDeleted: boolean;
}

export function YamlPanel({ object, kind, isDeleted }: YamlPanelProps): ComponentChildren {
  const [managedFields, showManagedFields] = useState(false);
  const [secrets, showSecrets] = useState(false);
  const [copied, setCopied] = useState('');
  const { yaml, error } = useYAML(object, kind, isDeleted);
  const isSecret = kind?.resource === 'secrets';
  if (!yaml && !error) return h('p', { class: 'muted', role: 'status' }, 'Loading the YAML…');
  // The JSON has the values of a Secret.
  if (!yaml && isSecret) return h(Failure, { error: error ?? new Error() });
  const text = yaml ? shownYAML(yaml, isSecret, { managedFields, secrets }) : JSON.stringify(object, null, 2);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied('Copied'),
      () => setCopied('The browser does not allow it'),
    );
  };
  return h('div', { class: 'yaml-panel' }, [
    !yaml &&
      h(
        Notice,
        { tone: 'info' },
        `This is the JSON of the list. The YAML could not be loaded: ${error?.message}`,
      ),
    h('div', { class: 'filter-row' }, [
      yaml &&
        h(
          Toggle,
          { isOn: managedFields, onClick: () => showManagedFields(!managedFields) },
          'Managed fields',
        ),
      isSecret && h(Toggle, { isOn: secrets, onClick: () => showSecrets(!secrets) }, 'Secret values'),
      h('span', { class: 'fill' }),
      h('span', { role: 'status', class: 'muted' }, copied),
      h('button', { type: 'button', onClick: copy }, 'Copy'),
    ]),
    h(YamlText, { text, label: yaml ? 'YAML' : 'JSON' }),
  ]);
}

/** Follows the version of the object. After its deletion, the last YAML stays. */
function useYAML(
  { metadata: { namespace, name, uid, resourceVersion } }: KubernetesObject,
  kind: Kind | undefined,
  isDeleted: boolean,
): { readonly yaml?: string; readonly error?: Error } {
  const { client } = useExplore();
  const [state, setState] = useState<{ readonly yaml?: string; readonly error?: Error }>({});
  useEffect(() => {
    if (!kind || isDeleted) return undefined;
    const closed = new AbortController();
    const { signal } = closed;
    const read = async (): Promise<void> => {
      const path = pathOfKind(kind, { namespace, name });
      setState({ yaml: await client.kubernetes.text(path, { accept: 'application/yaml', signal }) });
    };
    read().catch(
      (error: Error) => signal.aborted || setState((before) => (before.yaml ? before : { error })),
    );
    return () => closed.abort();
  }, [kind, uid, resourceVersion, isDeleted]);
  return state;
}
