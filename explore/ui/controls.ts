// The controls of the views: text fields, chips, facets, choices, and a button that copies.
import { type ComponentChildren, h, type InputHTMLAttributes, type TargetedEvent } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

/** A chip that is on or off. */
export function toggle(label: string, isOn: boolean, set: (isOn: boolean) => void): ComponentChildren {
  return h('button', { class: 'chip', 'aria-pressed': isOn, onClick: () => set(!isOn) }, label);
}

/** A choice between values with names. */
export function choice(
  label: string,
  value: string,
  options: Readonly<Record<string, string>>,
  choose: (value: string) => void,
): ComponentChildren {
  const onChange = (event: TargetedEvent<HTMLSelectElement>): void => choose(event.currentTarget.value);
  const items = Object.entries(options).map(([each, name]) => h('option', { key: each, value: each }, name));
  return h('select', { 'aria-label': label, value, onChange }, items);
}

export interface FacetProps {
  readonly title: string;
  readonly values: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly selected: readonly string[];
  readonly select: (values: readonly string[]) => void;
  /** What a chip shows of its value. */
  readonly content: (value: string) => ComponentChildren;
  readonly children?: ComponentChildren;
}

/** Chips that are always shown; the others are shown on request. */
const FEW = 8;

/** The values of a facet as chips with their counts. A pressed chip filters. */
export function Facet(props: FacetProps): ComponentChildren {
  const { title, values, counts, selected, select, content, children } = props;
  const chips = values.map((value) => {
    const isOn = selected.includes(value);
    const onClick = (): void =>
      select(isOn ? selected.filter((each) => each !== value) : [...selected, value]);
    return h('button', { key: value, class: 'chip', 'aria-pressed': isOn, title: value, onClick }, [
      content(value),
      h('span', { class: 'muted small' }, Object.hasOwn(counts, value) && counts[value]?.toLocaleString()),
    ]);
  });
  return h('div', { class: 'row facet', role: 'group', 'aria-label': title }, [
    h('span', { class: 'muted small' }, title),
    children,
    chips.slice(0, FEW),
    chips.length > FEW &&
      h('details', {}, [h('summary', {}, `${chips.length - FEW} more`), chips.slice(FEW)]),
  ]);
}

export interface CopyButtonProps {
  readonly label: string;
  readonly title?: string;
  readonly text: string;
}

/** A button that copies a text, and says whether the browser has allowed it. */
export function CopyButton({ label, title, text }: CopyButtonProps): ComponentChildren {
  const [result, setResult] = useState<string>();
  useEffect(() => setResult(undefined), [text]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setResult('Copied'),
      () => setResult('The browser does not allow it'),
    );
  };
  return h('button', { type: 'button', title, 'aria-live': 'polite', onClick: copy }, result ?? label);
}

export interface TextFieldProps extends Omit<InputHTMLAttributes, 'onInput' | 'onChange' | 'list' | 'value'> {
  /** Shown above the field. */
  readonly label?: string;
  readonly text: string;
  readonly apply: (text: string) => void;
  /** Time without a key in ms after which the text is applied. */
  readonly delayMs?: number;
  /** Texts to choose from. */
  readonly offered?: readonly string[];
}

/**
 * A text field. Its text is applied with Enter or when the user leaves the field, and on request also in a pause of the
 * typing. The field follows `text` when that changes elsewhere, for example with the back button.
 */
export function TextField(props: TextFieldProps): ComponentChildren {
  const { label, text, apply, delayMs, offered, ...attributes } = props;
  const list = useId();
  const ref = useRef<HTMLInputElement>(null);
  const applied = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Other filters can change before the text is applied.
  const latest = useRef(apply);
  latest.current = apply;
  useEffect(() => {
    // The user can type on while the text is applied.
    if (ref.current && applied.current !== text) ref.current.value = text;
    applied.current = text;
  }, [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const applyText = (): void => {
    clearTimeout(timer.current);
    const value = ref.current?.value ?? '';
    if (value === applied.current) return;
    applied.current = value;
    latest.current(value);
  };
  const onInput = (): void => {
    clearTimeout(timer.current);
    if (delayMs !== undefined) timer.current = setTimeout(applyText, delayMs);
  };
  const input = h('input', {
    ref,
    type: 'text',
    defaultValue: text,
    autocomplete: 'off',
    spellcheck: false,
    ...(offered && { list }),
    ...attributes,
    onInput,
    onChange: applyText,
  });
  const options = offered?.map((value) => h('option', { key: value, value }));
  const field = [input, options && h('datalist', { id: list }, options)];
  if (label === undefined) return field;
  return h('label', { class: 'field' }, [h('span', { class: 'muted small' }, label), field]);
}
