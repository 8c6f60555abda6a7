// A text field. Its text is applied with Enter or when the user leaves the field, and on request also in a pause of the
// typing. The field follows `text` when that changes elsewhere, for example with the back button.
import { type ComponentChildren, h, type InputHTMLAttributes } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

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
