// The YAML of an object, with buttons that show more of it and copy it.
import type { KubernetesObject } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { type Kind, pathOfKind } from '../kinds.ts';
import { CopyButton } from '../ui/copy-button.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { Toggle } from '../ui/toggle.ts';
import { useLoaded } from '../ui/use-live.ts';
import { shownYAML } from './shown-yaml.ts';
import { YamlText } from './yaml-text.ts';

export interface YamlPanelProps {
  readonly object: KubernetesObject;
  /** Undefined while the kinds are unknown. */
  readonly kind: Kind | undefined;
}

export function YamlPanel({ object, kind }: YamlPanelProps): ComponentChildren {
  const { client } = useExplore();
  const [managedFields, showManagedFields] = useState(false);
  const [secrets, showSecrets] = useState(false);
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const load = async (signal: AbortSignal): Promise<string | undefined> =>
    kind &&
    client.kubernetes.text(pathOfKind(kind, { namespace, name }), { accept: 'application/yaml', signal });
  // After the deletion of the object, the last YAML stays.
  const { value: yaml, error } = useLoaded(load, [kind, uid, resourceVersion]);
  const isSecret = kind?.resource === 'secrets';
  if (!yaml && !error) return h('p', { class: 'muted', role: 'status' }, 'Loading the YAML…');
  // The JSON has the values of a Secret.
  if (!yaml && error && isSecret) return h(Failure, { error });
  const text = yaml ? shownYAML(yaml, isSecret, { managedFields, secrets }) : JSON.stringify(object, null, 2);
  const toggle = (label: string, isOn: boolean, show: (isShown: boolean) => void): ComponentChildren =>
    h(Toggle, { isOn, onClick: () => show(!isOn) }, label);
  return [
    !yaml &&
      h(
        Notice,
        { tone: 'info' },
        `This is the JSON of the list. The YAML could not be loaded: ${error?.message}`,
      ),
    h('div', { class: 'row' }, [
      yaml && toggle('Managed fields', managedFields, showManagedFields),
      isSecret && toggle('Secret values', secrets, showSecrets),
      h('span', { class: 'fill' }),
      h(CopyButton, { label: 'Copy', text }),
    ]),
    h(YamlText, { text, label: yaml ? 'YAML' : 'JSON' }),
  ];
}
